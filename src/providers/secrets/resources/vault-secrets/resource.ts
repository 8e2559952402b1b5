/**
 * Secrets of a vault. No answer contains a value; other parts of the installation resolve them for callers with
 * `getValue`.
 */

import Type from 'typebox'
import type { Action } from '#plane/declare/action.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { defineStored } from '#plane/declare/stored.ts'
import { secretType } from '../../domain/secret-uri.ts'
import { secretErrors } from '../../errors.ts'
import { openValue, type VaultSecret } from './model.ts'
import { type SecretDependencies, v2026_01_01 } from './versions/2026-01-01.ts'

const hush = 'hush-value'

export function vaultSecrets(deps: SecretDependencies): ResourceType {
  return defineStored<VaultSecret>({
    type: secretType,
    description: 'A value that is written, referred to, and never shown.',
    scope: 'resource-group',
    name: { pattern: /^[a-zA-Z0-9-]{1,127}$/, rule: '1 to 127 letters, digits and hyphens' },
    movable: true,
    versions: [v2026_01_01(deps)],
    secrets: 'sent-nowhere',
    prepare: async ({ id }, body: object) => ({ ...body, place: id.key }),
    rules: ({ desired }) =>
      desired.versions.length > 0
        ? []
        : [
            {
              code: 'SecretValueRequired',
              path: 'properties.value',
              message: secretErrors.entries.SecretValueRequired.message,
            },
          ],
    actions: { verify: verify(deps) },
    sample: {
      name: (seed) => `secret-${seed}`,
      body: () => ({ properties: { value: hush } }),
      changed: () => ({ properties: { value: `${hush}-2`, contentType: 'text/plain' } }),
      secrets: [hush],
    },
  })
}

/** It needs the same permission as a reference to the secret: who may verify a value may use it. */
function verify({ seal }: SecretDependencies): Action<VaultSecret> {
  return {
    method: 'POST',
    description: 'Whether the value can be opened with the key of this installation.',
    permission: 'getValue/action',
    countsAsRead: true,
    answer: Type.Object({ readable: Type.Boolean(), version: Type.String() }),
    async run({ resource }) {
      const newest = resource?.model.versions[0]
      const readable =
        resource !== undefined &&
        newest !== undefined &&
        openValue(seal, resource.model.place, newest) !== undefined
      return { status: 200, body: { readable, version: newest?.version ?? '' } }
    },
  }
}
