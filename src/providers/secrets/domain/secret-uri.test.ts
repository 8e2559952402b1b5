/** Which texts are references to secrets. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../../../tests/property.ts'
import { formatSecretUri, parseSecretUri } from './secret-uri.ts'

const version = '0123456789abcdef0123456789abcdef'

test('both forms, with and without a version', () => {
  const newest = { vault: 'my-vault', name: 'Key', version: undefined }
  assert.deepEqual(parseSecretUri('armature://my-vault/secrets/Key'), newest)
  assert.deepEqual(parseSecretUri('https://My-Vault.example.net/secrets/Key'), newest)
  assert.deepEqual(parseSecretUri('https://my-vault/secrets/Key/'), newest)
  assert.deepEqual(parseSecretUri(formatSecretUri('My-Vault', 'Key', version)), {
    ...newest,
    version,
  })
})

test('everything else is none', () => {
  for (const text of [
    '',
    'my-vault/secrets/Key',
    'http://my-vault.example/secrets/Key',
    'file:///secrets/Key',
    'armature:///secrets/Key',
    'armature://my-vault/keys/Key',
    'armature://my-vault/secrets/',
    'armature://my-vault/secrets/a/b',
    'armature://my-vault/secrets/a%2Fb',
    'armature://user@my-vault/secrets/Key',
    'https://my-vault.example/secrets/Key?version=1',
    'https://my-vault.example/secrets/Key#1',
  ]) {
    assert.equal(parseSecretUri(text), undefined, text)
  }
})

test('no text makes it throw', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.webUrl()), (text) => {
      parseSecretUri(text)
    }),
  )
})
