/** Vaults: secrets that are granted together. Their names are unique, since references carry nothing else. */

import { nameOf } from '#kernel/resource-id.ts'
import { defineResource, type ResourceType } from '#plane/define.ts'
import { refuseSecret } from '../errors.ts'
import { vaultType } from '../secret-uri.ts'
import type { Vault } from './model.ts'
import { v2026_01_01 } from './versions/2026-01-01.ts'

export function vaults(): ResourceType {
  return defineResource<Vault>({
    type: vaultType,
    description: 'Secrets that are granted together.',
    scope: 'resource-group',
    tracked: true,
    location: 'optional',
    name: {
      pattern: /^[a-zA-Z](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$/,
      rule: '1 to 63 letters, digits and hyphens, a letter first, no hyphen last',
    },
    versions: [v2026_01_01],
    uniqueKey: (id) => `secrets-vault|${nameOf(id).toLowerCase()}`,
    uniqueRefusal: (id) => refuseSecret.VaultAlreadyExists({ name: nameOf(id) }),
    sample: {
      name: (seed) => `vault-${seed}`,
      body: () => ({ location: 'here', properties: {} }),
      changed: () => ({ location: 'here', properties: { description: 'changed' } }),
    },
  })
}
