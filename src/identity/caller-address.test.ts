/**
 * Without a public address, sign-in addresses follow the caller, and what one caller sends never reaches another.
 */

import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { parseToken } from './jwt.ts'
import { type IdentityFixture, openIdentityFixture, testTenant } from './testing/fixture.ts'

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

const discovery = `/${testTenant}/v2.0/.well-known/openid-configuration`

/** As a client that came through `host`, or as a page there. */
function ask(
  { url }: IdentityFixture,
  came: string | { readonly host: string; readonly origin: string },
  path: string,
  form?: Readonly<Record<string, string>>,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const method = form === undefined ? 'GET' : 'POST'
    const by = typeof came === 'string' ? { host: came } : came
    const sent = request(url + path, { method, headers: { ...by, ...type } }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      )
    })
    sent.on('error', reject)
    sent.end(form === undefined ? undefined : new URLSearchParams(form).toString())
  })
}

function openFollowing(more: Parameters<typeof openIdentityFixture>[0] = {}) {
  return openIdentityFixture({ publicUrlOf: ({ headers }) => `http://${headers.host}`, ...more })
}

async function tokenBy(fixture: IdentityFixture, host: string): Promise<string> {
  const answer = await ask(fixture, host, '/common/oauth2/v2.0/token', {
    grant_type: 'client_credentials',
    ...(await ownerOf(fixture)),
    scope: `http://${host}/.default`,
  })
  assert.equal(answer.status, 200, answer.text)
  return (JSON.parse(answer.text) as { access_token: string }).access_token
}

test('a discovery document has the address of the one who asks, and of nobody before', async () => {
  await using fixture = await openFollowing()
  for (const host of ['a.example', 'b.example:8900', 'a.example']) {
    const { text, headers } = await ask(fixture, host, discovery)
    const found = [...text.matchAll(/https?:\/\/[^/"]+/g)].map(String)
    assert.deepEqual([...new Set(found)], [`http://${host}`])
    assert.equal(headers['cache-control'], 'no-store')
    const instance = await ask(fixture, host, '/common/discovery/instance')
    assert.ok(instance.text.includes(`http://${host}${discovery}`))
  }
  const device = await ask(fixture, 'a.example', '/common/oauth2/devicecode', {
    client_id: 'armature-cli',
  })
  assert.match(device.text, /"verification_uri":"http:\/\/a\.example\//)
})

test('a token got by one address is good at every other, and its audience is the installation', async () => {
  await using fixture = await openFollowing()
  const token = await tokenBy(fixture, 'a.example')
  const parsed = parseToken(token)
  assert.ok(typeof parsed !== 'string')
  assert.equal(parsed.claims['iss'], 'http://a.example')
  assert.equal(parsed.claims['aud'], fixture.url)
  await fixture.identity.authenticator.authenticate(`Bearer ${token}`)
  await using fixed = await openIdentityFixture()
  const { access_token: other } = JSON.parse(
    (
      await ask(fixed, 'a.example', '/common/oauth2/token', {
        grant_type: 'client_credentials',
        ...(await ownerOf(fixed)),
      })
    ).text,
  ) as { access_token: string }
  const known = parseToken(other)
  assert.ok(typeof known !== 'string')
  assert.equal(known.claims['iss'], fixed.url, 'with a public address the host means nothing')
})

async function ownerOf(fixture: IdentityFixture) {
  const owner = await fixture.identity.ensureOwner({ displayName: 'owner' })
  assert.ok(owner.created)
  return { client_id: owner.clientId, client_secret: owner.clientSecret }
}

test('nobody speaks for a trusted issuer by calling this server by its name', async () => {
  const issuers = [
    { issuer: 'http://issuer.example', audiences: ['x'], claims: { oid: 'sub' } },
  ] as const
  await using fixture = await openFollowing({ issuers })
  const token = await tokenBy(fixture, 'issuer.example')
  await assert.rejects(
    async () => fixture.identity.authenticator.authenticate(`Bearer ${token}`),
    /the keys of the issuer 'http:\/\/issuer\.example'/,
  )
})

test('a token of an unknown issuer and key is distinguished from one of ours', async () => {
  await using fixture = await openFollowing()
  await using other = await openFollowing()
  const token = await tokenBy(other, 'a.example')
  await assert.rejects(
    async () => fixture.identity.authenticator.authenticate(`Bearer ${token}`),
    /issuer is not trusted/,
  )
})

test('the portal is sent back to the address by which the browser came, and to no other', async () => {
  await using fixture = await openFollowing()
  const authorize = (redirect: string) =>
    ask(
      fixture,
      'a.example',
      `/common/oauth2/authorize?${new URLSearchParams({
        response_type: 'token',
        client_id: 'armature-portal',
        redirect_uri: redirect,
      })}`,
    )
  const own = await authorize('http://a.example/signed-in')
  assert.equal(own.status, 303)
  assert.match(String(own.headers['location']), /^\/common\/oauth2\/interaction\//)
  assert.equal((await authorize('http://evil.example/signed-in')).status, 400)
  assert.equal((await authorize('http://a.example/other')).status, 400)
})

test('our own pages redeem their codes at the address by which the browser came, and nobody else’s there', async () => {
  await using fixture = await openFollowing()
  const redeem = async (clientId: string, origin: string) => {
    const { text } = await ask(fixture, { host: 'a.example', origin }, '/common/oauth2/token', {
      client_id: clientId,
      grant_type: 'authorization_code',
      code: 'none',
      code_verifier: 'v'.repeat(43),
      redirect_uri: 'http://a.example/console/signed-in',
    })
    return (JSON.parse(text) as { error: string }).error
  }
  // The code is none, but whoever asked may ask.
  assert.equal(await redeem('armature-console', 'http://a.example'), 'invalid_grant')
  assert.equal(await redeem('armature-portal', 'http://a.example'), 'invalid_grant')
  assert.equal(await redeem('armature-console', 'http://evil.example'), 'invalid_request')
  assert.equal(await redeem('armature-cli', 'http://a.example'), 'invalid_request')
})

test('everybody gets the same answer on where a user signs in', async () => {
  await using fixture = await openFollowing()
  for (const name of ['owner@armature', 'nobody@armature', '%zz', 'x']) {
    const { status, text } = await ask(fixture, 'a', `/common/userrealm/${name}?api-version=1.0`)
    assert.equal(status, 200)
    assert.equal((JSON.parse(text) as { account_type: string }).account_type, 'Managed')
  }
})
