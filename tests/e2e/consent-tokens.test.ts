/**
 * Tokens over time: refreshed before they expire, an error when the identity provider refuses, codes that come too
 * late. The identity provider is a real installation, and our clock is moved.
 */

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, before, type TestContext, test } from 'node:test'
import { realIds, testProviderContext, testSeal } from '#plane/testing/provider-context.ts'
import { openConsentFlow, type Step } from '#providers/api-management/domain/consent/flow.ts'
import { sealedFor } from '#providers/api-management/domain/consent/model.ts'
import { refreshDue } from '#providers/api-management/domain/consent/refresh-tokens.ts'
import { openTokens } from '#providers/api-management/domain/consent/tokens.ts'
import type { Authorization } from '#providers/api-management/resources/authorizations/model.ts'
import { createBrowser } from '../../src/identity/testing/browser.ts'
import { defaultLimits } from '../../src/kernel/limits.ts'
import { silentLog } from '../../src/kernel/ports.ts'
import { contractWords } from '../../src/kernel/vendor.ts'
import { openTokenEndpoint } from '../../src/main/token-endpoint.ts'
import { openWay } from '../../src/outbound/testing/ways.ts'
import { createPlane } from '../../src/plane/create-plane.ts'
import type { Method, Outcome } from '../../src/plane/plane.ts'
import { memoryStore, owner, realTimers } from '../../src/plane/testing/start.ts'
import { apiManagementProvider } from '../../src/providers/api-management/provider.ts'
import { unasked } from '../../src/providers/api-management/testing/unasked.ts'
import { resourcesProvider } from '../../src/providers/resources/provider.ts'
import { openPostgres } from '../../src/stores/postgres/open.ts'
import type { Store } from '../../src/stores/store.ts'
import {
  findPostgres,
  howToGetPostgres,
  startPostgres,
} from '../../src/stores/testing/postgres-server.ts'
import { requireOrSkip } from '../require.ts'
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

function providerBody(authorizationCode: object): object {
  return {
    properties: {
      identityProvider: 'oauth2',
      oauth2: { redirectUrl: callback, grantTypes: { authorizationCode } },
    },
  }
}

