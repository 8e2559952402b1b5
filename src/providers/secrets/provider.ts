/** The namespace `Secrets`: vaults and their secrets. Values are sealed and only resolved for other namespaces. */

import type { Ids, Seal } from '#kernel/ports.ts'
import { nameAvailability } from '#plane/declare/name-availability.ts'
import { defineProvider, type Provider } from '#plane/declare/provider.ts'
import { defaultSecretLimits, type SecretLimits } from './domain/limits.ts'
import { secretDataActions } from './domain/secret-store.ts'
import { vaultType } from './domain/secret-uri.ts'
import { secretErrors } from './errors.ts'
import { vaultSecrets } from './resources/vault-secrets/resource.ts'
import { vaultName, vaults } from './resources/vaults/resource.ts'

interface SecretsDependencies {
  /** The seal of `openSecretStore`. */
  readonly seal: Seal
  readonly ids: Ids
  readonly limits?: Partial<SecretLimits>
}

export function secretsProvider({ seal, ids, limits }: SecretsDependencies): Provider {
  return defineProvider({
    namespace: 'Secrets',
    description: 'Secrets that other resources refer to and nobody reads back.',
    errors: secretErrors.entries,
    dataActions: secretDataActions,
    types: [
      vaults(),
      vaultSecrets({ seal, ids, limits: { ...defaultSecretLimits, ...limits } }),
      nameAvailability({
        type: 'Secrets/checkNameAvailability',
        apiVersions: ['2026-01-01'],
        name: vaultName,
        uniqueAmong: vaultType,
        reasons: { invalid: 'AccountNameInvalid', taken: 'AlreadyExists' },
      }),
    ],
  })
}
