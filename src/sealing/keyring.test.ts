/** A sealed text can be opened only unchanged, with a known key, for its purpose and in its context. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Keyring } from './keyring.ts'
import { SealingKey } from './sealing-key.ts'

const [first, second, third] = [1, 2, 3].map((byte) => new SealingKey(Buffer.alloc(32, byte))) as [
  SealingKey,
  SealingKey,
  SealingKey,
]

function allResealed(keyring: Keyring, text: string): string {
  for (const steps = keyring.resealing(text); ; ) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

test('it opens with the same key, purpose and context, and nothing else', () => {
  const seal = new Keyring(first).sealOf('secrets')
  const sealed = seal.seal('secret text é', 'kind 1')
  assert.ok(!sealed.includes('secret text'))
  assert.equal(seal.open(sealed, 'kind 1'), 'secret text é')
  assert.notEqual(seal.seal('secret text é', 'kind 1'), sealed)
  assert.equal(seal.open(sealed, 'kind 2'), undefined)
  assert.equal(new Keyring(second).sealOf('secrets').open(sealed, 'kind 1'), undefined)
  assert.equal(new Keyring(first).sealOf('sql').open(sealed, 'kind 1'), undefined)
  const disguised = sealed.replace('.secrets.', '.sql.')
  assert.equal(new Keyring(first).sealOf('sql').open(disguised, 'kind 1'), undefined)
  const head = sealed.slice(0, sealed.lastIndexOf('.') + 1)
  const bytes = Buffer.from(sealed.slice(head.length), 'base64url')
  for (const at of [0, 12, 28, bytes.length - 1]) {
    const changed = Buffer.from(bytes)
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at)
    assert.equal(seal.open(head + changed.toString('base64url'), 'kind 1'), undefined, `byte ${at}`)
  }
  for (const text of ['', sealed.slice(0, 20), `${sealed} `, `x${sealed}`]) {
    assert.equal(seal.open(text, 'kind 1'), undefined)
  }
  assert.throws(() => new SealingKey(Buffer.alloc(16)))
})

test('a rotation: both open while it is under way, then the new one alone', () => {
  const keyring = new Keyring(first)
  const seal = keyring.sealOf('sql')
  const old = seal.seal('password', 'server')
  keyring.hold(second, { opens: [first], replaces: [first] })
  assert.equal(seal.open(old, 'server'), 'password')
  const document = JSON.stringify({ tags: { a: '~x' }, sealedPassword: old, again: [old] })
  const resealed = allResealed(keyring, document)
  assert.ok(!resealed.includes(first.id))
  keyring.hold(second, { replaces: [first] })
  assert.equal(seal.open(old, 'server'), undefined, 'the old key opens nothing')
  const { tags, sealedPassword, again } = JSON.parse(resealed)
  assert.deepEqual(tags, { a: '~x' })
  assert.equal(seal.open(sealedPassword, 'server'), 'password')
  assert.equal(seal.open(sealedPassword, 'another'), undefined, 'the context is kept')
  assert.equal(seal.open(again[0], 'server'), 'password')
  assert.equal(
    seal.open(allResealed(keyring, old), 'server'),
    'password',
    'a late write is resealed',
  )
})

test('what only looks sealed stays as it is', () => {
  const keyring = new Keyring(second)
  keyring.hold(second, { replaces: [first] })
  const genuine = new Keyring(first).sealOf('sql').seal('x', 'y')
  const other = new Keyring(third).sealOf('sql').seal('x', 'y')
  // A link to a download, which somebody stored to have it sealed anew.
  const givenOut = new Keyring(first).sealOf('billing-downloads').seal('x', 'y')
  for (const text of [
    `~${first.id}.`,
    `~${first.id}.sql.${'A'.repeat(80)}`,
    `~${first.id}.nothing.${'A'.repeat(80)}`,
    genuine.replace('.sql.', '.secrets.'),
    `${genuine}A`,
    other,
    givenOut,
  ]) {
    assert.equal(allResealed(keyring, text), text)
  }
})

test('indexes outlast keys; cookies and tokens have a key for each', () => {
  const keyring = new Keyring(first)
  const identity = keyring.identitySeal(Buffer.alloc(32, 9))
  const index = identity.index('secret')
  const [cookies] = identity.cookieKeys()
  keyring.hold(second, { opens: [first], replaces: [first] })
  assert.equal(identity.index('secret'), index)
  assert.deepEqual(identity.cookieKeys().slice(1), [cookies])
  assert.notEqual(identity.cookieKeys()[0], cookies)
  keyring.hold(second, { replaces: [first] })
  assert.equal(identity.cookieKeys().length, 1)
  assert.notDeepEqual(keyring.signingKeys('cookies'), keyring.signingKeys('continuation tokens'))
})

test('many texts that look sealed are opened a few at a time', () => {
  const keyring = new Keyring(second)
  keyring.hold(second, { replaces: [first] })
  const seal = new Keyring(first).sealOf('sql')
  const genuine = Array.from({ length: 1000 }, (_, at) => seal.seal(`${at}`, 'y'))
  const forged = `~${first.id}.sql.${'A'.repeat(90)}`
  const text = genuine.join(` ${forged} `)
  let steps = 1
  for (const _ of keyring.resealing(text)) steps++
  assert.equal(steps, 10)
  const fresh = allResealed(keyring, text).split(` ${forged} `)
  assert.deepEqual(
    fresh.map((one) => keyring.sealOf('sql').open(one, 'y')),
    genuine.map((_, at) => `${at}`),
  )
})