async function open(given?: Store) {
  const store = given ?? (await memoryStore())
  let ahead = 0
  const clock = { now: () => Date.now() + ahead }
  const consentOf = (services: Parameters<typeof testProviderContext>[1]) => ({
    ...testProviderContext(store, services, { clock }),
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
      apiManagementProvider({ ...unasked, ...consentOf(services) }),
    ],
    store,
    access: { allows: () => true },
    words: contractWords,
    clock,
    ids: realIds,
    log: silentLog,
    limits: defaultLimits,
    tokenKeys: () => [new Uint8Array(32)],
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
  await call('PUT', provider, providerBody(grant))
  await call('PUT', connection, { properties: {} })
  return {
    call,
    parts,
    pass(milliseconds: number) {
      ahead += milliseconds
    },
    properties: async () =>
      JSON.parse(JSON.stringify((await call('GET', connection)).body)).properties,
    /** Writes the provider again with other parameters. */
    lead: (parameters: object) =>
      call('PUT', provider, providerBody({ ...grant, ...parameters }), { ifMatch: '*' }),
    /** From a login link to a consent code, through the identity provider. */
    async consentCode(): Promise<string> {
      const back = await (await this.beginSignIn())()
      return back.kind === 'go' ? (new URL(back.to).searchParams.get('consentCode') ?? '') : ''
    },
    /** The person has signed in at the identity provider. The returned function brings the browser back to us. */
    async beginSignIn(): Promise<() => Promise<Step>> {
      const { body } = await call('POST', `${connection}/getLoginLinks`, {
        postLoginRedirectUrl: 'http://127.0.0.1:9/done',
      })
      const link =
        String(JSON.parse(JSON.stringify(body)).loginLink)
          .split('/')
          .at(-1) ?? ''
      const step = await flow.proceed(link)
      assert.ok(step.kind === 'go')
      const browser = createBrowser(theirs.url)
      const { signInName, password } = theirs.owner
      const asked = await browser.submit(await browser.open(step.to), {
        ...{ name: signInName, password, do: 'sign-in' },
      })
      const at =
        asked.action === '' ? asked.url : (await browser.submit(asked, { do: 'allow' })).url
      return () =>
        flow.back({
          state: at.searchParams.get('state') ?? '',
          code: at.searchParams.get('code') ?? undefined,
          error: undefined,
          kept: () => step.keep?.value,
        })
    },
    async [Symbol.asyncDispose]() {
      await plane[Symbol.asyncDispose]()
      if (given === undefined) await store[Symbol.asyncDispose]()
    },
  }
}

test('a code is too late after five minutes, a link after an hour', async () => {
  await using fixture = await open()
  const consentCode = await fixture.consentCode()
  assert.match(consentCode, /^c.{43}$/)
  fixture.pass(5 * 60_000 + 1)
  await assert.rejects(
    () => fixture.call('POST', `${connection}/confirmConsentCode`, { consentCode }),
    { code: 'ConsentCodeExpired' },
  )
  assert.equal((await fixture.properties()).status, 'Error')
  const { body } = await fixture.call('POST', `${connection}/getLoginLinks`, {
    postLoginRedirectUrl: 'http://127.0.0.1:9/done',
  })
  const link =
    String(JSON.parse(JSON.stringify(body)).loginLink)
      .split('/')
      .at(-1) ?? ''
  assert.equal((await openConsentFlow(fixture.parts).open(link)).kind, 'ask')
  fixture.pass(60 * 60_000 + 1)
  assert.equal((await openConsentFlow(fixture.parts).open(link)).kind, 'stop')
})

test('a token is refreshed before it expires, and once though two look', async () => {
  await using fixture = await open()
  const consentCode = await fixture.consentCode()
  await fixture.call('POST', `${connection}/confirmConsentCode`, { consentCode })
  await fixture.call('PUT', `${connection}/accessPolicies/o`, {
    properties: { tenantId: owner.tenantId, objectId: owner.id },
  })
  const token = async () =>
    JSON.parse(JSON.stringify((await fixture.call('POST', `${connection}/getToken`)).body))
  const first = await token()
  assert.deepEqual(await token(), first)
  await refreshDue(fixture.parts)
  assert.deepEqual(await token(), first)
  const left = Date.parse(first.expiresOn) - Date.now()
  fixture.pass(left - 4 * 60_000)
  await Promise.all([refreshDue(fixture.parts), refreshDue(fixture.parts)])
  const second = await token()
  assert.notEqual(second.accessToken, first.accessToken)
  assert.equal((await fixture.properties()).status, 'Connected')
  // Writing the provider again keeps the connection.
  const written = { properties: { parameters: { a: 'b' } } }
  await fixture.call('PUT', connection, written, { ifMatch: '*' })
  assert.deepEqual((await fixture.properties()).parameters, { a: 'b' })
  assert.equal((await token()).accessToken, second.accessToken)
})

test('a token is refreshed although a rotation of the key seals it anew meanwhile', async () => {
  await using fixture = await open()
  const { parts } = fixture
  const body = { consentCode: await fixture.consentCode() }
  await fixture.call('POST', `${connection}/confirmConsentCode`, body)
  const key = connection.toLowerCase()
  const tokensNow = async () =>
    ((await parts.services.reader.get(key))?.model as Authorization | undefined)?.tokens
  const tokens = (await tokensNow()) ?? assert.fail()
  const text = testSeal.open(tokens.sealed, sealedFor.tokens(key)) ?? assert.fail()
  const anew = { ...tokens, sealed: testSeal.seal(text, sealedFor.tokens(key)) }
  const ask: typeof parts.tokens.ask = async (...given) => {
    await parts.services.updateAsSystem(key, ({ model }) => ({ ...Object(model), tokens: anew }))
    return parts.tokens.ask(...given)
  }
  fixture.pass(57 * 60_000)
  await refreshDue({ ...parts, tokens: { ask } })
  assert.ok(Number((await tokensNow())?.expiresAt) > tokens.expiresAt)
})

test('a refusal of the identity provider shows as an error, with its reason', async () => {
  await using fixture = await open()
  const consentCode = await fixture.consentCode()
  await fixture.call('POST', `${connection}/confirmConsentCode`, { consentCode })
  assert.equal((await fixture.properties()).status, 'Connected')
  const disabled = await theirs.cli(['principal', 'disable', client.principalId])
  assert.equal(disabled.code, 0, disabled.error)
  fixture.pass(56 * 60_000)
  await refreshDue(fixture.parts)
  const { status, error } = await fixture.properties()
  assert.equal(status, 'Error')
  assert.equal(error.code, 'RefreshFailed')
  assert.match(error.message, /refused/)
  await theirs.cli(['principal', 'enable', client.principalId])
})

test('a refresh token that was revoked shows as an error too', async () => {
  await using fixture = await open()
  const consentCode = await fixture.consentCode()
  await fixture.call('POST', `${connection}/confirmConsentCode`, { consentCode })
  const stored = await fixture.parts.services.reader.get(connection)
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
  fixture.pass(56 * 60_000)
  await refreshDue(fixture.parts)
  const { status, error } = await fixture.properties()
  assert.equal(status, 'Error')
  assert.match(error.message, /invalid_grant/)
})

/** Two connections by client credentials, to token endpoints that say how long their tokens live. */
test('tokens that end in a million years keep nobody from new ones', async () => {
  await using fixture = await open()
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    const seconds = request.url === '/far' ? 1e15 : 60
    response.end(`{"access_token":"t","token_type":"Bearer","expires_in":${seconds}}`)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const far = `${service}/authorizationProviders/far/authorizations/n`
  for (const name of ['far', 'near']) {
    const tokenUrl = `http://127.0.0.1:${address.port}/${name}`
    const oauth2 = { grantTypes: { clientCredentials: { clientId: 'c', tokenUrl } } }
    const at = `${service}/authorizationProviders/${name}`
    await fixture.call('PUT', at, { properties: { identityProvider: 'oauth2', oauth2 } })
    const body = { authorizationType: 'OAuth2', oauth2grantType: 'ClientCredentials' }
    await fixture.call('PUT', `${at}/authorizations/n`, { properties: body })
  }
  const { services } = fixture.parts
  const endOf = async () => {
    const { model } = (await services.reader.get(far)) ?? assert.fail()
    return (model as Authorization).tokens?.expiresAt
  }
  assert.equal(typeof (await endOf()), 'number')
  // As an earlier version kept it: such a number is read as a BigInt.
  await services.updateAsSystem(far, ({ model }) => {
    const { tokens, ...rest } = model as Authorization
    return { ...rest, tokens: { ...tokens, expiresAt: 1e18 } }
  })
  assert.equal(typeof (await endOf()), 'bigint')
  const policy = { tenantId: owner.tenantId, objectId: owner.id }
  await fixture.call('PUT', `${far}/accessPolicies/me`, { properties: policy })
  const { body } = await fixture.call('POST', `${far}/getToken`)
  assert.equal((body as { readonly expiresOn: string }).expiresOn, '+275760-09-13T00:00:00.000Z')
  asked.length = 0
  await refreshDue(fixture.parts)
  assert.deepEqual(asked, ['/near'])
  server.close()
})

/** The store, but for one of its members. */
function withMember<N extends keyof Store>(store: Store, changed: N, as: Store[N]): Store {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = name === changed ? as : Reflect.get(target, name)
      // Stores have private members, so their methods are bound to them.
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

test('connections that are large together are not read together', async () => {
  const inner = await memoryStore()
  let lists = 0
  const list: Store['list'] = async (query) => {
    if (query.type?.endsWith('/authorizations') === true) lists++
    return await inner.list(query)
  }
  await using fixture = await open(withMember(inner, 'list', list))
  const texts = Array.from({ length: 50 }, (_, at) => [`p${at}`, 'x'.repeat(4096)] as const)
  for (let at = 0; at < 12; at++) {
    const properties = { parameters: Object.fromEntries(texts) }
    await fixture.call('PUT', `${provider}/authorizations/large${at}`, { properties })
  }
  await refreshDue(fixture.parts)
  assert.ok(lists > 1)
  lists = 0
  // A round that ends with the server goes no further than what it has read.
  await refreshDue(fixture.parts, () => true)
  assert.equal(lists, 1)
})

test('of connections whose links anybody opens, a few are read at once', async () => {
  const inner = await memoryStore()
  let [reading, most] = [0, 0]
  const get: Store['get'] = async (key) => {
    if (!key.endsWith('/authorizations/me')) return inner.get(key)
    most = Math.max(most, ++reading)
    await new Promise(setImmediate)
    reading--
    return inner.get(key)
  }
  await using fixture = await open(withMember(inner, 'get', get))
  const given = { postLoginRedirectUrl: 'http://127.0.0.1:9/done' }
  const { body } = await fixture.call('POST', `${connection}/getLoginLinks`, given)
  const link = String(Object(body).loginLink).split('/').at(-1) ?? ''
  const flow = openConsentFlow(fixture.parts)
  most = 0
  const steps = await Promise.all(Array.from({ length: 12 }, () => flow.open(link)))
  assert.ok(steps.every(({ kind }) => kind === 'ask'))
  assert.equal(most, 2)
})

/** Somebody else's token endpoint, which keeps all it receives. */
test('an identity provider that does not answer holds up no other resource group', async () => {
  await using fixture = await open()
  let isSlow = false
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    if (isSlow && request.url === '/slow') return
    response.end('{"access_token":"t","token_type":"Bearer","expires_in":60}')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const connect = async (group: string, path: string, names: readonly string[]): Promise<void> => {
    const at = service.replace('/rg/', `/${group}/`)
    await fixture.call('PUT', at, {
      location: 'local',
      sku: { name: 'Developer' },
      properties: { publisherEmail: 'a@example.test', publisherName: 'A' },
    })
    const tokenUrl = `http://127.0.0.1:${address.port}${path}`
    const clientCredentials = { clientId: 'c', clientSecret: 's', tokenUrl }
    const oauth2 = { grantTypes: { clientCredentials } }
    const properties = { identityProvider: 'oauth2', oauth2 }
    await fixture.call('PUT', `${at}/authorizationProviders/p`, { properties })
    for (const name of names) {
      const authorization = `${at}/authorizationProviders/p/authorizations/${name}`
      const body = { authorizationType: 'OAuth2', oauth2grantType: 'ClientCredentials' }
      await fixture.call('PUT', authorization, { properties: body })
    }
  }
  await connect(
    'a',
    '/slow',
    Array.from({ length: 16 }, (_, at) => `n${at}`),
  )
  await connect('z', '/quick', ['n'])
  isSlow = true
  asked.length = 0
  const round = refreshDue(fixture.parts)
  const before = Date.now()
  while (!asked.includes('/quick')) {
    assert.ok(asked.length <= 8 && Date.now() - before < 5000, asked.join())
    await new Promise((done) => setTimeout(done, 10))
  }
  server.closeAllConnections()
  isSlow = false
  await round
  server.close()
})

async function openTrap() {
  let told = ''
  const server = createServer((request, response) => {
    request.setEncoding('utf8')
    request.on('data', (text) => {
      told += text
    })
    request.on('end', () => response.writeHead(400).end('{"error":"invalid_grant"}'))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return {
    url: `http://127.0.0.1:${address.port}/token`,
    told: () => told,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

const stores: Readonly<Record<string, (body: (store: Store) => Promise<void>) => Promise<void>>> = {
  async SQLite(body) {
    await using store = await memoryStore()
    await body(store)
  },
  async PostgreSQL(body) {
    await using server = await startPostgres({ fsync: false })
    await using store = await openPostgres({
      url: await server.createDatabase(),
      poolSize: 4,
      clock: Date,
      migrations: [],
      words: contractWords,
      transactionRetriesMax: defaultLimits.transactionRetriesMax,
    })
    await body(store)
  },
}

for (const [kind, on] of Object.entries(stores)) {
  const row = (title: string, body: (store: Store) => Promise<void>): void => {
    test(`${title}, on ${kind}`, async (t: TestContext) => {
      const isThere = kind === 'SQLite' || findPostgres() !== undefined
      if (requireOrSkip(t, isThere, howToGetPostgres)) await on(body)
    })
  }

  row('a provider that leads elsewhere gets neither the tokens nor the secret', async (store) => {
    await using fixture = await open(store)
    await using trap = await openTrap()
    const consentCode = await fixture.consentCode()
    await fixture.call('POST', `${connection}/confirmConsentCode`, { consentCode })
    await assert.rejects(() => fixture.lead({ tokenUrl: trap.url, clientSecret: undefined }), {
      code: 'ValidationError',
      message: /clientSecret/,
    })
    await fixture.lead({ tokenUrl: trap.url, clientSecret: 'another' })
    fixture.pass(56 * 60_000)
    await refreshDue(fixture.parts)
    const { status, error } = await fixture.properties()
    assert.equal(trap.told(), '')
    assert.equal(status, 'Error')
    assert.equal(error.code, 'ProviderChanged')
    // New consent at the changed address connects it again.
    await fixture.lead({})
    const again = await fixture.consentCode()
    await fixture.call('POST', `${connection}/confirmConsentCode`, { consentCode: again })
    assert.equal((await fixture.properties()).status, 'Connected')
  })

  row('the code of a sign-in goes to the provider that it began with alone', async (store) => {
    await using fixture = await open(store)
    await using trap = await openTrap()
    const comeBack = await fixture.beginSignIn()
    await fixture.lead({ tokenUrl: trap.url, clientSecret: 'another' })
    const step = await comeBack()
    assert.equal(trap.told(), '')
    assert.equal(step.kind, 'stop')
    assert.match(step.kind === 'stop' ? step.reason : '', /leads elsewhere/)
    assert.equal((await fixture.properties()).status, 'Error')
  })
}
