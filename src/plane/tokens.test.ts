/** Continuation tokens: their content is hidden, and they are valid only where they came from. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { packToken, unpackToken } from './tokens.ts'

const key = new Uint8Array(32).fill(1)
const other = new Uint8Array(32).fill(2)
const cursor = '/subscriptions/a/resourcegroups/m2-hidden-project-phoenix'

test('a token tells nothing of its cursor and opens for its purpose', () => {
  const token = packToken([key, other], '/list?a', cursor)
  assert.doesNotMatch(Buffer.from(token, 'base64url').toString('latin1'), /hidden|resourcegroups/)
  assert.equal(unpackToken([other, key], '/list?a', token), cursor)
  assert.equal(packToken([key], '/list?a', cursor), token)
  assert.notEqual(packToken([key], '/list?b', cursor), token)
})

test('a token that was changed, carried elsewhere or made up is none', () => {
  const token = packToken([key], '/list?a', cursor)
  assert.equal(unpackToken([key], '/list?b', token), undefined)
  assert.equal(unpackToken([other], '/list?a', token), undefined)
  for (let at = 0; at < token.length - 1; at++) {
    const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1)
    assert.equal(unpackToken([key], '/list?a', changed), undefined, `${at}`)
  }
  for (const made of ['', 'A', token.slice(0, 20), `${token}.`, 'A'.repeat(9000)]) {
    assert.equal(unpackToken([key], '/list?a', made), undefined, made.slice(0, 40))
  }
})
