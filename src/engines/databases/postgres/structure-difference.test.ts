/** What two versions say differently of the same structure is no difference. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { differencesOf, type Structure } from './structure-difference.ts'

const table = (major: number, privileges?: string): Structure => ({
  major,
  objects: [
    {
      kind: 'table',
      path: ['public', 'note'],
      facts: privileges === undefined ? {} : { privileges },
    },
  ],
})

const between = (source: Structure, target: Structure): readonly string[] =>
  differencesOf({
    source: { copied: source, now: source },
    target: { copied: target, now: target },
    owners: true,
    identities: new Set(),
    leavesCompression: false,
    silenced: new Map(),
    unsent: [],
  })

test('a privilege that the older version does not know is no difference, whoever has it', () => {
  // Programs of a version that knows it take away, of an owner's, what the source lacks.
  assert.deepEqual(between(table(15), table(18, 'owner: MAINTAIN')), [])
  assert.deepEqual(
    between(
      table(15, 'reader: SELECT, zoë: UPDATE'),
      table(18, 'owner: MAINTAIN with grant option, reader: MAINTAIN SELECT, zoë: MAINTAIN UPDATE'),
    ),
    [],
  )
  assert.deepEqual(between(table(15, 'reader: SELECT'), table(18, 'owner: MAINTAIN')), [
    'the table public.note differs: privileges reader: SELECT at the source, owner: MAINTAIN at the target',
  ])
  assert.equal(between(table(18), table(18, 'owner: MAINTAIN')).length, 1)
})

test('names are compared without their schemas, also where they are quoted', () => {
  const by = (major: number, options: string): Structure => ({
    major,
    objects: [{ kind: 'table', path: ['public', 'note'], facts: { options } }],
  })
  for (const [one, other] of [
    ['"a b"."c"', 'c'],
    ['f("x"".y"."g", \'z\')', "f(g, 'z')"],
    ['"a"', 'a'],
  ] as const) {
    assert.deepEqual(between(by(15, one), by(18, other)), [], one)
  }
  assert.equal(between(by(15, '"a b".c'), by(18, '"a b"c')).length, 1)
  // By the square of its length, this would take hours.
  const quotes = '"'.repeat(2 ** 20)
  assert.equal(between(by(15, quotes), by(18, `${quotes}x`)).length, 1)
})
