import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFreshness } from './freshness.ts'

/** A feed whose polls the test answers. */
function setUp() {
  const looks: ((position: number) => void)[] = []
  const steps: [from: number | undefined, to: number][] = []
  const freshness = createFreshness(
    { position: () => new Promise<number>((resolve) => looks.push(resolve)) },
    (from, to) => {
      steps.push([from, to])
      return Promise.resolve(to)
    },
  )
  return { freshness, looks, steps }
}

/** Lets everything that is ready run. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
}

test('a synchronous feed that did not move costs no promise', async () => {
  let position = 3
  let steps = 0
  const freshness = createFreshness({ position: () => position }, (_from, to) => {
    steps += 1
    return Promise.resolve(to)
  })
  await freshness.ensure()
  assert.equal(freshness.ensure(), undefined)
  position = 4
  const both = [freshness.ensure(), freshness.ensure()]
  assert.ok(both.every((one) => one !== undefined))
  await Promise.all(both)
  assert.equal(freshness.ensure(), undefined)
  assert.equal(steps, 2, 'callers at the same time share one catching up')
})

test('whoever comes after a look began is answered by a later one, and the copy never goes back', async () => {
  const { freshness, looks, steps } = setUp()
  const done: string[] = []
  const wait = (name: string): void => {
    void freshness.ensure()?.then(() => done.push(name))
  }
  wait('first')
  wait('second')
  wait('third')
  assert.equal(looks.length, 3)
  looks[0]?.(1)
  await settle()
  assert.deepEqual(done, ['first'])
  looks[2]?.(5)
  await settle()
  assert.deepEqual(done, ['first', 'third'])
  looks[1]?.(3)
  await settle()
  assert.deepEqual(done, ['first', 'third', 'second'])
  assert.equal(freshness.position, 5)
  assert.deepEqual(steps, [
    [undefined, 1],
    [1, 5],
  ])
})

test('a failing look or catching up reaches its callers, and the next call tries again', async () => {
  let fail: 'look' | 'step' | undefined = 'look'
  const freshness = createFreshness(
    {
      position: () => (fail === 'look' ? Promise.reject(new Error('look')) : Promise.resolve(1)),
    },
    (_from, to) => (fail === 'step' ? Promise.reject(new Error('step')) : Promise.resolve(to)),
  )
  await assert.rejects(async () => freshness.ensure(), /look/)
  fail = 'step'
  await assert.rejects(async () => freshness.ensure(), /step/)
  assert.equal(freshness.position, undefined)
  fail = undefined
  await freshness.ensure()
  assert.equal(freshness.position, 1)
  await freshness.settled()
})

test('all is copied again from another server, also while a step is under way', async () => {
  const feed = { position: () => Promise.resolve(position), server: 'one' }
  let position = 9
  const steps: (number | undefined)[] = []
  const held = Promise.withResolvers<void>()
  const freshness = createFreshness(feed, async (from, to) => {
    steps.push(from)
    if (steps.length === 2) await held.promise
    return to
  })
  await freshness.ensure()
  position = 12
  const earlier = freshness.ensure()
  await settle()
  // It lost the last changes, and has others at their positions.
  Object.assign(feed, { server: 'another' })
  position = 10
  const later = freshness.ensure()
  await settle()
  held.resolve()
  await Promise.all([earlier, later])
  assert.deepEqual(steps, [undefined, 9, undefined])
  assert.equal(freshness.position, 10)
})

test('another server between the position and the changes fails nobody', async () => {
  const feed = { position: () => Promise.resolve(position), server: 'one' }
  let position = 9
  const steps: (number | undefined)[] = []
  const freshness = createFreshness(feed, async (from, to) => {
    steps.push(from)
    if (from === undefined) return to
    // It lost what the position counts, and lists nothing.
    position = 8
    Object.assign(feed, { server: 'another' })
    throw new Error('the feed moved, but lists no change')
  })
  await freshness.ensure()
  position = 12
  await freshness.ensure()
  assert.deepEqual(steps, [undefined, 9, undefined])
  assert.equal(freshness.position, 8)
})
