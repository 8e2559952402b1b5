/** Continuation tokens: their content is hidden, and they are valid only where they came from. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { packContinuationToken, unpackContinuationToken } from './continuation-tokens.ts'

const key = new Uint8Array(32).fill(1)
const other = new Uint8Array(32).fill(2)
const cursor = '/subscriptions/a/resourcegroups/m2-hidden-project-phoenix'

test('a token tells nothing of its cursor and opens for its purpose', () => {
  const token = packContinuationToken([key, other], '/list?a', cursor)
  assert.doesNotMatch(Buffer.from(token, 'base64url').toString('latin1'), /hidden|resourcegroups/)
  assert.equal(unpackContinuationToken([other, key], '/list?a', token), cursor)
  assert.equal(packContinuationToken([key], '/list?a', cursor), token)
  assert.notEqual(packContinuationToken([key], '/list?b', cursor), token)
})

test('a token that was changed, carried elsewhere or made up is none', () => {
  const token = packContinuationToken([key], '/list?a', cursor)
  assert.equal(unpackContinuationToken([key], '/list?b', token), undefined)
  assert.equal(unpackContinuationToken([other], '/list?a', token), undefined)
  for (let at = 0; at < token.length - 1; at++) {
    const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1)
    assert.equal(unpackContinuationToken([key], '/list?a', changed), undefined, `${at}`)
  }
  for (const made of ['', 'A', token.slice(0, 20), `${token}.`, 'A'.repeat(9000)]) {
    assert.equal(unpackContinuationToken([key], '/list?a', made), undefined, made.slice(0, 40))
  }
})
