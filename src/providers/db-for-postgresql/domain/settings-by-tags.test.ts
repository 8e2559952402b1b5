/** Settings of a migration that its tags give. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changedSettings, settingsBy, tagProblems } from './settings-by-tags.ts'

const installed = {
  fence: 'stay',
  verify: 'counts',
  atOnceMax: 8,
  tablesAtOnce: 4,
  databasesAtOnce: 2,
} as const

test('tags say how one migration is done, the settings of the installation the rest', () => {
  assert.deepEqual(settingsBy(undefined, installed), installed)
  const tags = { 'Migration-Verify': 'checksums', 'migration-databases-at-once': '16', owner: 'x' }
  assert.deepEqual(settingsBy(tags, installed), {
    ...installed,
    verify: 'checksums',
    databasesAtOnce: 16,
  })
  assert.deepEqual(tagProblems(tags), [])
})

test('what is out of bounds is refused with its path, and never taken', () => {
  const tags = { 'migration-fence': 'perhaps', 'migration-tables-at-once': '17' }
  assert.deepEqual(tagProblems(tags), [
    { path: 'tags.migration-fence', message: 'expected none, cutover, stay' },
    { path: 'tags.migration-tables-at-once', message: 'expected a whole number from 1 to 16' },
  ])
  assert.deepEqual(settingsBy(tags, installed), installed)
})

test('another tag, or another case of a name, changes nothing', () => {
  const before = { 'migration-fence': 'none', owner: 'x' }
  assert.deepEqual(changedSettings(before, { 'MIGRATION-FENCE': 'none' }), [])
  assert.deepEqual(changedSettings(before, {}), ['migration-fence'])
})
