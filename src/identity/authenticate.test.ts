/** From header to principal: every way in which a token can be wrong, and every way in which a valid one ends. */

import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { test } from 'node:test'
import type { ApiError } from '#kernel/error.ts'
import type { Principal } from '#kernel/principal.ts'
import { type IdentityFixture, openIdentityFixture, testTenant } from './testing/fixture.ts'
import { addAlice, askToken, claimsOf } from './testing/flows.ts'

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function forge(
  header: object,
  claims: object,
  signer: (signed: string) => Buffer | string = () => '',
): string {
  const signed = `${encode(header)}.${encode(claims)}`
  const signature = signer(signed)
  return `${signed}.${typeof signature === 'string' ? signature : signature.toString('base64url')}`
}

const rs256 =
  (key: KeyObject) =>
  (signed: string): Buffer =>
    sign('sha256', Buffer.from(signed), key)

async function authenticate(fixture: IdentityFixture, token: string): Promise<Principal> {
  return fixture.identity.authenticator.authenticate(`Bearer ${token}`)
}

async function refusal(fixture: IdentityFixture, header: string | undefined): Promise<ApiError> {
  try {
    await fixture.identity.authenticator.authenticate(header)
  } catch (error) {
    assert.ok(error instanceof Error && 'code' in error && 'extra' in error, String(error))
    // An error with both is from the catalogue.
    return error as ApiError
  }
  return assert.fail(`accepted: ${header}`)
}

test('without a header nothing is wrong yet; a wrong one is reported', async () => {
  await using fixture = await openIdentityFixture()
  const missing = await refusal(fixture, undefined)
  assert.equal(missing.code, 'AuthenticationFailed')
  assert.equal(missing.status, 401)
  // The edge adds the address.
  assert.equal(missing.extra.headers, undefined)
  for (const header of ['', 'Bearer', 'Bearer ', 'Basic YTpi', 'token', 'Bearer a b', 'Bearer é']) {
    const { code, status, extra } = await refusal(fixture, header)
    assert.equal(code, 'AuthenticationFailedInvalidHeader', header)
    assert.equal(status, 401)
    assert.match(extra.headers?.['WWW-Authenticate'] ?? '', /error="invalid_token"/)
  }
})

