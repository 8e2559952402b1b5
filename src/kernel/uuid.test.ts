/** The form of UUIDs, and growing waits. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backOff } from './back-off.ts'
import { hyphenate, isUuid } from './uuid.ts'

test('a UUID in either case, and nothing beside it', () => {
  const good = '0123abcd-0123-4567-89ab-0123456789ab'
  assert.ok(isUuid(good) && isUuid(good.toUpperCase()))
  for (const bad of ['', good.slice(1), `${good}0`, ` ${good}`, `${good}\n`, `{${good}}`]) {
    assert.ok(!isUuid(bad), JSON.stringify(bad))
  }
  assert.ok(!isUuid(good.replaceAll('-', '')))
  assert.ok(!isUuid(good.replace('a', 'g')))
  assert.equal(hyphenate(good.replaceAll('-', '')), good)
  assert.equal(hyphenate(`${good.replaceAll('-', '')}ffff`), good)
})

test('a wait doubles up to the most, however often', () => {
  const rule = { first: 3, most: 100 }
  assert.deepEqual(
    [0, 1, 2, 5, 6, 10_000].map((attempt) => backOff(rule, attempt)),
    [3, 6, 12, 96, 100, 100],
  )
})
