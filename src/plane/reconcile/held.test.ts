/** Writes of work that has lost its claim are not kept, and those of others beside them are. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseResourceId } from '#kernel/resource-id.ts'
import { LostClaim } from '#stores/tries.ts'
import { group, memoryStore, startPlane } from '../testing/start.ts'
import { transactOn } from '../transact-on.ts'
import { forNoClaim, heldNow, whileHeld } from './held.ts'

const type = { stored: undefined } as unknown as Parameters<typeof transactOn>[1]

test('of transactions that the store runs together, those of the lost claim alone are refused', async () => {
  await using store = await memoryStore()
  const write = () => transactOn({ store }, type, async () => 'kept')
  const lost = () => whileHeld(() => false, write)
  const outcomes = await Promise.allSettled([lost(), write(), lost(), write()])
  const kept = outcomes.map((one) => one.status === 'fulfilled')
  assert.deepEqual(kept, [false, true, false, true])
  for (const one of outcomes)
    if (one.status === 'rejected') assert.ok(one.reason instanceof LostClaim)
})

test('a scope is emptied by nobody whose claim is lost', async () => {
  await using started = await startPlane()
  const id = parseResourceId(group)
  assert.ok(id !== undefined)
  const empty = () => started.plane.services.emptyScope(id)
  await assert.rejects(
    whileHeld(() => false, empty),
    LostClaim,
  )
  assert.deepEqual(await whileHeld(() => true, empty), { removed: 0, remaining: 0 })
})

test('what a claim sets off for all has none', () => {
  whileHeld(
    () => false,
    () => {
      assert.throws(heldNow(), LostClaim)
      forNoClaim(() => heldNow()())
    },
  )
})
