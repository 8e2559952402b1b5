/** `systemData`: the creator stays, and the last writer changes. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stampSystemData } from './system-data.ts'

const created = Date.UTC(2026, 0, 2, 3, 4, 5)

test('the first stamp names its maker twice', () => {
  assert.deepEqual(stampSystemData(undefined, { id: 'ann', type: 'User' }, created), {
    createdAt: '2026-01-02T03:04:05.000Z',
    createdBy: 'ann',
    createdByType: 'User',
    lastModifiedAt: '2026-01-02T03:04:05.000Z',
    lastModifiedBy: 'ann',
    lastModifiedByType: 'User',
  })
})

test('later stamps move the second half only, and leave the earlier value as it was', () => {
  const first = Object.freeze(stampSystemData(undefined, { id: 'ann', type: 'User' }, created))
  const later = stampSystemData(first, { id: 'ci', type: 'ServicePrincipal' }, created + 1000)
  assert.deepEqual(later, {
    ...first,
    lastModifiedAt: '2026-01-02T03:04:06.000Z',
    lastModifiedBy: 'ci',
    lastModifiedByType: 'Application',
  })
})
