/** Tokens of foreign issuers, against a real key server. */

import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject, pbkdf2Sync, sign } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { ExternalIssuer } from '#kernel/external-issuer.ts'
import { silentLog } from '#kernel/ports.ts'
import { openWay, watchedWay } from '#outbound/testing/ways.ts'
import { createIssuerKeys } from './external-issuers.ts'
import { defaultIdentityLimits } from './limits.ts'
import { type IdentityFixture, openIdentityFixture, testTenant } from './testing/fixture.ts'

interface Issuer extends AsyncDisposable {
  readonly url: string
  readonly requests: string[]
  answer: RequestListener
}

async function startIssuer(): Promise<Issuer> {
  const requests: string[] = []
  const issuer = { answer: ((_req, res) => res.writeHead(404).end()) as RequestListener }
  const server = createServer((req, res) => {
    requests.push(req.url ?? '')
    issuer.answer(req, res)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return Object.assign(issuer, {
    url: `http://127.0.0.1:${port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  })
}

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })

function publish(issuer: Issuer, ...keys: { kid: string; key: KeyObject; alg?: string }[]): void {
  issuer.answer = (req, res) => {
    const body =
      req.url === '/keys'
        ? {
            keys: keys.map(({ kid, key, alg }) => ({
              ...key.export({ format: 'jwk' }),
              kid,
              ...(alg === undefined ? {} : { alg }),
            })),
          }
        : { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` }
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
}

function settings(issuer: Issuer, more: Partial<ExternalIssuer> = {}): ExternalIssuer {
  return {
    issuer: issuer.url,
    audiences: ['armature'],
    claims: { oid: 'sub', name: 'preferred_username', groups: 'groups' },
    ...more,
  }
}

function token(
  issuer: Issuer,
  more: object = {},
  { alg = 'RS256', kid = 'r' }: { alg?: string; kid?: string | undefined } = {},
): string {
  const encode = (value: unknown): string =>
    Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = {
    iss: issuer.url,
    aud: 'armature',
    sub: 'AAAAAAAA-0000-4000-8000-000000000001',
    preferred_username: 'bob',
    azp: 'kc-client',
    exp: Math.floor(Date.now() / 1000) + 600,
    ...more,
  }
  const signed = `${encode({ alg, kid })}.${encode(claims)}`
  const key = alg === 'ES256' ? ec.privateKey : rsa.privateKey
  const signature = sign(
    'sha256',
    Buffer.from(signed),
    alg === 'ES256'
      ? { key, dsaEncoding: 'ieee-p1363' }
      : alg === 'PS256'
        ? { key, padding: 6, saltLength: 32 }
        : key,
  )
  return `${signed}.${signature.toString('base64url')}`
}

async function authenticate(fixture: IdentityFixture, text: string) {
  return fixture.identity.authenticator.authenticate(`Bearer ${text}`)
}

test('a token of a configured issuer is a principal with its claims mapped', async () => {
  await using issuer = await startIssuer()
  publish(issuer, { kid: 'r', key: rsa.publicKey }, { kid: 'e', key: ec.publicKey })
  await using fixture = await openIdentityFixture({ issuers: [settings(issuer)] })
  assert.deepEqual(issuer.requests, [], 'nothing is fetched before it is needed')
  const group = 'bbbbbbbb-0000-4000-8000-000000000001'
  const principal = await authenticate(fixture, token(issuer, { groups: [group, 'admins', 7] }))
  const [first, second, ...rest] = principal.groups
  assert.equal(first, group)
  assert.match(
    second ?? '',
    /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  )
  assert.deepEqual(rest, [])
  assert.deepEqual(
    { ...principal, groups: [] },
    {
      id: 'aaaaaaaa-0000-4000-8000-000000000001',
      type: 'User',
      tenantId: testTenant,
      displayName: 'bob',
      clientId: 'kc-client',
      groups: [],
      issuer: issuer.url,
    },
  )
  assert.ok((await authenticate(fixture, token(issuer, {}, { alg: 'ES256', kid: 'e' }))).id)
  assert.ok((await authenticate(fixture, token(issuer, {}, { alg: 'PS256' }))).id)
  const named = await authenticate(fixture, token(issuer, { sub: 'google-oauth2|123' }))
  assert.equal(
    named.id,
    (await authenticate(fixture, token(issuer, { sub: 'google-oauth2|123', x: 1 }))).id,
  )
  assert.notEqual(named.id, (await authenticate(fixture, token(issuer, { sub: 'other' }))).id)
  assert.deepEqual(issuer.requests, ['/.well-known/openid-configuration', '/keys'])
})

test('what the issuer did not sign, or not for us, is refused', async () => {
  await using issuer = await startIssuer()
  publish(issuer, { kid: 'r', key: rsa.publicKey, alg: 'RS256' }, { kid: 'e', key: ec.publicKey })
  const tenant = { ...settings(issuer).claims, tenant: 'tid' }
  await using fixture = await openIdentityFixture({
    issuers: [settings(issuer, { claims: tenant, tenantId: 't' })],
  })
  const cases: readonly (readonly [string, string])[] = [
    ['InvalidAuthenticationTokenAudience', token(issuer, { tid: 't', aud: 'other' })],
    ['InvalidAuthenticationTokenTenant', token(issuer, { tid: 'u' })],
    ['InvalidAuthenticationTokenTenant', token(issuer)],
    ['ExpiredAuthenticationToken', token(issuer, { tid: 't', exp: 1 })],
    ['InvalidAuthenticationToken', token(issuer, { tid: 't', sub: undefined })],
    ['InvalidAuthenticationToken', token(issuer, { tid: 't', iss: `${issuer.url}/` })],
    ['InvalidAuthenticationToken', token(issuer, { tid: 't' }, { alg: 'PS256' })],
    ['InvalidAuthenticationToken', token(issuer, { tid: 't' }, { kid: 'e' })],
    ['InvalidAuthenticationToken', token(issuer, { tid: 't', iss: fixture.url })],
  ]
  for (const [code, text] of cases) await assert.rejects(authenticate(fixture, text), { code })
  assert.ok((await authenticate(fixture, token(issuer, { tid: 't' }))).id)
})

test('an issuer cannot speak for a principal or a group of our directory', async () => {
  await using issuer = await startIssuer()
  publish(issuer, { kid: 'r', key: rsa.publicKey })
  await using fixture = await openIdentityFixture({ issuers: [settings(issuer)] })
  const { directory } = fixture.identity
  const { id } = await directory.createUser({ displayName: 'Owner', signInName: 'o' })
  const group = await directory.createGroup({ displayName: 'Owners' })
  await assert.rejects(authenticate(fixture, token(issuer, { sub: id })), {
    code: 'InvalidAuthenticationToken',
  })
  const claimed = await authenticate(fixture, token(issuer, { groups: [group.id, 'own'] }))
  assert.equal(claimed.groups.length, 1)
  assert.ok(!claimed.groups.includes(group.id))
})

test('a group that is named like the id of somebody is another one', async () => {
  await using issuer = await startIssuer()
  publish(issuer, { kid: 'r', key: rsa.publicKey })
  await using fixture = await openIdentityFixture({ issuers: [settings(issuer)] })
  const victim = await authenticate(fixture, token(issuer, { sub: '4711' }))
  const groups = [victim.id, victim.id.toUpperCase()]
  const other = await authenticate(fixture, token(issuer, { sub: '4712', groups }))
  assert.equal(other.groups.length, 2)
  assert.ok(!other.groups.includes(victim.id))
  assert.notEqual((await authenticate(fixture, token(issuer, { sub: victim.id }))).id, victim.id)
})

test('an unknown key id fetches once, then not again for a while; new keys are found', async () => {
  await using issuer = await startIssuer()
  publish(issuer, { kid: 'e', key: ec.publicKey })
  await using fixture = await openIdentityFixture({
    issuers: [settings(issuer, { jwksUri: `${issuer.url}/keys` })],
  })
  const code = 'InvalidAuthenticationToken'
  for (let i = 0; i < 20; i += 1) {
    await assert.rejects(authenticate(fixture, token(issuer, {}, { kid: `k${i}` })), { code })
  }
  assert.equal(issuer.requests.length, 1)
  publish(issuer, { kid: 'r', key: rsa.publicKey })
  await assert.rejects(authenticate(fixture, token(issuer)), { code })
  fixture.wait(11)
  assert.ok((await authenticate(fixture, token(issuer))).id)
  assert.equal(issuer.requests.length, 2)
})

test('keys that were fetched while the clock was ahead are fetched again when it is set back', async () => {
  await using issuer = await startIssuer()
  publish(issuer, { kid: 'r', key: rsa.publicKey })
  await using fixture = await openIdentityFixture({
    issuers: [settings(issuer, { jwksUri: `${issuer.url}/keys` })],
  })
  const code = 'InvalidAuthenticationToken'
  fixture.wait(24 * 3600)
  await assert.rejects(authenticate(fixture, token(issuer, {}, { kid: 'k' })), { code })
  publish(issuer, { kid: 'e', key: ec.publicKey })
  fixture.wait(-24 * 3600)
  await assert.rejects(authenticate(fixture, token(issuer)), { code })
})

test('keys that were fetched while the clock was far ahead count no more when it is set back and the issuer is away', async () => {
  await using issuer = await startIssuer()
  publish(issuer, { kid: 'r', key: rsa.publicKey })
  await using fixture = await openIdentityFixture({
    issuers: [settings(issuer, { jwksUri: `${issuer.url}/keys` })],
  })
  const code = 'InvalidAuthenticationToken'
  fixture.wait(25 * 3600)
  await assert.rejects(authenticate(fixture, token(issuer, {}, { kid: 'k' })), { code })
  issuer.answer = (_, response) => response.writeHead(500).end()
  fixture.wait(-3600)
  assert.ok((await authenticate(fixture, token(issuer, { exp: Date.now() }))).id)
  fixture.wait(-24 * 3600)
  await assert.rejects(authenticate(fixture, token(issuer)), { code })
})

test('an issuer that does not answer well costs 503, not the process; old keys stay for a time', async () => {
  await using issuer = await startIssuer()
  await using fixture = await openIdentityFixture({
    issuers: [settings(issuer)],
    limits: { issuerDocumentBytesMax: 4096, issuerTimeoutSeconds: 1 },
  })
  const keys = { keys: [{ ...rsa.publicKey.export({ format: 'jwk' }), kid: 'r' }] }
  const discovered = { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` }
  // Each would be valid except for one fault.
  const serve =
    (discovery: object, document: object): RequestListener =>
    (req, res) => {
      const body = req.url === '/keys' || req.url === '/moved' ? document : discovery
      res.writeHead(200).end(JSON.stringify(body))
    }
  const bad: readonly RequestListener[] = [
    serve({ ...discovered, issuer: 'https://other' }, keys),
    serve(discovered, { ...keys, filler: 'x'.repeat(5000) }),
    serve({ ...discovered, jwks_uri: 7 }, keys),
    serve({ ...discovered, jwks_uri: 'data:application/json,{}' }, keys),
    serve(discovered, { keys: 'x' }),
    (req, res) => {
      if (req.url === '/keys') res.writeHead(302, { location: '/moved' }).end()
      else serve(discovered, keys)(req, res)
    },
    (req, res) => {
      if (req.url === '/keys') res.writeHead(500).end(JSON.stringify(keys))
      else serve(discovered, keys)(req, res)
    },
    (_req, res) => res.writeHead(200).end('not json'),
    (_req, res) => res.writeHead(200).end('null'),
    (req) => req.socket.destroy(),
  ]
  for (const answer of bad) {
    issuer.answer = answer
    await assert.rejects(authenticate(fixture, token(issuer)), { code: 'ServiceUnavailable' })
    fixture.wait(11)
  }
  publish(issuer, { kid: 'r', key: rsa.publicKey })
  assert.ok((await authenticate(fixture, token(issuer, { n: 1 }))).id)
  issuer.answer = (_req, res) => res.writeHead(500).end()
  fixture.wait(3601)
  const later = { exp: Math.floor(fixture.now() / 1000) + 600 }
  assert.ok((await authenticate(fixture, token(issuer, later))).id, 'the keys known before')
  fixture.wait(25 * 3600)
  const muchLater = { exp: Math.floor(fixture.now() / 1000) + 600 }
  await assert.rejects(authenticate(fixture, token(issuer, muchLater)), {
    code: 'InvalidAuthenticationToken',
  })
})

test('many keys of an issuer are read while the loop turns', async () => {
  const turnsFor = async (keys: number): Promise<number> => {
    await using issuer = await startIssuer()
    const all = Array.from({ length: keys }, (_, at) => ({ kid: `${at}`, key: ec.publicKey }))
    publish(issuer, ...all)
    await using fixture = await openIdentityFixture({ issuers: [settings(issuer)] })
    let turns = 0
    const count = (): void => {
      turns++
      // So that what comes over the network comes in few turns.
      pbkdf2Sync('a', 'b', 10_000, 32, 'sha512')
      counting = setImmediate(count)
    }
    let counting = setImmediate(count)
    try {
      await authenticate(fixture, token(issuer, {}, { alg: 'ES256', kid: '0' }))
    } finally {
      clearImmediate(counting)
    }
    return turns
  }
  const [few, many] = [await turnsFor(1), await turnsFor(100)]
  assert.ok(many > few + 12, `${few} turns for one, ${many} for a hundred`)
})

test('keys with numbers or ids of thousands of characters are none: what is read is kept', async () => {
  await using issuer = await startIssuer()
  const numberOf = (bytes: number): string => Buffer.alloc(bytes, 0xab).toString('base64url')
  const key = (kid: string, bytes: number) => ({ kty: 'RSA', kid, n: numberOf(bytes), e: 'AQAB' })
  const long = 'x'.repeat(2000)
  const keys = [key('usual', 512), key('long', 3700), key(long, 512)]
  issuer.answer = (_req, res) => res.end(JSON.stringify({ keys }))
  const read = createIssuerKeys(
    { issuer: issuer.url, jwksUri: issuer.url },
    { clock: Date, log: silentLog, limits: defaultIdentityLimits, outbound: openWay },
  )
  const found = await Promise.all(['usual', 'long', long].map((id) => read.find(id)))
  assert.deepEqual(
    found.map((one) => one !== undefined),
    [true, false, false],
  )
})

test('of two issuers neither can speak for the other’s principals', async () => {
  await using one = await startIssuer()
  await using two = await startIssuer()
  for (const issuer of [one, two]) publish(issuer, { kid: 'r', key: rsa.publicKey })
  await using fixture = await openIdentityFixture({ issuers: [settings(one), settings(two)] })
  const first = await authenticate(fixture, token(one))
  const second = await authenticate(fixture, token(two))
  assert.notEqual(first.id, second.id)
  assert.equal((await authenticate(fixture, token(one, { azp: 'other' }))).id, first.id)
})

test('an issuer may be inside where the operator put it; what its discovery names is judged', async () => {
  await using issuer = await startIssuer()
  await using elsewhere = await startIssuer()
  publish(issuer, { kid: 'r', key: rsa.publicKey })
  publish(elsewhere, { kid: 'r', key: rsa.publicKey })
  const { outbound, told } = watchedWay({ mode: 'guarded' })
  {
    await using fixture = await openIdentityFixture({ issuers: [settings(issuer)], outbound })
    assert.ok((await authenticate(fixture, token(issuer))).id)
  }
  issuer.answer = (_req, res) => {
    const body = { issuer: issuer.url, jwks_uri: `${elsewhere.url}/keys` }
    res.writeHead(200).end(JSON.stringify(body))
  }
  await using fixture = await openIdentityFixture({ issuers: [settings(issuer)], outbound })
  await assert.rejects(authenticate(fixture, token(issuer)), /cannot be had/)
  assert.deepEqual(elsewhere.requests, [])
  assert.match(told.join(), /is a loopback address/)
})
