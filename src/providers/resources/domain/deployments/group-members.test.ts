/** A group may have hundreds of thousands of resources, of which few are its members. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseResourceId } from '#kernel/resource-id.ts'
import { turnsOf, useUpTurns } from '../../../../../tests/turns.ts'
import { membersOf } from './group-members.ts'

test('others have turns while the members of a group are looked for', async (t) => {
  const group = parseResourceId('/subscriptions/s/resourceGroups/g')
  assert.ok(group !== undefined)
  const pages = 100
  let read = 0
  const members = membersOf(async () => {
    const next = ++read < pages ? { next: String(read) } : {}
    return { items: [], ...next }
  }, group)
  useUpTurns(t)
  const { turns, result } = await turnsOf(() => members.next())
  assert.deepEqual([result.done, read], [true, pages])
  assert.ok(turns >= pages / 2, `${turns} turns`)
})
