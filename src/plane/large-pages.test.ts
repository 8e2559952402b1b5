/** Pages of large rows, one after the other: others have their turn between them. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import { group, startPlane } from './testing/start.ts'

/** What a widget has at least. */
const bare = JSON.parse('{"parts":[]}')

test('who reads page after page of large rows holds the loop for a few of them at the most', async () => {
  await using t = await startPlane()
  const note = 'x'.repeat(2_200_000)
  const count = 40
  for (let at = 10; at < 10 + count; at++) {
    const path = `${group}/providers/Vendor.Sample/widgets/w${at}`
    await t.call('PUT', path, { location: 'here', properties: { ...bare, note } })
  }
  await t.plane.reconciler.idle()
  let turns = 0
  let isDone = false
  const counting = (async () => {
    for (; !isDone; turns++) await endOfTurn()
  })()
  let pages = 0
  let after: string | undefined
  do {
    const under = { key: group.toLowerCase() } as never
    const query = { under, limit: 100, ...(after === undefined ? {} : { after }) }
    const page = await t.plane.services.listTracked(query)
    pages++
    after = page.next
  } while (after !== undefined)
  isDone = true
  await counting
  assert.ok(pages >= count, `${pages} pages`)
  assert.ok(turns > 3, `${turns} turns for ${pages} pages`)
})
