/** The matrix of the edge in its README is the one that runs. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { matrix } from '#http/pipeline.ts'

test('src/http/README.md draws the matrix of pipeline.ts', () => {
  const page = readFileSync(join(import.meta.dirname, '../../src/http/README.md'), 'utf8')
  const table = page.slice(page.indexOf('| step '), page.indexOf('\n\n', page.indexOf('| step ')))
  const [heads = [], , ...rows] = table.split('\n').map((line) =>
    line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1),
  )
  const kinds = heads.slice(1, -1)
  assert.deepEqual(
    rows.map((cells) => kinds.filter((_, at) => cells[at + 1] === '●').toSorted()),
    matrix.map((row) => [...row.kinds].toSorted()),
  )
  assert.deepEqual(
    rows.slice(0, -1).map((cells) => cells.at(-1)),
    matrix.slice(0, -1).map(({ refuses }) => refuses.join(' ')),
  )
})
