/** What the relational port does to texts and values before a driver sees them. */

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { assertCarried, assertReads, numberParameters } from './sql.ts'

const texts: readonly (readonly [text: string, numbered: string])[] = [
  ['select 1', 'select 1'],
  ['select ?', 'select $1'],
  ['a = ? and b in (?,?)', 'a = $1 and b in ($2,$3)'],
  ["a = '?' and b = ?", "a = '?' and b = $1"],
  ["a = 'it''s ?' and b = ?", "a = 'it''s ?' and b = $1"],
  ['"odd?name" = ?', '"odd?name" = $1'],
  ['"odd""?name" = ?', '"odd""?name" = $1'],
  ['a -- why?\n = ?', 'a -- why?\n = $1'],
  ['a /* why? */ = ?', 'a /* why? */ = $1'],
  ['a - ? / ?', 'a - $1 / $2'],
  ["a = ? and b = 'open ?", "a = $1 and b = 'open ?"],
  ['a = ? /* open ?', 'a = $1 /* open ?'],
  ['a = ? -- open ?', 'a = $1 -- open ?'],
  ['', ''],
]

for (const [text, numbered] of texts) {
  test(`numbers the parameters of ${JSON.stringify(text)}`, () => {
    assert.equal(numberParameters(text), numbered)
  })
}

test('parameters past nine are numbered in full', () => {
  const marks = Array.from({ length: 12 }, () => '?').join(',')
  assert.equal(numberParameters(marks), '$1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12')
})

test('only queries pass as reads', () => {
  for (const text of [
    'select 1',
    '  SELECT 1',
    '\nwith a as (select 1) select * from a',
    'values (1)',
  ]) {
    assertReads(text)
  }
  for (const text of ['delete from t', 'selection', 'begin', '']) {
    assert.throws(() => assertReads(text), /Only a query/)
  }
})

test('text with NUL is refused by its place', () => {
  assertCarried(['plain', 1, null, new Uint8Array([0])])
  assert.throws(() => assertCarried([1, 'a\0b']), /Parameter 2 holds a NUL/)
})
