/** The key decides the algorithm: a signature by another algorithm than the key's is invalid. */

import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, type JsonWebKey } from 'node:crypto'
import { test } from 'node:test'
import { CompactSign } from 'jose/jws/compact/sign'
import { algorithmsOf, isSignedBy, parseToken, type SigningAlgorithm, signToken } from './jwt.ts'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const other = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })

async function signed(alg: SigningAlgorithm): Promise<string> {
  return await new CompactSign(Buffer.from('{"oid":"x"}'))
    .setProtectedHeader({ alg })
    .sign(alg === 'ES256' ? ec.privateKey : rsa.privateKey)
}

async function holds(
  token: string,
  key: (typeof rsa)['publicKey'],
  algorithms: readonly SigningAlgorithm[],
): Promise<boolean> {
  const parsed = parseToken(token)
  assert.ok(typeof parsed !== 'string', String(parsed))
  return await isSignedBy(parsed, { key, algorithms })
}

test('a signature holds by an algorithm of the key, and by no other', async () => {
  const all: readonly SigningAlgorithm[] = ['RS256', 'PS256', 'ES256']
  for (const alg of all) {
    const token = await signed(alg)
    const key = alg === 'ES256' ? ec.publicKey : rsa.publicKey
    assert.equal(await holds(token, key, [alg]), true, alg)
    assert.equal(await holds(token, key, all), true, alg)
    const others = all.filter((one) => one !== alg)
    assert.equal(await holds(token, key, others), false, `${alg} is none of ${others.join(', ')}`)
    assert.equal(await holds(token, key, []), false, alg)
    assert.equal(await holds(token, other.publicKey, [alg]), false, `${alg}, another key`)
    const [head, , signature] = token.split('.')
    const changed = `${head}.${Buffer.from('{"oid":"y"}').toString('base64url')}.${signature}`
    assert.equal(await holds(changed, key, [alg]), false, `${alg}, other claims`)
  }
})

test('a shared secret and no signature at all are never accepted', async () => {
  const pem = rsa.publicKey.export({ type: 'spki', format: 'pem' })
  for (const alg of ['HS256', 'none', 'RS256']) {
    const head = Buffer.from(JSON.stringify({ alg })).toString('base64url')
    const content = `${head}.${Buffer.from('{"oid":"x"}').toString('base64url')}`
    const token = `${content}.${createHmac('sha256', pem).update(content).digest('base64url')}`
    assert.equal(await holds(token, rsa.publicKey, ['RS256', 'PS256']), false, alg)
  }
})

test('our own tokens are RS256 access tokens', async () => {
  const token = await signToken({ oid: 'x' }, { keyId: 'k', privateKey: rsa.privateKey })
  const parsed = parseToken(token)
  assert.ok(typeof parsed !== 'string')
  assert.deepEqual([parsed.keyId, parsed.type, parsed.claims], ['k', 'at+jwt', { oid: 'x' }])
  assert.equal(await holds(token, rsa.publicKey, ['RS256']), true)
})

test('a published key serves the algorithms of its kind, or the one it names', () => {
  const rsaKey: JsonWebKey = rsa.publicKey.export({ format: 'jwk' })
  assert.deepEqual(algorithmsOf(rsaKey), ['RS256', 'PS256'])
  assert.deepEqual(algorithmsOf({ ...rsaKey, alg: 'PS256' }), ['PS256'])
  assert.deepEqual(algorithmsOf({ ...rsaKey, alg: 'HS256' }), [])
  assert.deepEqual(algorithmsOf({ ...rsaKey, use: 'enc' }), [])
  assert.deepEqual(algorithmsOf(ec.publicKey.export({ format: 'jwk' })), ['ES256'])
  assert.deepEqual(algorithmsOf({ kty: 'oct', k: 'AAAA' }), [])
})
