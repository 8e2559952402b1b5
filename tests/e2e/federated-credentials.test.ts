/** Sign-in with tokens of another issuer, on behalf of a user, and as a managed identity by each of its names. */

import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import {
  findPostgres,
  howToGetPostgres,
  startPostgres,
} from '../../src/stores/testing/postgres-server.ts'
import { requireOrSkip } from '../require.ts'
import { until } from '../until.ts'
import { createApplication, createResourceGroup } from './access.ts'
import { type Answer, type Installation, startInstallation } from './installation.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const issuer = createServer((request, response) => {
  const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256' }]
  const found = { issuer: issuerUrl, jwks_uri: `${issuerUrl}/keys` }
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(request.url === '/keys' ? { keys } : found))
})
let issuerUrl: string
let installation: Installation
let group: string

before(async () => {
  await new Promise<void>((resolve) => issuer.listen(0, '127.0.0.1', resolve))
  issuerUrl = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`
  installation = await startInstallation()
  group = `/subscriptions/${installation.subscriptionId}/resourceGroups/federated`
  await createResourceGroup(installation, group)
})

after(async () => {
  issuer.closeAllConnections()
  issuer.close()
  await installation[Symbol.asyncDispose]()
})

const audience = 'api://token-exchange'
const version = 'api-version=2023-01-31'

function assertion(claims: object = {}, key = privateKey): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const exp = Math.floor(Date.now() / 1000) + 600
  const whole = { iss: issuerUrl, sub: 'repo:one', aud: audience, exp, ...claims }
  const signed = `${part({ alg: 'RS256', kid: 'one' })}.${part(whole)}`
  return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`
}

async function token(fields: Record<string, string>, { url, publicUrl, tenantId } = installation) {
  const response = await fetch(`${url}/${tenantId}/oauth2/v2.0/token`, {
    method: 'POST',
    body: new URLSearchParams({ scope: `${publicUrl}/.default`, ...fields }),
  })
  const body = (await response.json()) as Readonly<Record<string, string>>
  return { status: response.status, body }
}

function byAssertion(clientId: string, text: string, at = installation) {
  const fields = {
    grant_type: 'client_credentials',
    client_id: clientId,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: text,
  }
  return token(fields, at)
}

function claimsOf(accessToken = ''): Readonly<Record<string, unknown>> {
  return JSON.parse(Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString())
}

async function identityNamed(name: string, at = installation, within = group) {
  const id = `${within}/providers/Vendor.ManagedIdentity/userAssignedIdentities/${name}`
  const path = `${id}?${version}`
  await at.request('PUT', path, { body: { location: 'local' } })
  const made = await until(async () => {
    const answer = await at.request('GET', path)
    return answer.at('properties.provisioningState') !== 'Creating' && answer
  })
  const clientId = String(made.at('properties.clientId'))
  return { id, clientId, principalId: String(made.at('properties.principalId')) }
}

test('an identity signs in by the token that its federated credential names, and by no other', async () => {
  const { id, clientId, principalId } = await identityNamed('worker')
  const path = `${id}/federatedIdentityCredentials/branch?${version}`
  const properties = { issuer: issuerUrl, subject: 'repo:one', audiences: [audience] }
  assert.equal((await byAssertion(clientId, assertion())).status, 401)
  const made = await installation.request('PUT', path, { body: { properties } })
  assert.equal(made.status, 201, made.text)
  assert.deepEqual(made.at('properties'), properties)
  const again = path.replace('/branch?', '/other?')
  const twice = await installation.request('PUT', again, { body: { properties } })
  assert.equal(twice.status, 400, twice.text)
  const given = await byAssertion(clientId, assertion())
  assert.equal(given.status, 200, JSON.stringify(given.body))
  assert.equal(claimsOf(given.body['access_token'])['oid'], principalId)
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  for (const wrong of [
    assertion({ sub: 'repo:two' }),
    assertion({ aud: 'another' }),
    assertion({ iss: `${issuerUrl}/x` }),
    assertion({ exp: Math.floor(Date.now() / 1000) - 600 }),
    assertion({ exp: undefined }),
    assertion({}, other),
    'nonsense',
  ]) {
    const refused = await byAssertion(clientId, wrong)
    assert.equal(refused.status, 401, wrong)
    assert.equal(refused.body['error'], 'invalid_client')
  }
  assert.equal((await installation.request('DELETE', path)).status, 200)
  assert.equal((await byAssertion(clientId, assertion())).status, 401)
})

/** Ways to end what an identity's token rests on. Each is the work of one request. */
const ends: readonly (readonly [name: string, end: (place: FederatedPlace) => Promise<Answer>])[] =
  [
    ['the credential is deleted', ({ at, credential }) => at.request('DELETE', credential)],
    [
      'the credential names another subject',
      ({ at, credential }) => putCredential(at, credential, { subject: 'repo:two' }),
    ],
    [
      'the credential names another audience',
      ({ at, credential }) => putCredential(at, credential, { audiences: ['api://other'] }),
    ],
    [
      'the credential is deleted and created again',
      async ({ at, credential }) => {
        await at.request('DELETE', credential)
        return putCredential(at, credential)
      },
    ],
    ['the identity is deleted', ({ at, id }) => at.request('DELETE', `${id}?${version}`)],
    [
      'the group is deleted',
      ({ at, within }) => at.request('DELETE', `${within}?api-version=2021-04-01`),
    ],
  ]

interface FederatedPlace {
  readonly at: Installation
  readonly within: string
  readonly id: string
  readonly credential: string
}

function putCredential(at: Installation, path: string, changes: object = {}): Promise<Answer> {
  const properties = { issuer: issuerUrl, subject: 'repo:one', audiences: [audience], ...changes }
  return at.request('PUT', path, { body: { properties } })
}

/** Ends tokens at the first replica. The second one has accepted them before. */
async function takeFederatedAway(at: Installation, second: Installation): Promise<void> {
  const within = `/subscriptions/${at.subscriptionId}/resourceGroups/ended`
  for (const [name, end] of ends) {
    await createResourceGroup(at, within)
    const { id, clientId } = await identityNamed('worker', at, within)
    const credential = `${id}/federatedIdentityCredentials/branch?${version}`
    const kept = `${id}/federatedIdentityCredentials/kept?${version}`
    await putCredential(at, credential)
    await putCredential(at, kept, { subject: 'repo:kept' })
    const tokenOf = async (subject: string): Promise<string> =>
      (await byAssertion(clientId, assertion({ sub: subject }), at)).body['access_token'] ?? ''
    const [ending, lasting] = [await tokenOf('repo:one'), await tokenOf('repo:kept')]
    assert.ok(ending !== '' && lasting !== '', name)
    const ask = async (accessToken: string): Promise<number> => {
      const path = '/subscriptions?api-version=2022-12-01'
      return (await second.request('GET', path, { token: accessToken })).status
    }
    assert.deepEqual([await ask(ending), await ask(lasting)], [200, 200])
    // Nothing changes here, so no token ends.
    await putCredential(at, credential)
    assert.equal(await ask(ending), 200)
    const ended = await end({ at, within, id, credential })
    assert.ok(ended.status < 300, ended.text)
    await until(async () => (await ask(ending)) === 401)
    const isAlone = name.startsWith('the credential')
    if (isAlone) assert.equal(await ask(lasting), 200, `${name}: a token of another credential`)
  }
}

test('a token by a federated credential of an identity ends with what it rests on', async (t) => {
  await t.test('one process on SQLite', () => takeFederatedAway(installation, installation))
  await t.test('another replica on PostgreSQL', async (two) => {
    if (!requireOrSkip(two, findPostgres() !== undefined, howToGetPostgres)) return
    await using server = await startPostgres({ fsync: false })
    const store = await server.createDatabase()
    const environment = {
      ARMATURE_PUBLIC_URL: 'http://plane.example',
      ARMATURE_OUTBOUND: 'open',
    }
    await using first = await startInstallation({ store, environment })
    const key = readFileSync(join(first.home, 'installation.key'), 'utf8')
    await using second = await startInstallation({ store, key, environment })
    await takeFederatedAway(first, second)
  })
})

test('a token of the installation itself, which may be revoked before its time, is no assertion', async () => {
  const { clientId, clientSecret } = await createApplication(installation, 'inner')
  const secret = { grant_type: 'client_credentials', client_secret: clientSecret }
  const own = (await token({ ...secret, client_id: clientId })).body['access_token'] ?? ''
  const { iss, sub, aud } = claimsOf(own)
  const { id, clientId: outer } = await identityNamed('outer')
  const path = `${id}/federatedIdentityCredentials/itself?${version}`
  const properties = { issuer: String(iss), subject: String(sub), audiences: [aud].flat() }
  assert.equal((await installation.request('PUT', path, { body: { properties } })).status, 201)
  const { status, body } = await byAssertion(outer, own)
  assert.deepEqual([status, body['error']], [401, 'invalid_client'])
  assert.match(body['error_description'] ?? '', /token of this installation/)
})

test('an application has federated credentials by the directory API; changing what one trusts, and removing it, ends its tokens', async () => {
  const application = await createApplication(installation, 'pipeline')
  const principal = await installation.request(
    'GET',
    `/v1.0/servicePrincipals?$filter=appId eq '${application.clientId}'`,
  )
  const collection = `/v1.0/applications/${String(principal.at('value.0.id'))}/federatedIdentityCredentials`
  const body = { name: 'branch', issuer: issuerUrl, subject: 'repo:one', audiences: [audience] }
  const made = await installation.request('POST', collection, { body })
  assert.equal(made.status, 201, made.text)
  assert.equal((await installation.request('POST', collection, { body })).status, 409)
  const one = `${collection}/branch`
  const tokenOf = async (subject: string): Promise<string> => {
    const given = await byAssertion(application.clientId, assertion({ sub: subject }))
    assert.equal(given.status, 200, JSON.stringify(given.body))
    return given.body['access_token'] ?? ''
  }
  const ask = async (accessToken: string): Promise<number> =>
    (
      await installation.request('GET', '/subscriptions?api-version=2022-12-01', {
        token: accessToken,
      })
    ).status
  const change = async (changes: object): Promise<void> =>
    assert.equal((await installation.request('PATCH', one, { body: changes })).status, 204)
  const earlier = await tokenOf('repo:one')
  await change({ description: 'what it trusts stays' })
  assert.equal(await ask(earlier), 200)
  await change({ subject: 'repo:two' })
  assert.equal((await installation.request('GET', one)).at('subject'), 'repo:two')
  assert.equal(await ask(earlier), 401)
  const accessToken = await tokenOf('repo:two')
  assert.equal(await ask(accessToken), 200)
  assert.equal((await installation.request('DELETE', one)).status, 204)
  assert.equal(await ask(accessToken), 401)
})

test('a client acts on behalf of the user whose token it was called with, no longer than that lasts', async () => {
  const { clientId, clientSecret, principalId } = await createApplication(installation, 'middle')
  const ask = (fields: Record<string, string> = {}) =>
    token({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      requested_token_use: 'on_behalf_of',
      client_id: clientId,
      client_secret: clientSecret,
      assertion: installation.ownerToken,
      ...fields,
    })
  const { status, body } = await ask()
  assert.equal(status, 200, JSON.stringify(body))
  const [before, claims] = [claimsOf(installation.ownerToken), claimsOf(body['access_token'])]
  assert.equal(claims['oid'], before['oid'])
  assert.equal(claims['appid'], clientId)
  assert.ok(Number(claims['exp']) <= Number(before['exp']))
  assert.equal(claims['cred'], before['cred'])
  assert.equal((await ask({ client_secret: 'wrong' })).status, 401)
  assert.equal((await ask({ assertion: `${installation.ownerToken}x` })).status, 400)
  const own = await token({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
  })
  const app = await ask({ assertion: own.body['access_token'] ?? '' })
  assert.equal(app.body['error'], 'invalid_grant')
  // What it holds for the user ends with the application.
  const read = async (): Promise<number> => {
    const accessToken = body['access_token'] ?? ''
    const path = '/subscriptions?api-version=2022-12-01'
    return (await installation.request('GET', path, { token: accessToken })).status
  }
  assert.equal(await read(), 200)
  const gone = await installation.request('DELETE', `/directory/servicePrincipals/${principalId}`)
  assert.equal(gone.status, 204, gone.text)
  assert.equal(await read(), 401)
})

test('the metadata form of a machine answers, for the owner and for identities by each name', async () => {
  const secret = readFileSync(join(installation.home, 'local-token.secret'), 'utf8').trim()
  const { id, clientId, principalId } = await identityNamed('lent')
  const resource = encodeURIComponent(installation.url)
  const metadata = '/metadata/identity/oauth2/token'
  const ask = async (path: string, query = '', headers: Record<string, string> = {}) => {
    const url = `${installation.url}${path}?api-version=2018-02-01&resource=${resource}${query}`
    const response = await fetch(url, { headers: { Metadata: 'true', ...headers } })
    return { status: response.status, body: (await response.json()) as Record<string, string> }
  }
  const base = `/common/identity/token/${secret}${metadata}`
  const owner = await ask(base)
  assert.equal(owner.status, 200, JSON.stringify(owner.body))
  assert.equal(claimsOf(owner.body['access_token'])['oid'], installation.principalId)
  assert.equal((await ask(metadata, '', { 'X-Identity-Header': secret })).status, 200)
  // The endpoint requires the secret: any program that reaches the address could ask.
  assert.equal((await ask(metadata)).status, 401)
  for (const query of [
    `&client_id=${clientId}`,
    `&object_id=${principalId}`,
    `&msi_res_id=${encodeURIComponent(id)}`,
  ]) {
    const { status, body } = await ask(base, query)
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal(claimsOf(body['access_token'])['oid'], principalId)
    assert.equal(body['client_id'], clientId)
  }
  // Only existing identities of resources are lent.
  assert.equal((await ask(base, `&object_id=${installation.principalId}`)).status, 400)
  assert.equal((await ask(base, '&client_id=5eed0000-0000-4000-8000-000000000001')).status, 400)
})
