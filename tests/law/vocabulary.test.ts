/** The words of the glossary's column "not": no new name and no new title may use one, and their number may only shrink. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { sourceFiles } from './source.ts'
import {
  countTitleWords,
  countWords,
  lowered,
  vocabularyFaults,
  type WordCounts,
  wordsNotUsed,
} from './vocabulary.ts'

const words = wordsNotUsed(
  readFileSync(join(import.meta.dirname, '../../docs/internals/glossary.md'), 'utf8'),
)
const counted = (name: string): WordCounts =>
  JSON.parse(readFileSync(join(import.meta.dirname, name), 'utf8')) as WordCounts
const files = ['src', 'tests', 'tools', 'bench'].flatMap((folder) => sourceFiles(folder))

describe('the vocabulary', () => {
  test('no name takes up a word that the glossary puts aside', () => {
    const allowed = counted('vocabulary.json')
    assert.deepEqual(vocabularyFaults(countWords(files, words), allowed), [])
  })

  test('no title of a test takes up such a word', () => {
    const counts = countTitleWords(files, words)
    const allowed = counted('vocabulary-titles.json')
    assert.deepEqual(vocabularyFaults(counts, allowed, 'titles of tests'), [])
  })

  test('a title counts each word once, and nothing but a title counts', () => {
    const text = `test('told and told', () => told('told'))
      hazard(\n "it's told", run)
      t.test(\`\${kind} is told\`)
      // contest('told')`
    const counts = countTitleWords([{ path: 'a.test.ts', text, isTest: true }], ['told', 'world'])
    assert.deepEqual(counts, { told: 3, world: 0 })
  })

  test('a name counts once in a file, in any of its forms, and prose does not count', () => {
    const file = (path: string, text: string) => ({ path, text, isTest: false })
    const counts = countWords(
      [
        file('src/world.ts', 'const openWorld = 1; openWorld()'),
        file(
          'src/a.ts',
          "/* world */ const WORLD_MAX = 'world' // world\n`world`\nconst worldly = 1",
        ),
        file('src/b.ts', 'const told = 1'),
      ],
      ['world', 'told'],
    )
    assert.deepEqual(counts, { world: 3, told: 1 })
    assert.deepEqual(
      wordsNotUsed('| word | meaning | not |\n| a | `b` | `told` `world` |\n| c | d | |'),
      ['told', 'world'],
    )
  })

  test('a count that grows is caught, and so is one that could be lowered', () => {
    assert.match(vocabularyFaults({ told: 2 }, { told: 1 }).join(), /word of the glossary/)
    assert.match(vocabularyFaults({ told: 1 }, {}).join(), /word of the glossary/)
    assert.match(vocabularyFaults({ told: 1 }, { told: 2 }).join(), /lowers 2/)
    assert.match(vocabularyFaults({}, { told: 2 }).join(), /lowers 2/)
    assert.deepEqual(vocabularyFaults({ told: 1 }, { told: 1 }), [])
    assert.deepEqual(lowered({ told: 1, world: 5 }, { told: 2, world: 3 }), { told: 1, world: 3 })
  })
})
