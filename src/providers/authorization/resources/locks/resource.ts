/** Locks: an extension at any scope below the root. `guard.ts` enforces them. */

import { parentOf } from '#kernel/resource-id.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { defineStored } from '#plane/declare/stored.ts'
import { lockType } from '../../domain/lock-guard.ts'
import type { Lock } from './model.ts'
import { v2016_09_01 } from './versions/2016-09-01.ts'

export function locks(): ResourceType {
  return defineStored<Lock>({
    type: lockType,
    description: 'What is kept from being changed or deleted, at a scope and everything below it.',
    scope: 'any',
    name: {
      pattern: /^[^<>%&:\\?/]{1,260}$/,
      rule: '1 to 260 characters, none of < > % & : \\ ? /',
    },
    versions: [v2016_09_01],
    compatibleVersions: ['2015-01-01', '2017-04-01', '2020-05-01'],
    verbs: ['get', 'list', 'put', 'delete'],
    rules: ({ id }) =>
      // A lock at the root would lock out whoever is to remove it.
      parentOf(id).segments.length === 0
        ? [{ path: '', message: 'a lock is made at a subscription or below, not at the root' }]
        : [],
    attributes: ({ level }) => ({ level }),
    sample: {
      name: (seed) => `sample-${seed}`,
      body: () => ({ properties: { level: 'CanNotDelete', notes: 'sample' } }),
      changed: () => ({ properties: { level: 'CanNotDelete', notes: 'sample, changed' } }),
    },
  })
}
