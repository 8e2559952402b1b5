/** Functions have at most 100 lines and four parameters. The list of exceptions may only shrink. */

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { countFunctions, loweredSizes, type SizeCounts, sizeFaults } from './function-size.ts'

const allowed = JSON.parse(
  readFileSync(join(import.meta.dirname, 'function-size.json'), 'utf8'),
) as SizeCounts

describe('the size of functions', () => {
  test('no function is longer, or takes more, than those still to be cut', () => {
    assert.deepEqual(sizeFaults(countFunctions(), allowed), [])
  })

  test('known-bad examples are caught', (t) => {
    // Outside of the tree, which other tests read meanwhile.
    const folder = mkdtempSync(join(tmpdir(), 'armature-law-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const long = `export function long(): void {\n${'  console.log(1)\n'.repeat(101)}}\n`
    const many = 'export const many = (a: 1, b: 1, c: 1, d: 1, e: 1) => [a, b, c, d, e]\n'
    const good = `export function good(a: 1): void {\n${'  console.log(a)\n'.repeat(90)}}\n`
    writeFileSync(join(folder, 'a.ts'), `${long}${many}${good}`)
    const path = join(folder, 'a.ts')
    assert.deepEqual(countFunctions(path), { [path]: { long: 1, parameters: 1 } })
  })

  test('a count that grows is caught, and so is one that could be lowered', () => {
    assert.match(sizeFaults({ a: { long: 2 } }, { a: { long: 1 } }).join(), /cut it/)
    assert.match(sizeFaults({ a: { parameters: 1 } }, {}).join(), /more than 4/)
    assert.match(sizeFaults({}, { a: { long: 1 } }).join(), /generate lowers 1/)
    assert.deepEqual(sizeFaults({ a: { long: 1 } }, { a: { long: 1 } }), [])
    assert.deepEqual(
      loweredSizes(
        { a: { long: 1, parameters: 3 }, c: { long: 1 } },
        { a: { long: 2 }, b: { long: 1 } },
      ),
      { a: { long: 1 } },
    )
  })
})
