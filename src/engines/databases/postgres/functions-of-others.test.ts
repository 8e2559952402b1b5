/** Which lines of a dump's list run a function of others: a source may have very many lines, and very many such functions. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linesThatRun } from './functions-of-others.ts'

const line = (number: number, entry: string): string => `${number}; 2606 ${number} ${entry} owner`

test('a line runs a function where its entry is named whole, names with blanks among them', async () => {
  const functions = [
    { what: 'f', entry: 'CHECK CONSTRAINT public a table checked ' },
    { what: 'g', entry: 'INDEX public i ' },
    { what: 'h', entry: null },
  ]
  const lines = [
    line(1, 'CHECK CONSTRAINT public a table checked'),
    line(2, 'CHECK CONSTRAINT public a table checked_too'),
    line(3, 'INDEX public i'),
    line(4, 'INDEX public i2'),
    line(5, 'TABLE public a'),
  ]
  assert.deepEqual([...(await linesThatRun(lines, functions))], [lines[0], lines[2]])
})

test('twenty thousand of each are compared without holding the loop', async () => {
  const count = 20_000
  const entries = Array.from({ length: count }, (_, at) => `CHECK CONSTRAINT public t c${at}`)
  const functions = entries.map((entry) => ({ what: entry, entry: `${entry} ` }))
  const lines = Array.from({ length: count }, (_, at) => line(at, `TYPE public t${at}`))
  let turns = 0
  const counting = setInterval(() => {
    turns++
  }, 0)
  const found = await linesThatRun([...lines, line(count, entries[7] ?? '')], functions)
  clearInterval(counting)
  assert.equal(found.size, 1)
  assert.ok(turns > 1, `${turns} turns`)
})

test('lines that are much longer than any entry, and hold little but blanks, cost little', async () => {
  const functions = [{ what: 'f', entry: 'CHECK CONSTRAINT public t checked ' }]
  const lines = Array.from({ length: 2_000 }, (_, at) =>
    line(at, `FUNCTION public f${' '.repeat(12_000)}x`),
  )
  const [checked] = [line(2_001, 'CHECK CONSTRAINT public t checked')]
  assert.deepEqual([...(await linesThatRun([...lines, checked], functions))], [checked])
})
