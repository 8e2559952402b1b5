/** Secrets are taken out of everything that is shown, however many there are. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { redact, redactText } from './redact.ts'

test('the longest secret goes first, in texts at any depth and in numbers', () => {
  const value = { a: ['abc-ab', 7, 8], b: { c: 'none' } }
  assert.deepEqual(redact(value, ['ab', 'abc', '7']), {
    a: ['*****-*****', '*****', 8],
    b: { c: 'none' },
  })
})

test('of very many secrets none is looked for by itself: every text is masked', () => {
  const secrets = Array.from({ length: 5_000 }, (_, at) => `s${at}`)
  assert.deepEqual(redact({ a: ['x', 1, true, null] }, secrets), {
    a: ['*****', '*****', true, null],
  })
  assert.equal(redactText('x', secrets), '*****')
})
