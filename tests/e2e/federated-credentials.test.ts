/** Sign-in with tokens of another issuer, on behalf of a user, and as a managed identity by each of its names. */

import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createApplication, createResourceGroup } from './access.ts'
import { type Installation, startInstallation } from './installation.ts'

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

async function token(fields: Record<string, string>) {
  const response = await fetch(`${installation.url}/${installation.tenantId}/oauth2/v2.0/token`, {
    method: 'POST',
    body: new URLSearchParams({ scope: `${installation.url}/.default`, ...fields }),
  })
  const body = (await response.json()) as Readonly<Record<string, string>>
  return { status: response.status, body }
}

function byAssertion(clientId: string, text: string) {
  return token({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: text,
  })
}

function claimsOf(accessToken = ''): Readonly<Record<string, unknown>> {
  return JSON.parse(Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString())
}

async function identityNamed(name: string) {
  const id = `${group}/providers/Vendor.ManagedIdentity/userAssignedIdentities/${name}`
  const path = `${id}?${version}`
  await installation.request('PUT', path, { body: { location: 'local' } })
  for (;;) {
    const answer = await installation.request('GET', path)
    if (answer.at('properties.provisioningState') !== 'Creating') {
      const clientId = String(answer.at('properties.clientId'))
      return { id, clientId, principalId: String(answer.at('properties.principalId')) }
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
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

test('an application has federated credentials by the directory API; removing one ends its tokens', async () => {
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
  const changes = { subject: 'repo:two' }
  assert.equal((await installation.request('PATCH', one, { body: changes })).status, 204)
  assert.equal((await installation.request('GET', one)).at('subject'), 'repo:two')
  const { status, body: given } = await byAssertion(
    application.clientId,
    assertion({ sub: 'repo:two' }),
  )
  assert.equal(status, 200, JSON.stringify(given))
  const accessToken = given['access_token'] ?? ''
  const ask = () =>
    installation.request('GET', '/subscriptions?api-version=2022-12-01', { token: accessToken })
  assert.equal((await ask()).status, 200)
  assert.equal((await installation.request('DELETE', one)).status, 204)
  assert.equal((await ask()).status, 401)
})

test('a client acts on behalf of the user whose token it was called with, no longer than that lasts', async () => {
  const { clientId, clientSecret } = await createApplication(installation, 'middle')
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
