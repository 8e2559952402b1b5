/** How much of the runs that wait is kept in memory. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type OpenRun, OpenRuns, waitSecondsOf } from './open-runs.ts'

const megabyte = 1024 * 1024

/** A run whose work is to be there. */
function runsOf(characters: number, held = 0) {
  const opened: string[] = []
  const closed: string[] = []
  const runs = new OpenRuns<OpenRun>()
  const open = async (key: string) => {
    opened.push(key)
    const close = () => void closed.push(key)
    return { run: { id: key, close }, characters, held }
  }
  const use = (key: string, work: () => Promise<void> = async () => {}) =>
    runs.use(key, key, () => open(key), work)
  return { runs, use, opened, closed }
}

test('small runs stay open, and one that has ended is closed', async () => {
  const { runs, use, opened, closed } = runsOf(1000)
  for (const key of ['a', 'b', 'a']) await use(key)
  assert.deepEqual(opened, ['a', 'b'])
  runs.end('a')
  assert.deepEqual(closed, ['a'])
  assert.equal(runs.charactersOf('a'), 0)
})

test('of large runs those that were used last stay open, and the others are opened again', async () => {
  const { runs, use, opened, closed } = runsOf(4 * megabyte)
  for (let at = 0; at < 8; at++) await use(`r${at}`)
  assert.deepEqual(closed, [])
  await use('r0')
  await use('more')
  assert.deepEqual(closed, ['r1'])
  assert.equal(runs.charactersOf('r1'), 4 * megabyte)
  await use('r1')
  assert.equal(opened.filter((key) => key === 'r1').length, 2)
})

test('a short template that makes a large plan counts as much as that', async () => {
  const { runs, use, closed } = runsOf(1000, 20 * megabyte)
  for (const key of ['a', 'b']) await use(key)
  assert.deepEqual(closed, ['a'])
  // What is read for each look is as short as ever.
  assert.equal(runs.charactersOf('b'), 1000)
})

test('one that is not as it was recorded here is opened again', async () => {
  const { runs, use, opened, closed } = runsOf(1000)
  await use('a')
  runs.record('a', 'here')
  runs.closeUnless('a', 'a', 'here')
  await use('a')
  assert.deepEqual([opened, closed], [['a'], []])
  runs.closeUnless('a', 'a', 'elsewhere')
  await use('a')
  assert.deepEqual([opened, closed], [['a', 'a'], ['a']])
})

test('one that was closed for others, and opened again, is as it was recorded here', async () => {
  const { runs, use, closed } = runsOf(20 * megabyte)
  await use('a')
  runs.record('a', 'here')
  await use('b')
  await use('a')
  assert.deepEqual(closed, ['a', 'b'])
  runs.closeUnless('a', 'a', 'here')
  assert.deepEqual(closed, ['a', 'b'])
})

test('none that is worked on is closed', async () => {
  const { use, closed } = runsOf(20 * megabyte)
  await use('first', async () => {
    await use('second')
    assert.deepEqual(closed, ['second'])
  })
})

test('the larger one is, the longer is waited without news', () => {
  assert.equal(waitSecondsOf(1000), 2)
  assert.ok(waitSecondsOf(4 * megabyte) >= 60)
})
