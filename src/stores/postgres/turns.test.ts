/** Turns before a connection: whoever waits for one holds none that others could use. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Leave } from '#kernel/room.ts'
import { behalfOf } from '../awaited.ts'
import { Turns } from './turns.ts'

test('writes of rows of others that wait hold no turn of those who have none', async () => {
  const turns = new Turns(8)
  const entered: string[] = []
  const leaves = new Map<string, Leave[]>()
  const enter = (owner: string, ask: () => Leave | Promise<Leave> | undefined): void => {
    void behalfOf(owner).run(async () => {
      const leave = await ask()
      assert.ok(leave !== undefined)
      leaves.set(owner, [...(leaves.get(owner) ?? []), leave])
      entered.push(owner)
    })
  }
  const first = ['a', 'a', 'a', 'a', 'b', 'c']
  for (const owner of first) enter(owner, () => turns.write())
  await turn()
  assert.deepEqual(entered, first)
  for (const owner of ['a', 'a', 'b', 'b', 'new', 'newer']) {
    enter(owner, () => turns.writeOf([owner, `rows of ${owner}`]))
  }
  await turn()
  leaves.get('c')?.pop()?.()
  await turn()
  leaves.get('b')?.pop()?.()
  await turn()
  assert.deepEqual(entered.slice(6), ['new', 'newer'])
  for (let at = 0; at < 20; at++) {
    for (const own of leaves.values()) own.pop()?.()
    await turn()
  }
  assert.equal(entered.length, 12)
})
