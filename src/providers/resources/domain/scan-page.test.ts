/** Pages of a long range, of which only some is shown. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { acceptedOf } from '#plane/next-turn.ts'
import { turnsOf, useUpTurns } from '../../../../tests/turns.ts'
import { scanPage } from './scan-page.ts'

const rows = Array.from({ length: 200 }, (_, at) => String(at))

test('others have their turns between rows on which it takes long to decide', async (t) => {
  const scan = {
    read: async () => ({ rows }),
    keyOf: (row: string) => row,
    accepts: (row: string) => row.endsWith('7'),
    limit: 100,
    cursor: undefined,
    scanRowsMax: 1_000,
  }
  useUpTurns(t)
  const page = await turnsOf(() => scanPage(scan))
  assert.equal(page.result.items.length, 20)
  assert.ok(page.turns > 100, `${page.turns} turns`)
  const some = await turnsOf(() => acceptedOf(rows, scan.accepts))
  assert.deepEqual(some.result, page.result.items)
  assert.ok(some.turns > 100, `${some.turns} turns`)
})
