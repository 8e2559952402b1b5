/** All texts of the console stand in its catalogue: none stands in a component or a view. */

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const sources = join(import.meta.dirname, '..', '..', 'console', 'src')
/** Words between tags, and in what is shown or read aloud of an attribute or a column. */
const texts = [
  /(?<!=)>\s*([A-Z][a-z][^<>{}=;()]*)<\//g,
  /\b(?:title|label|aria-label|placeholder|hin[t]|text|lead)(?:=|: )(?:"|')([A-Z][^"']*)/g,
]

function textsIn(source: string): readonly string[] {
  return texts.flatMap((pattern) => [...source.matchAll(pattern)].map(([, text = '']) => text))
}

test('no text stands in a view', () => {
  assert.deepEqual(textsIn(`<Text>Nothing here</Text> title: 'Type', aria-label="Close it"`), [
    'Nothing here',
    'Type',
    'Close it',
  ])
  const found = readdirSync(sources, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.tsx'))
    .flatMap((path) =>
      textsIn(readFileSync(join(sources, path), 'utf8')).map((text) => `${path}: ${text}`),
    )
  assert.deepEqual(found, [])
})
