/** How much of large resources background work has in memory. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupKey } from '#kernel/resource-id.ts'
import { scriptedProvider } from '../testing/scripted-provider.ts'
import { group, startPlane } from '../testing/start.ts'
import { LargeWork } from './large-work.ts'

const megabyte = 1024 * 1024

test('a group has room for some megabytes, all groups for more, and one row is never too large', () => {
  const work = new LargeWork()
  const first = work.enter('a', 4 * megabyte)
  assert.ok(work.enter('a', 4 * megabyte))
  assert.equal(work.enter('a', megabyte), undefined)
  assert.ok(work.enter('a', 1000), 'small ones are not counted')
  first?.()
  assert.ok(work.enter('a', megabyte))
  assert.ok(work.enter('b', 20 * megabyte), 'the only one of its group')
  assert.equal(work.enter('c', 8 * megabyte), undefined)
})

test('groups of one subscription leave room to those of others', () => {
  const work = new LargeWork()
  const groups = (of: string) =>
    ['a', 'b', 'c'].map((name) => work.enter(`/subscriptions/${of}/resourcegroups/${name}`, 8e6))
  assert.deepEqual(
    groups('one').map((leave) => leave !== undefined),
    [true, true, false],
  )
  const [first] = groups('two')
  assert.ok(first)
  assert.equal(work.enter('/subscriptions/three/resourcegroups/a', 8e6), undefined)
  first()
  assert.ok(work.enter('/subscriptions/three/resourcegroups/a', 8e6))
})

test('a management group has room of its own, and all of them leave room to subscriptions', () => {
  const work = new LargeWork()
  const enter = (name: string) =>
    work.enter(
      groupKey(`/providers/vendor.management/managementgroups/${name}/providers/v/d/one`),
      8e6,
    )
  assert.deepEqual(
    ['a', 'a', 'b', 'c'].map((name) => enter(name) !== undefined),
    [true, false, true, false],
  )
  assert.ok(work.enter('/subscriptions/one/resourcegroups/a', 8e6))
})

/** How many of some resources that hold such a value are worked on at once. */
async function mostAtOnce(observed: unknown, names: readonly string[]): Promise<number> {
  let [underway, most] = [0, 0]
  const looked = new Set<string>()
  await using t = await startPlane({
    providers: [
      scriptedProvider({
        async observe({ id, last }) {
          if (last === undefined || last === null) return observed
          underway++
          most = Math.max(most, underway)
          // What was given back is looked at again while these are under way.
          t.clock.advance(3)
          t.plane.reconciler.wake()
          await new Promise((resolve) => setTimeout(resolve, 20))
          underway--
          looked.add(id.key)
          return observed
        },
        next: () => ({ kind: 'done' }),
      }),
    ],
  })
  const put = (name: string, open: boolean) =>
    t.call('PUT', `${group}/providers/Vendor.Scripted/valves/${name}`, { properties: { open } })
  for (const name of names) await put(name, true)
  await t.plane.reconciler.idle()
  await Promise.all(names.map((name) => put(name, false)))
  for (let round = 0; round < names.length; round++) {
    await t.plane.reconciler.idle()
    t.clock.advance(3)
    t.plane.reconciler.wake()
  }
  await t.plane.reconciler.idle()
  assert.equal(looked.size, names.length)
  return most
}

test('of large resources of one group two are worked on at once, and all have their turn', async () => {
  assert.equal(await mostAtOnce('x'.repeat(3 * megabyte), ['a', 'b', 'c', 'd', 'e']), 2)
})

test('short ones of many objects count as what those take in memory', async () => {
  const names = Array.from({ length: 12 }, (_, at) => `n${at}`)
  const most = await mostAtOnce(
    Array.from({ length: 49_000 }, () => ({})),
    names,
  )
  assert.ok(most <= 6, `${most} at once`)
})