test('tampered tokens are refused, whatever their header says', async () => {
  await using fixture = await openIdentityFixture()
  const id = await addAlice(fixture)
  const { token } = await fixture.identity.issueToken(id)
  const claims = claimsOf(token)
  const [head = '', body = '', signature = ''] = token.split('.')
  const keys = (await (await fetch(`${fixture.url}/common/discovery/keys`)).json()) as {
    keys: { kid: string; n: string; e: string; kty: string }[]
  }
  const kid = keys.keys[0]?.kid
  const mine = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const publicPem = mine.publicKey.export({ type: 'spki', format: 'pem' })
  const { createPublicKey } = await import('node:crypto')
  const theirPem = createPublicKey({ key: keys.keys[0] ?? {}, format: 'jwk' }).export({
    type: 'spki',
    format: 'pem',
  })
  const hmac =
    (secret: string | Buffer) =>
    (signed: string): Buffer =>
      createHmac('sha256', secret).update(signed).digest()
  const typ = 'at+jwt'

  const wrong: readonly (readonly [string, string])[] = [
    ['none', forge({ alg: 'none', typ, kid }, claims)],
    ['none with a signature', forge({ alg: 'none', typ, kid }, claims, () => signature)],
    ['None', forge({ alg: 'None', typ, kid }, claims, () => signature)],
    ['HS256 with the public key', forge({ alg: 'HS256', typ, kid }, claims, hmac(theirPem))],
    [
      'HS256 with the modulus',
      forge({ alg: 'HS256', typ, kid }, claims, hmac(keys.keys[0]?.n ?? '')),
    ],
    ['PS256 announced', forge({ alg: 'PS256', typ, kid }, claims, () => signature)],
    ['no algorithm', forge({ typ, kid }, claims, () => signature)],
    ['own key, their kid', forge({ alg: 'RS256', typ, kid }, claims, rs256(mine.privateKey))],
    ['own key, own kid', forge({ alg: 'RS256', typ, kid: 'mine' }, claims, rs256(mine.privateKey))],
    ['own key, no kid', forge({ alg: 'RS256', typ }, claims, rs256(mine.privateKey))],
    [
      'own key in the header',
      forge(
        { alg: 'RS256', typ, kid, jwk: mine.publicKey.export({ format: 'jwk' }), x5c: [publicPem] },
        claims,
        rs256(mine.privateKey),
      ),
    ],
    ['other claims', `${head}.${encode({ ...claims, oid: 'x' })}.${signature}`],
    ['no signature', `${head}.${body}.`],
    ['short signature', `${head}.${body}.${signature.slice(0, -8)}`],
    [
      'critical extension',
      forge({ alg: 'RS256', typ, kid, crit: ['b64'] }, claims, () => signature),
    ],
    [
      'another issuer',
      forge({ alg: 'RS256', typ, kid }, { ...claims, iss: 'https://x' }, () => signature),
    ],
    ['two parts', `${head}.${body}`],
    ['four parts', `${token}.${signature}`],
    ['padding', `${token}==`],
    ['no JSON', `${Buffer.from('x').toString('base64url')}.${body}.${signature}`],
    ['a list', `${encode([])}.${encode([])}.${signature}`],
    ['null', `${encode(null)}.${encode(null)}.${signature}`],
    ['garbage', 'x'.repeat(300)],
    ['huge', `${head}.${'A'.repeat(20_000)}.${signature}`],
    ['proto', forge({ alg: '__proto__', kid: '__proto__', typ }, claims, () => signature)],
  ]
  for (const [name, bad] of wrong) {
    const { code, status, extra } = await refusal(fixture, `Bearer ${bad}`)
    assert.equal(code, 'InvalidAuthenticationToken', name)
    assert.equal(status, 401)
    assert.match(
      extra.headers?.['WWW-Authenticate'] ?? '',
      /^Bearer error="invalid_token", error_description="[^"]+"$/,
    )
  }
  assert.equal((await authenticate(fixture, token)).id, id)
})

test('a token that was seen before costs one look at the directory, which may fail', async () => {
  await using fixture = await openIdentityFixture()
  const id = await addAlice(fixture)
  const { token } = await fixture.identity.issueToken(id)
  const feed = fixture.store.feed('directory')
  let looks = 0
  let isAway = false
  // As on a database server: whoever wants to know where the feed stands has to wait.
  const position = async (): Promise<number> => {
    looks++
    if (isAway) throw new Error('away')
    return feed.position()
  }
  await using replica = await fixture.replica({ feed: { ...feed, position } })
  assert.equal((await authenticate(replica, token)).id, id)
  looks = 0
  for (let time = 1; time <= 3; time++) {
    assert.equal((await authenticate(replica, token)).id, id)
    assert.equal(looks, time)
  }
  isAway = true
  // The process of a test ends at a rejection that nobody handles.
  await assert.rejects(authenticate(replica, token), /away/)
  isAway = false
  await fixture.identity.directory.update(id, { enabled: false })
  assert.equal((await refusal(replica, `Bearer ${token}`)).code, 'InvalidAuthenticationToken')
})

