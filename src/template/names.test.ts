/** The published vectors of `uniqueString` and `guid`, and an independent reference for the latter. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { fc } from '../../tests/property.ts'
import { guid, uniqueString, utf8 } from './names.ts'

test('uniqueString gives the published values', () => {
  const id = '/subscriptions/00000000-0000-0000-0000-000000000000'
  assert.equal(uniqueString([id, 'resource-id']), 'cwvxuqg24sifi')
  assert.equal(uniqueString(['test']), 'rbgf3xv4ufgzg')
})

test('guid gives the published value', () => {
  assert.equal(guid(['a', 'b', 'c']), 'a98fa280-e03f-5afa-8d8e-92d0a9c201e8')
})

test('any text has a name of thirteen digits', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' })), (values) => {
      assert.match(uniqueString(values), /^[a-z2-7]{13}$/)
    }),
  )
})

test('guid is version 5 over the namespace, as another implementation of SHA-1 has it', () => {
  const namespace = Buffer.from('11fb06fb712d4ddd98c7e71bbd588830', 'hex')
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
      const digest = createHash('sha1').update(namespace).update(text).digest().subarray(0, 16)
      digest[6] = ((digest[6] ?? 0) & 0x0f) | 0x50
      digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80
      assert.equal(guid([text]).replaceAll('-', ''), digest.toString('hex'))
    }),
  )
})

test('utf8 agrees with the platform', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.deepEqual(utf8(text), [...Buffer.from(text)])
    }),
  )
})
