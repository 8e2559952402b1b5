/** Turns before a connection: whoever waits for one holds none that others could use. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Leave } from '#kernel/room.ts'
import { behalfOf, ownerAt } from '../awaited.ts'
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

test('callers who are not known yet have a third of the connections together, however many they are', async () => {
  const turns = new Turns(9)
  const leaves: Leave[] = []
  let entered = 0
  const enter = (owner: string, ask: () => Leave | Promise<Leave> | undefined): void => {
    void behalfOf(owner).run(async () => {
      const leave = await ask()
      assert.ok(leave !== undefined)
      leaves.push(leave)
      entered++
    })
  }
  for (let at = 0; at < 10; at++) {
    enter(ownerAt(`192.0.2.${at}`), () => (at % 2 === 0 ? turns.write() : turns.read()))
  }
  await turn()
  assert.equal(entered, 3)
  for (const ask of [() => turns.write(), () => turns.read()]) enter('known', ask)
  await turn()
  assert.equal(entered, 5)
  for (let at = 0; at < 10; at++) {
    leaves.pop()?.()
    await turn()
  }
  assert.equal(entered, 12)
})
