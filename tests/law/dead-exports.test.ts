/**
 * Every export of a file is imported by another file. `dead-exports.json` lists the exceptions, and may only
 * shrink: a name that is no longer dead must be removed, and none may be added.
 */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { deadExports, exportsOf } from './dead-exports.ts'
import { resolveImport } from './import-law.ts'
import { sourceFiles } from './source.ts'

const files = ['src', 'tests', 'tools', 'bench'].flatMap((folder) => sourceFiles(folder))
const remaining = JSON.parse(
  readFileSync(join(import.meta.dirname, 'dead-exports.json'), 'utf8'),
) as readonly string[]

describe('exports', () => {
  const dead = deadExports(files, resolveImport)

  test('somebody imports every one', () => {
    const fresh = dead.filter(({ name }) => !remaining.includes(name))
    assert.deepEqual(
      fresh.map(({ path, name }) => `${path}: ${name}`),
      [],
      'drop the word `export`; what is then unused can go',
    )
  })

  test('the list of those still to be cut only shrinks', () => {
    const names = new Set(dead.map(({ name }) => name))
    assert.deepEqual(
      remaining.filter((name) => !names.has(name)),
      [],
      'these are no longer dead: take them off dead-exports.json',
    )
  })

  test('known-bad examples are caught', () => {
    const file = (path: string, text: string) => ({ path, text, isTest: false })
    const found = deadExports(
      [
        file('src/a.ts', 'export const used = 1\nexport const dead = used\nexport type Gone = 1\n'),
        file('src/b.ts', "import { used } from './a.ts'\nexport interface Lonely { used: 1 }\n"),
        file('src/cli/commands/x.ts', 'export const command = {}\nexport const other = 1\n'),
      ],
      resolveImport,
    )
    assert.deepEqual(
      found.map(({ name }) => name),
      ['dead', 'Gone', 'Lonely', 'other'],
    )
    assert.deepEqual(exportsOf('export async function* a() {}\nexport { b, c as d }\n'), [
      'a',
      'b',
      'd',
    ])
  })
})
