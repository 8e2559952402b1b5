/**
 * Tokens over time: refreshed before they expire, an error when the identity provider refuses, codes that come too
 * late. The identity provider is a real installation; the clock of ours is moved.
 */

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createBrowser } from '../../src/identity/testing/browser.ts'
import { defaultLimits } from '../../src/kernel/limits.ts'
import { silentLog } from '../../src/kernel/ports.ts'
import { contractWords } from '../../src/kernel/vendor.ts'
import { openTokenEndpoint } from '../../src/main/token-endpoint.ts'
import { openWay } from '../../src/outbound/testing/ways.ts'
import { createPlane } from '../../src/plane/create-plane.ts'
import type { Method, Outcome } from '../../src/plane/plane.ts'
import { memoryStore, owner, realTimers } from '../../src/plane/testing/start.ts'
import { realIds, testSeal, testWorld } from '../../src/plane/testing/world.ts'
import { refreshDue } from '../../src/providers/api-management/authorizations/background.ts'
import { openConsentFlow } from '../../src/providers/api-management/authorizations/flow.ts'
import type { Authorization } from '../../src/providers/api-management/authorizations/model.ts'
import { openTokens } from '../../src/providers/api-management/authorizations/tokens.ts'
import { apiManagementProvider } from '../../src/providers/api-management/provider.ts'
import { resourcesProvider } from '../../src/providers/resources/provider.ts'
import { type Installation, startInstallation } from './installation.ts'

const service =
  '/subscriptions/11111111-2222-4333-8444-555555555555/resourceGroups/rg/providers/Vendor.ApiManagement/service/one'
const provider = `${service}/authorizationProviders/p`
const connection = `${provider}/authorizations/me`
const callback = 'http://127.0.0.1:9/consent/callback'

let theirs: Installation
let client: { clientId: string; clientSecret: string; principalId: string }

before(async () => {
  theirs = await startInstallation()
  const made = await theirs.cli([
    ...['principal', 'create', '--type', 'ServicePrincipal', '--name', 'Pets', '--json'],
    ...['--redirect-uri', callback],
  ])
  client = JSON.parse(made.out)
})

after(() => theirs[Symbol.asyncDispose]())

