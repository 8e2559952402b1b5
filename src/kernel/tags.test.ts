/** Tags: each rule by a tag that breaks it, and the limits at their exact numbers. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultLimits } from './limits.ts'
import { tagProblems } from './tags.ts'

function codes(tags: unknown): readonly string[] {
  return tagProblems(tags, defaultLimits).map((problem) => `${problem.path} ${problem.code}`)
}

test('good tags have no problems', () => {
  const good: readonly unknown[] = [
    {},
    { cost: 'high', Department: '' },
    { ['n'.repeat(512)]: 'v'.repeat(256) },
    Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`t${at}`, 'x'])),
    { 'a b.c-d_e:f': '<any> %value& \\?/' },
  ]
  for (const tags of good) assert.deepEqual(codes(tags), [], JSON.stringify(tags).slice(0, 60))
})

test('every broken rule is a problem with its path', () => {
  const table: readonly (readonly [unknown, readonly string[]])[] = [
    [null, ['tags InvalidTagName']],
    ['x', ['tags InvalidTagName']],
    [['x'], ['tags InvalidTagName']],
    [{ a: 1 }, ['tags.a InvalidTagName']],
    [{ a: null }, ['tags.a InvalidTagName']],
    [{ '': 'x' }, ['tags. InvalidTagName']],
    [{ '  ': 'x' }, ['tags.   InvalidTagName']],
    [{ a: 'x', A: 'y' }, ['tags.A InvalidTagName']],
    [{ a: 'v'.repeat(257) }, ['tags.a InvalidTagName']],
    [{ ['n'.repeat(513)]: 'x' }, [`tags.${'n'.repeat(60)} InvalidTagName`]],
    ...['<', '>', '%', '&', '\\', '?', '/'].map((mark): readonly [unknown, readonly string[]] => [
      { [`a${mark}`]: 'x' },
      [`tags.a${mark} InvalidTagNameCharacters`],
    ]),
    [
      { 'hidden-link:/a?b': 'x', 'hidden-cost<$key_case_sensitive$>': 'x' },
      ['tags.hidden-cost<$key_case_sensitive$> InvalidTagNameCharacters'],
    ],
    [
      { 'a<': 1, b: [] },
      ['tags.a< InvalidTagNameCharacters', 'tags.a< InvalidTagName', 'tags.b InvalidTagName'],
    ],
  ]
  for (const [tags, want] of table) {
    assert.deepEqual(codes(tags), want, JSON.stringify(tags).slice(0, 60))
  }
  const many = Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`t${at}`, 'x']))
  assert.deepEqual(codes(many), ['tags InvalidTagName'])
})
