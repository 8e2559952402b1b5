/** API versions: which texts are one, and their order. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../tests/property.ts'
import {
  apiVersionPattern,
  compareApiVersions,
  isApiVersion,
  nearestApiVersion,
} from './api-version.ts'

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

test('a version is of a day that there is', () => {
  for (const good of ['2024-02-29', '2026-12-31-preview']) assert.ok(isApiVersion(good), good)
  const bad = ['2019-13-45', '2023-02-29', '2024-00-10', '2024-04-31-preview', 'latest', '']
  for (const one of bad) assert.ok(!isApiVersion(one), one)
})

test('the nearest is the one in force on the day, or else the oldest', () => {
  const dates = ['2025-01-01', '2024-05-01', '2024-05-01-preview', '2022-04-01']
  for (const [asked, nearest] of [
    ['2099-01-01', '2025-01-01'],
    ['2025-01-01-preview', '2025-01-01'],
    ['2024-12-31', '2024-05-01'],
    ['2024-05-01-preview', '2024-05-01'],
    ['2024-04-30', '2022-04-01'],
    ['2015-07-01', '2022-04-01'],
  ] as const) {
    assert.equal(nearestApiVersion(dates, asked), nearest, asked)
  }
  assert.equal(nearestApiVersion([], '2024-01-01'), undefined)
})