test('a good signature is not enough: time, tenant, audience, type and principal count', async () => {
  await using fixture = await openIdentityFixture()
  const id = await addAlice(fixture)
  const signed = await tokensOf(fixture)
  const { token } = await fixture.identity.issueToken(id)
  const claims = claimsOf(token)
  const seconds = Math.floor(fixture.now() / 1000)
  const cases: readonly (readonly [string, string, object, object?])[] = [
    ['expired', 'ExpiredAuthenticationToken', { exp: seconds - 31 }],
    ['far past', 'ExpiredAuthenticationToken', { exp: -1e300 }],
    ['no expiry', 'InvalidAuthenticationToken', { exp: undefined }],
    ['expiry as text', 'InvalidAuthenticationToken', { exp: String(seconds + 100) }],
    ['not yet', 'InvalidAuthenticationToken', { nbf: seconds + 120 }],
    ['other tenant', 'InvalidAuthenticationTokenTenant', { tid: testTenant.replace('1', '2') }],
    ['no tenant', 'InvalidAuthenticationTokenTenant', { tid: undefined }],
    ['other audience', 'InvalidAuthenticationTokenAudience', { aud: 'https://other' }],
    ['audience with a path', 'InvalidAuthenticationTokenAudience', { aud: `${fixture.url}/x` }],
    ['no audience', 'InvalidAuthenticationTokenAudience', { aud: undefined }],
    ['no principal', 'InvalidAuthenticationToken', { oid: undefined }],
    ['unknown principal', 'InvalidAuthenticationToken', { oid: testTenant }],
    ['an id token', 'InvalidAuthenticationToken', {}, { typ: 'JWT' }],
    ['a critical extension', 'InvalidAuthenticationToken', {}, { crit: ['b64'], b64: true }],
    ['quotes', 'InvalidAuthenticationTokenAudience', { aud: '"\r\nX: y\\' }],
  ]
  for (const [name, code, change, header = {}] of cases) {
    const error = await refusal(fixture, `Bearer ${await signed({ ...claims, ...change }, header)}`)
    assert.equal(error.code, code, name)
    assert.equal(error.status, 401)
    assert.doesNotMatch(error.extra.headers?.['WWW-Authenticate'] ?? '', /[\r\n\\]|"[^",=]*"[^",]/)
  }
  for (const change of [
    {},
    { aud: `${fixture.url}/` },
    { aud: ['x', fixture.url] },
    { exp: seconds - 5 },
  ]) {
    assert.equal((await authenticate(fixture, await signed({ ...claims, ...change }, {}))).id, id)
  }
})

test('a remembered token is answered at once, and ends when it expires', async () => {
  await using fixture = await openIdentityFixture()
  const id = await addAlice(fixture)
  const { token } = await fixture.identity.issueToken(id)
  const { authenticator } = fixture.identity
  const first = authenticator.authenticate(`Bearer ${token}`)
  assert.ok(first instanceof Promise)
  const principal = await first
  assert.equal(authenticator.authenticate(`Bearer ${token}`), principal, 'without a promise')
  fixture.wait(3600)
  assert.equal(authenticator.authenticate(`Bearer ${token}`), principal, 'within the clock skew')
  fixture.wait(31)
  assert.throws(() => authenticator.authenticate(`Bearer ${token}`), {
    code: 'ExpiredAuthenticationToken',
  })
  await assert.rejects(async () => authenticator.authenticate(`Bearer ${token}`), {
    code: 'ExpiredAuthenticationToken',
  })
})

test('a principal that is disabled or deleted is refused on the very next request, on every replica', async () => {
  await using fixture = await openIdentityFixture()
  await using replica = await fixture.replica()
  const { directory } = fixture.identity
  const id = await addAlice(fixture)
  const { token } = await fixture.identity.issueToken(id)
  for (const w of [fixture, replica]) assert.equal((await authenticate(w, token)).id, id)
  await directory.update(id, { enabled: false })
  for (const w of [fixture, replica]) {
    assert.equal((await refusal(w, `Bearer ${token}`)).code, 'InvalidAuthenticationToken')
  }
  await directory.update(id, { enabled: true })
  for (const w of [fixture, replica]) {
    assert.match((await refusal(w, `Bearer ${token}`)).message, /it was revoked/)
  }
  const { token: fresh } = await fixture.identity.issueToken(id)
  for (const w of [fixture, replica]) assert.equal((await authenticate(w, fresh)).id, id)
  await directory.createGroup({ displayName: 'unrelated' })
  assert.equal((await authenticate(fixture, fresh)).id, id)
  await directory.delete(id)
  for (const w of [fixture, replica]) {
    assert.equal((await refusal(w, `Bearer ${fresh}`)).code, 'InvalidAuthenticationToken')
  }
})