async function open() {
  const store = await memoryStore()
  let ahead = 0
  const clock = { now: () => Date.now() + ahead }
  const consentOf = (services: Parameters<typeof testWorld>[1]) => ({
    ...testWorld(store, services, { clock }),
    seal: testSeal,
    tokens: openTokenEndpoint({
      outbound: openWay,
      publicUrl: () => 'http://127.0.0.1:9',
    }),
    redirects: [],
    publicUrl: () => 'http://127.0.0.1:9',
  })
  const plane = createPlane({
    providers: (services) => [
      resourcesProvider({ tenantId: owner.tenantId, ...services }),
      apiManagementProvider(consentOf(services)),
    ],
    store,
    access: { allows: () => true },
    words: contractWords,
    clock,
    ids: realIds,
    log: silentLog,
    limits: defaultLimits,
    tokenKey: new Uint8Array(32),
    scopes: 'implicit',
    timers: realTimers,
  })
  const call = async (
    method: Method,
    path: string,
    body?: unknown,
    preconditions: { readonly ifMatch?: string } = {},
  ): Promise<Outcome> => {
    const url = new URL(`${path}?api-version=2024-05-01`, 'http://plane')
    const route = plane.locate(method, url.pathname, url.searchParams)
    const pending = await plane.authorize(route, owner, 'c')
    const query = url.searchParams
    return plane.run(route, {
      principal: owner,
      query,
      body,
      preconditions,
      correlationId: 'c',
      pending,
    })
  }
  const parts = consentOf(plane.services)
  const flow = openConsentFlow(parts)
  await call('PUT', service, {
    location: 'local',
    sku: { name: 'Developer' },
    properties: { publisherEmail: 'a@example.test', publisherName: 'A' },
  })
  const grant = {
    clientId: client.clientId,
    clientSecret: client.clientSecret,
    scopes: 'user_impersonation offline_access',
    authorizationUrl: `${theirs.url}/common/oauth2/authorize`,
    tokenUrl: `${theirs.url}/common/oauth2/token`,
  }
  await call('PUT', provider, {
    properties: {
      identityProvider: 'oauth2',
      oauth2: { redirectUrl: callback, grantTypes: { authorizationCode: grant } },
    },
  })
  await call('PUT', connection, { properties: {} })
  return {
    call,
    parts,
    pass(milliseconds: number) {
      ahead += milliseconds
    },
    properties: async () =>
      JSON.parse(JSON.stringify((await call('GET', connection)).body)).properties,
    /** From a link to a consent code, by way of the identity provider. */
    async consentCode(): Promise<string> {
      const { body } = await call('POST', `${connection}/getLoginLinks`, {
        postLoginRedirectUrl: 'http://127.0.0.1:9/done',
      })
      const link =
        String(JSON.parse(JSON.stringify(body)).loginLink)
          .split('/')
          .at(-1) ?? ''
      const step = await flow.proceed(link)
      assert.equal(step.kind, 'go')
      if (step.kind !== 'go') return ''
      const browser = createBrowser(theirs.url)
      const { signInName, password } = theirs.owner
      const asked = await browser.submit(await browser.open(step.to), {
        ...{ name: signInName, password, do: 'sign-in' },
      })
      const at =
        asked.action === '' ? asked.url : (await browser.submit(asked, { do: 'allow' })).url
      const back = await flow.back({
        state: at.searchParams.get('state') ?? '',
        code: at.searchParams.get('code') ?? undefined,
        error: undefined,
        kept: () => step.keep?.value,
      })
      return back.kind === 'go' ? (new URL(back.to).searchParams.get('consentCode') ?? '') : ''
    },
    async [Symbol.asyncDispose]() {
      await plane[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
    },
  }
}

test('a code is too late after five minutes, a link after an hour', async () => {
  await using world = await open()
  const consentCode = await world.consentCode()
  assert.match(consentCode, /^c.{43}$/)
  world.pass(5 * 60_000 + 1)
  await assert.rejects(
    () => world.call('POST', `${connection}/confirmConsentCode`, { consentCode }),
    { code: 'ConsentCodeExpired' },
  )
  assert.equal((await world.properties()).status, 'Error')
  const { body } = await world.call('POST', `${connection}/getLoginLinks`, {
    postLoginRedirectUrl: 'http://127.0.0.1:9/done',
  })
  const link =
    String(JSON.parse(JSON.stringify(body)).loginLink)
      .split('/')
      .at(-1) ?? ''
  assert.equal((await openConsentFlow(world.parts).open(link)).kind, 'ask')
  world.pass(60 * 60_000 + 1)
  assert.equal((await openConsentFlow(world.parts).open(link)).kind, 'stop')
})

test('a token is refreshed before it expires, and once though two look', async () => {
  await using world = await open()
  const consentCode = await world.consentCode()
  await world.call('POST', `${connection}/confirmConsentCode`, { consentCode })
  await world.call('PUT', `${connection}/accessPolicies/o`, {
    properties: { tenantId: owner.tenantId, objectId: owner.id },
  })
  const token = async () =>
    JSON.parse(JSON.stringify((await world.call('POST', `${connection}/getToken`)).body))
  const first = await token()
  assert.deepEqual(await token(), first)
  await refreshDue(world.parts)
  assert.deepEqual(await token(), first)
  const left = Date.parse(first.expiresOn) - Date.now()
  world.pass(left - 4 * 60_000)
  await Promise.all([refreshDue(world.parts), refreshDue(world.parts)])
  const second = await token()
  assert.notEqual(second.accessToken, first.accessToken)
  assert.equal((await world.properties()).status, 'Connected')
  // Writing it again keeps the connection.
  const written = { properties: { parameters: { a: 'b' } } }
  await world.call('PUT', connection, written, { ifMatch: '*' })
  assert.deepEqual((await world.properties()).parameters, { a: 'b' })
  assert.equal((await token()).accessToken, second.accessToken)
})

test('a refusal of the identity provider shows as an error, with its reason', async () => {
  await using world = await open()
  const consentCode = await world.consentCode()
  await world.call('POST', `${connection}/confirmConsentCode`, { consentCode })
  assert.equal((await world.properties()).status, 'Connected')
  const disabled = await theirs.cli(['principal', 'disable', client.principalId])
  assert.equal(disabled.code, 0, disabled.error)
  world.pass(56 * 60_000)
  await refreshDue(world.parts)
  const { status, error } = await world.properties()
  assert.equal(status, 'Error')
  assert.equal(error.code, 'RefreshFailed')
  assert.match(error.message, /refused/)
  await theirs.cli(['principal', 'enable', client.principalId])
})

test('a refresh token that was revoked shows as an error too', async () => {
  await using world = await open()
  const consentCode = await world.consentCode()
  await world.call('POST', `${connection}/confirmConsentCode`, { consentCode })
  const stored = await world.parts.services.reader.get(connection)
  assert.ok(stored !== undefined)
  const { tokens } = stored.model as Authorization
  assert.ok(tokens !== undefined)
  const { refreshToken = '' } = openTokens(testSeal, connection.toLowerCase(), tokens)
  const revoked = await fetch(`${theirs.url}/common/oauth2/revoke`, {
    method: 'POST',
    body: new URLSearchParams({
      token: refreshToken,
      client_id: client.clientId,
      client_secret: client.clientSecret,
    }),
  })
  assert.equal(revoked.status, 200, await revoked.text())
  world.pass(56 * 60_000)
  await refreshDue(world.parts)
  const { status, error } = await world.properties()
  assert.equal(status, 'Error')
  assert.match(error.message, /invalid_grant/)
})

test('a provider that leads elsewhere gets neither the tokens nor the secret that were for another', async () => {
  await using world = await open()
  const consentCode = await world.consentCode()
  await world.call('POST', `${connection}/confirmConsentCode`, { consentCode })
  const grant = {
    clientId: client.clientId,
    scopes: 'user_impersonation offline_access',
    authorizationUrl: `${theirs.url}/common/oauth2/authorize`,
    tokenUrl: 'http://127.0.0.1:9/elsewhere',
  }
  const bodyOf = (parameters: object): object => ({
    properties: {
      identityProvider: 'oauth2',
      oauth2: { redirectUrl: callback, grantTypes: { authorizationCode: parameters } },
    },
  })
  const any = { ifMatch: '*' }
  await assert.rejects(() => world.call('PUT', provider, bodyOf(grant), any), {
    code: 'ValidationError',
    message: /clientSecret/,
  })
  await world.call('PUT', provider, bodyOf({ ...grant, clientSecret: 'another' }), any)
  world.pass(56 * 60_000)
  await refreshDue(world.parts)
  const { status, error } = await world.properties()
  assert.equal(status, 'Error')
  assert.equal(error.code, 'ProviderChanged')
})
