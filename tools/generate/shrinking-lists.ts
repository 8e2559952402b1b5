/** The lists of what is still to be mended, brought down to what is there. They never grow here. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { deadExports } from '../../tests/law/dead-exports.ts'
import { countFunctions, loweredSizes, type SizeCounts } from '../../tests/law/function-size.ts'
import { resolveImport } from '../../tests/law/import-law.ts'
import { sourceFiles } from '../../tests/law/source.ts'
import {
  countTitleWords,
  countWords,
  lowered,
  type WordCounts,
  wordsNotUsed,
} from '../../tests/law/vocabulary.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const write = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`

/** By path: the text. */
export function shrinkingLists(): ReadonlyMap<string, string> {
  const files = ['src', 'tests', 'tools', 'bench'].flatMap((folder) => sourceFiles(folder))
  const words = wordsNotUsed(read('docs/internals/glossary.md'))
  const counts = countWords(files, words)
  const dead = new Set(deadExports(files, resolveImport).map(({ name }) => name))
  const allowed = JSON.parse(read('tests/law/vocabulary.json')) as WordCounts
  const titles = JSON.parse(read('tests/law/vocabulary-titles.json')) as WordCounts
  const remaining = JSON.parse(read('tests/law/dead-exports.json')) as readonly string[]
  const sizes = JSON.parse(read('tests/law/function-size.json')) as SizeCounts
  return new Map([
    ['tests/law/function-size.json', write(loweredSizes(countFunctions(), sizes))],
    ['tests/law/vocabulary.json', write(lowered(counts, allowed))],
    ['tests/law/vocabulary-titles.json', write(lowered(countTitleWords(files, words), titles))],
    ['tests/law/dead-exports.json', write(remaining.filter((name) => dead.has(name)))],
  ])
}