test('all tokens of a principal end with it, also those looked at after the change was noticed', async () => {
  await using fixture = await openIdentityFixture()
  const id = await addAlice(fixture)
  const tokens = await Promise.all([1, 2, 3].map(() => fixture.identity.issueToken(id)))
  for (const { token } of tokens) assert.equal((await authenticate(fixture, token)).id, id)
  await fixture.identity.directory.update(id, { enabled: false })
  for (const { token } of tokens) {
    assert.equal((await refusal(fixture, `Bearer ${token}`)).code, 'InvalidAuthenticationToken')
  }
})

test('after a key rotation old tokens stay good until they expire, new ones are good everywhere', async () => {
  await using fixture = await openIdentityFixture()
  await using replica = await fixture.replica()
  const id = await addAlice(fixture)
  const app = await fixture.identity.directory.createServicePrincipal({ displayName: 'app' })
  const ask = async (w: IdentityFixture): Promise<string> => {
    const { access_token } = await askToken(w, {
      grant_type: 'client_credentials',
      client_id: app.principal.clientId ?? '',
      client_secret: app.clientSecret,
    })
    return access_token
  }
  const keyOf = (token: string): unknown =>
    (JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as { kid: string })
      .kid
  const old = await ask(fixture)
  assert.equal(keyOf(old), keyOf(await ask(replica)), 'one key for all replicas')
  const kid = await fixture.identity.rotateKeys()
  const fresh = await ask(fixture)
  assert.equal(keyOf(fresh), kid)
  assert.equal(keyOf(await ask(replica)), kid, 'the other replica noticed')
  for (const w of [fixture, replica]) {
    assert.equal((await authenticate(w, old)).id, app.principal.id)
    assert.equal((await authenticate(w, fresh)).id, app.principal.id)
  }
  const published = async (): Promise<number> => {
    const answer = await fetch(`${replica.url}/common/discovery/keys`)
    const { keys } = (await answer.json()) as { keys: Record<string, unknown>[] }
    for (const key of keys) assert.equal('d' in key, false, 'no private part is published')
    return keys.length
  }
  assert.equal(await published(), 2)
  for (const w of [fixture, replica]) w.wait(3631)
  await fixture.identity.rotateKeys()
  assert.equal(await published(), 2, 'the first key is gone')
  assert.equal((await authenticate(fixture, (await fixture.identity.issueToken(id)).token)).id, id)
})

test('another installation key opens no signing key', async () => {
  await using fixture = await openIdentityFixture()
  const id = await addAlice(fixture)
  const { token } = await fixture.identity.issueToken(id)
  await using stranger = await openIdentityFixture(
    {},
    { store: fixture.store, installationKey: Buffer.alloc(32, 7), url: fixture.url },
  )
  await assert.rejects(stranger.identity.issueToken(id), /installation key/)
  assert.equal((await authenticate(fixture, token)).id, id)
})

/** Signs claims with the installation's real key, taken from the OAuth server by issuing and re-signing. */
async function tokensOf(
  fixture: IdentityFixture,
): Promise<(claims: object, header: object) => Promise<string>> {
  const { createSeal } = await import('./testing/seal.ts')
  const { openKeyRing } = await import('./keys.ts')
  const { directorySql } = await import('./directory-sql.ts')
  const { defaultIdentityLimits } = await import('./limits.ts')
  const { testIds } = await import('./testing/fixture.ts')
  const clock = { now: fixture.now }
  const ring = openKeyRing({
    sql: directorySql(fixture.store.sql, clock),
    watch: fixture.identity.directory.watch,
    clock,
    ids: testIds,
    seal: createSeal(fixture.installationKey),
    limits: defaultIdentityLimits,
  })
  return async (claims, header) => {
    const key = await ring.active()
    return forge(
      { alg: 'RS256', typ: 'at+jwt', kid: key.keyId, ...header },
      claims,
      rs256(key.privateKey),
    )
  }
}
