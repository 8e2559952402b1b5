/** The words of the glossary's column "not": no new name may use one, and their number may only shrink. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { sourceFiles } from './source.ts'
import {
  countWords,
  lowered,
  vocabularyFaults,
  type WordCounts,
  wordsNotUsed,
} from './vocabulary.ts'

const words = wordsNotUsed(
  readFileSync(join(import.meta.dirname, '../../docs/internals/glossary.md'), 'utf8'),
)
const allowed = JSON.parse(
  readFileSync(join(import.meta.dirname, 'vocabulary.json'), 'utf8'),
) as WordCounts

describe('the vocabulary', () => {
  test('no name takes up a word that the glossary puts aside', () => {
    const files = ['src', 'tests', 'tools', 'bench'].flatMap((folder) => sourceFiles(folder))
    assert.deepEqual(vocabularyFaults(countWords(files, words), allowed), [])
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
