/** The matrix: its order, and what may not differ between its columns. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { matrix } from './pipeline.ts'

const names = matrix.map((row) => row.step.name)

test('the order of checks is that of facts 9.7', () => {
  assert.deepEqual(names, [
    'correlate',
    'authenticate',
    'locate',
    'throttle',
    'authorize',
    'readBody',
    'run',
  ])
})

test('up to locate, the columns of the plane are alike: which one it is, is not known before', () => {
  for (const row of matrix.slice(0, names.indexOf('locate') + 1)) {
    const marks = ['resource', 'collection', 'action', 'operation'] as const
    assert.deepEqual([...new Set(marks.map((kind) => row.kinds.has(kind)))], [true], row.step.name)
  }
})

test('no column reads a body without asking who calls and whether they may', () => {
  for (const kind of ['resource', 'collection', 'action', 'operation', 'directory'] as const) {
    const steps = matrix.filter((row) => row.kinds.has(kind)).map((row) => row.step.name)
    const at = (name: string): number => steps.indexOf(name)
    assert.ok(at('authenticate') >= 0 && at('authenticate') < at('authorize'), kind)
    assert.ok(at('authorize') < at('readBody'), kind)
  }
})

test('the table of the README has the cells of the matrix', () => {
  const text = readFileSync(new URL('README.md', import.meta.url), 'utf8')
  const table = text
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .map((cells) => cells.slice(1, -1))
  const [[, ...head] = [], , ...rows] = table
  const kinds = head.slice(0, -1)
  const told = rows.map(([step = '', ...cells]) => ({
    step: step.replace(/ \(.*/, '').replace(/ (.)/g, (_, letter: string) => letter.toUpperCase()),
    kinds: kinds.filter((_, at) => cells[at] === '●'),
  }))
  assert.deepEqual(
    told,
    matrix.map((row) => ({ step: row.step.name, kinds: [...row.kinds] })),
  )
})
