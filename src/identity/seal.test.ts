/** What is sealed opens only unchanged, with the same key and in the same context. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSeal } from './seal.ts'

const seal = createSeal(Buffer.alloc(32, 1))

test('it opens with the same key and context, and nothing else', () => {
  const sealed = seal.seal('secret text é', 'kind 1')
  assert.ok(!sealed.includes('secret'))
  assert.equal(seal.open(sealed, 'kind 1'), 'secret text é')
  assert.notEqual(seal.seal('secret text é', 'kind 1'), sealed)
  assert.equal(seal.open(sealed, 'kind 2'), undefined)
  assert.equal(createSeal(Buffer.alloc(32, 2)).open(sealed, 'kind 1'), undefined)
  const bytes = Buffer.from(sealed, 'base64url')
  for (const at of [0, 12, 28, bytes.length - 1]) {
    const changed = Buffer.from(bytes)
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at)
    assert.equal(seal.open(changed.toString('base64url'), 'kind 1'), undefined, `byte ${at}`)
  }
  assert.equal(seal.open('', 'kind 1'), undefined)
  assert.equal(seal.open(sealed.slice(0, 20), 'kind 1'), undefined)
})

test('derived keys and indexes are stable and apart', () => {
  assert.deepEqual(seal.derive('a'), createSeal(Buffer.alloc(32, 1)).derive('a'))
  assert.notDeepEqual(seal.derive('a'), seal.derive('b'))
  assert.equal(seal.index('x'), seal.index('x'))
  assert.notEqual(seal.index('x'), createSeal(Buffer.alloc(32, 2)).index('x'))
  assert.throws(() => createSeal(Buffer.alloc(16)))
})
