/** API versions: what looks like one, and which comes first. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { apiVersionPattern, compareApiVersions } from './api-version.ts'

test('a version is a date, with a stage or without', () => {
  for (const good of ['2022-04-01', '2022-04-01-preview', '2022-04-01-privatepreview']) {
    assert.match(good, apiVersionPattern)
  }
  const bad = ['', '2022', '2022-4-1', '2022-04-01-', '2022-04-01-final', '2022-04-01-Preview']
  for (const one of [...bad, ' 2022-04-01', '2022-04-01\n', '20220401', '2022-04-01preview']) {
    assert.doesNotMatch(one, apiVersionPattern)
  }
})

test('newest first, stable before a preview of the day', () => {
  const sorted = [
    '2025-01-01',
    '2025-01-01-rc',
    '2025-01-01-preview',
    '2024-12-31',
    '2024-12-31-preview',
    '2022-04-01',
  ]
  assert.deepEqual(sorted.toReversed().sort(compareApiVersions), sorted)
})

test('the order is total', () => {
  const version = fc
    .tuple(
      fc.constantFrom('2024-01-01', '2024-01-02', '2025-01-01'),
      fc.constantFrom('', '-preview', '-alpha', '-beta', '-rc', '-privatepreview'),
    )
    .map((parts) => parts.join(''))
  fc.assert(
    fc.property(version, version, version, (a, b, c) => {
      assert.equal(Math.sign(compareApiVersions(a, b)), -Math.sign(compareApiVersions(b, a)) + 0)
      assert.equal(compareApiVersions(a, b) === 0, a === b)
      if (compareApiVersions(a, b) < 0 && compareApiVersions(b, c) < 0) {
        assert.ok(compareApiVersions(a, c) < 0)
      }
    }),
  )
})
