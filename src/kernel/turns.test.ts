/** Work goes on while its turn has time left; the rest waits for later turns, in order. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTurns } from './turns.ts'

/** A loop with a clock: what is scheduled runs in the next turn, and what it leads to before the next of them. */
function loop() {
  let scheduled: (() => void)[] = []
  let now = 0
  const turns = createTurns({ schedule: (run) => scheduled.push(run), ticks: () => now })
  return {
    turns,
    pass(milliseconds: number) {
      now += milliseconds
    },
    async turn(): Promise<boolean> {
      const callbacks = scheduled
      scheduled = []
      for (const run of callbacks) {
        run()
        // A task that continued runs up to its next pause.
        for (let at = 0; at < 5; at++) await Promise.resolve()
      }
      return callbacks.length > 0
    },
  }
}

/** What is done in each turn by three that take so long for each of two slices. */
async function slices(milliseconds: number): Promise<readonly (readonly string[])[]> {
  const { turns, pass, turn } = loop()
  const done: string[] = []
  const work = async (name: string): Promise<void> => {
    for (let slice = 1; slice <= 2; slice++) {
      await turns.next()
      done.push(`${name}${slice}`)
      pass(milliseconds)
    }
  }
  const all = Promise.all([work('a'), work('b'), work('c')])
  const made: string[][] = []
  for (let before = 0; await turn(); before = done.length) made.push(done.slice(before))
  await all
  return made.filter((each) => each.length > 0)
}

test('where each takes long, each turn lets one go on, in the order they asked', async () => {
  assert.deepEqual(await slices(11), [['a1'], ['b1'], ['c1'], ['a2'], ['b2'], ['c2']])
})

test('as many go on in a turn as there is time for', async () => {
  assert.deepEqual(await slices(6), [
    ['a1', 'b1'],
    ['c1', 'a2'],
    ['b2', 'c2'],
  ])
  assert.deepEqual(await slices(1), [
    ['a1', 'b1', 'c1'],
    ['a2', 'b2', 'c2'],
  ])
})

test('whoever asks waits only when the turn is used up, behind those who wait already', async () => {
  const { turns, pass, turn } = loop()
  const done: string[] = []
  const ask = (name: string): void => {
    const wait = turns.free()
    if (wait === undefined) done.push(name)
    else
      void wait.then(() => {
        done.push(name)
        pass(11)
      })
  }
  for (const name of ['a', 'b']) ask(name)
  pass(11)
  for (const name of ['c', 'd']) ask(name)
  assert.deepEqual(done, ['a', 'b'])
  await turn()
  assert.deepEqual(done, ['a', 'b', 'c'])
  ask('e')
  await turn()
  assert.deepEqual(done, ['a', 'b', 'c', 'd'])
  while (await turn());
  assert.deepEqual(done, ['a', 'b', 'c', 'd', 'e'])
  assert.equal(turns.free(), undefined, 'an idle loop begins anew')
})

test('turns are short while each brings a connection', async () => {
  const { turns, pass, turn } = loop()
  const done: number[] = []
  for (let at = 0; at < 40; at++) {
    void turns.next(`o${at}`).then(() => {
      done.push(at)
      pass(0.6)
    })
  }
  for (let at = 0; at < 3; at++) {
    turns.connected()
    await turn()
  }
  assert.ok(done.length <= 6, `${done.length} in three turns`)
  const before = done.length
  for (let at = 0; at < 4; at++) await turn()
  assert.ok(done.length > before + 14, `${done.length - before} in four turns without connections`)
})

test('owners beyond a number wait in one line', async () => {
  const { turns, pass, turn } = loop()
  const done: string[] = []
  for (let at = 0; at < 256; at++) void turns.next(`o${at}`)
  for (const [owner, name] of [
    ['a', 'a1'],
    ['a', 'a2'],
    ['b', 'b1'],
  ] as const) {
    void turns.next(owner).then(() => {
      done.push(name)
      pass(11)
    })
  }
  while (await turn());
  assert.deepEqual(done, ['a1', 'a2', 'b1'])
})

test('whoever waits goes on, however many new owners come meanwhile', async () => {
  const { turns, pass, turn } = loop()
  const done: string[] = []
  const wait = (owner: string): void => {
    void turns.next(owner).then(() => {
      done.push(owner)
      pass(1)
      // Whoever went on is followed by somebody whom nobody knows.
      if (!done.includes('shared2') && done.length < 2_000) wait(`new${done.length}`)
    })
  }
  for (let at = 0; at < 256; at++) wait(`old${at}`)
  for (const owner of ['shared1', 'shared2']) wait(owner)
  while (await turn());
  assert.ok(done.includes('shared1'))
  const before = done.indexOf('shared2')
  assert.ok(before > 0 && before <= 4 * 258, `${before} went before`)
})

test('those who are not known have the first part of a turn, so turns are short where nobody else waits', async () => {
  const { turns, pass, turn } = loop()
  const done: string[] = []
  const wait = (name: string, waiting: Promise<void> | undefined): void => {
    void waiting?.then(() => {
      done.push(name)
      pass(1)
    })
  }
  assert.equal(turns.freeUnknown('x'), undefined)
  pass(3)
  assert.equal(turns.free('known'), undefined, 'the turn has time for others')
  for (let at = 0; at < 10; at++) wait('x', turns.freeUnknown('x'))
  const made: number[] = []
  for (let before = 0; await turn(); before = done.length) made.push(done.length - before)
  assert.ok(Math.max(...made) <= 4, `${made}`)
  assert.equal(done.length, 10)
  for (let at = 0; at < 10; at++) wait('x', turns.next('x'))
  for (let at = 0; at < 10; at++) wait('known', turns.next('known'))
  for (let before = 0; await turn(); before = done.length) made.push(done.length - before)
  assert.ok(Math.max(...made) > 8, `${made}`)
})

test('those who wait cost a turn that is used up a few looks at the clock, and a bounded number of calls', async () => {
  let looks = 0
  let scheduled: (() => void)[] = []
  const turns = createTurns({ schedule: (run) => scheduled.push(run), ticks: () => 11 * looks++ })
  for (let at = 0; at < 10_000; at++) void turns.next()
  looks = 0
  const callbacks = scheduled
  scheduled = []
  for (const run of callbacks) run()
  assert.ok(callbacks.length < 1_000, `${callbacks.length}`)
  assert.ok(looks < 5, `${looks}`)
})

test('whoever asks for little goes before the rest of those who ask for much', async () => {
  const { turns, pass, turn } = loop()
  const done: string[] = []
  const ask = (owner: string, name: string): void => {
    const go = (): void => {
      done.push(name)
      pass(11)
    }
    const wait = turns.free(owner)
    if (wait === undefined) go()
    else void wait.then(go)
  }
  for (const name of ['a1', 'a2', 'a3', 'a4']) ask('a', name)
  ask('b', 'b1')
  ask('c', 'c1')
  ask('b', 'b2')
  while (await turn());
  assert.deepEqual(done, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
})
