/** The precondition table of facts 9.3, cell by cell, and how headers name tags. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkPreconditions, formatEtag, matchesEtag, type Preconditions } from './etag.ts'

type Method = Parameters<typeof checkPreconditions>[0]
type Answer = 'go' | 'not-modified' | 'If-Match' | 'If-None-Match'

function answer(method: Method, sent: Preconditions, current: string | undefined): Answer {
  const verdict = checkPreconditions(method, sent, current)
  return verdict.kind === 'failed' ? verdict.header : verdict.kind
}

/** `absent` is left out where the table answers 404 or 204 before any precondition. */
const table: readonly {
  readonly method: Method
  readonly sent: Preconditions
  readonly absent?: Answer
  readonly equal: Answer
  readonly differs: Answer
}[] = [
  { method: 'PUT', sent: {}, absent: 'go', equal: 'go', differs: 'go' },
  {
    method: 'PUT',
    sent: { ifMatch: '"one"' },
    absent: 'If-Match',
    equal: 'go',
    differs: 'If-Match',
  },
  { method: 'PUT', sent: { ifMatch: '*' }, absent: 'If-Match', equal: 'go', differs: 'go' },
  {
    method: 'PUT',
    sent: { ifNoneMatch: '*' },
    absent: 'go',
    equal: 'If-None-Match',
    differs: 'If-None-Match',
  },
  {
    method: 'PUT',
    sent: { ifNoneMatch: '"one"' },
    absent: 'go',
    equal: 'If-None-Match',
    differs: 'go',
  },
  { method: 'PATCH', sent: { ifMatch: '"one"' }, equal: 'go', differs: 'If-Match' },
  { method: 'PATCH', sent: { ifMatch: '*' }, equal: 'go', differs: 'go' },
  { method: 'DELETE', sent: { ifMatch: '"one"' }, equal: 'go', differs: 'If-Match' },
  { method: 'DELETE', sent: {}, equal: 'go', differs: 'go' },
  { method: 'POST', sent: { ifMatch: '"one"' }, equal: 'go', differs: 'If-Match' },
  { method: 'GET', sent: { ifNoneMatch: '"one"' }, equal: 'not-modified', differs: 'go' },
  { method: 'GET', sent: { ifNoneMatch: '*' }, equal: 'not-modified', differs: 'not-modified' },
  { method: 'GET', sent: { ifMatch: '"one"' }, equal: 'go', differs: 'go' },
  // Both headers can never hold together: the current tag is either named or not.
  {
    method: 'PUT',
    sent: { ifMatch: '*', ifNoneMatch: '*' },
    absent: 'If-Match',
    equal: 'If-None-Match',
    differs: 'If-None-Match',
  },
  {
    method: 'PUT',
    sent: { ifMatch: '"one"', ifNoneMatch: '"two"' },
    absent: 'If-Match',
    equal: 'go',
    differs: 'If-Match',
  },
]

test('the precondition table', () => {
  for (const row of table) {
    const told = `${row.method} ${JSON.stringify(row.sent)}`
    if (row.absent !== undefined) {
      assert.equal(answer(row.method, row.sent, undefined), row.absent, `${told}, absent`)
    }
    assert.equal(answer(row.method, row.sent, 'one'), row.equal, `${told}, tag equal`)
    assert.equal(answer(row.method, row.sent, 'two'), row.differs, `${told}, tag differs`)
  }
})

test('a header names a tag in any of its forms', () => {
  const table: readonly (readonly [string, string | undefined, boolean])[] = [
    ['"one"', 'one', true],
    ['W/"one"', 'one', true],
    ['one', 'one', true],
    ['"two", "one"', 'one', true],
    ['"two" ,W/"one" ', 'one', true],
    ['"two","three"', 'one', false],
    ['*', 'one', true],
    ['*', undefined, false],
    ['"one"', undefined, false],
    ['"*"', 'one', false],
    ['"ONE"', 'one', false],
    ['', 'one', false],
    ['"', 'one', false],
    ['"one', 'one', false],
    ['"onetwo"', 'one', false],
  ]
  for (const [header, etag, want] of table) {
    assert.equal(matchesEtag(header, etag), want, `${header} on ${etag}`)
  }
  assert.equal(matchesEtag(formatEtag('x-1'), 'x-1'), true)
  assert.equal(formatEtag('x-1'), '"x-1"')
})
