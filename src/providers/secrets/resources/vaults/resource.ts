/** Vaults: secrets that are granted together. Their names are unique, since references contain nothing else. */

import { nameOf } from '#kernel/resource-id.ts'
import { tooManyNames } from '#plane/declare/names-in-use.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { defineStored } from '#plane/declare/stored.ts'
import { vaultType } from '../../domain/secret-uri.ts'
import { refuseSecret } from '../../errors.ts'
import type { Vault } from './model.ts'
import { v2026_01_01 } from './versions/2026-01-01.ts'

export const vaultName = {
  pattern: /^[a-zA-Z](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$/,
  rule: '1 to 63 letters, digits and hyphens, a letter first, no hyphen last',
}

export function vaults(): ResourceType {
  return defineStored<Vault>({
    type: vaultType,
    description: 'Secrets that are granted together.',
    scope: 'resource-group',
    tracked: { location: 'optional' },
    name: vaultName,
    movable: true,
    rules: (context) => tooManyNames(context, vaultType),
    versions: [v2026_01_01],
    unique: {
      key: (id) => `secrets-vault|${nameOf(id).toLowerCase()}`,
      refuse: (id) => refuseSecret.VaultAlreadyExists({ name: nameOf(id) }),
    },
    sample: {
      name: (seed) => `vault-${seed}`,
      body: () => ({ location: 'here', properties: {} }),
      changed: () => ({ location: 'here', properties: { description: 'changed' } }),
    },
  })
}
