/**
 * Consent that a person really gave: the identity provider is a second installation, and the browser is played over
 * HTTP, with its cookies and forms.
 */

import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { type Browser, createBrowser, type Visit } from '../../src/identity/testing/browser.ts'
import {
  findPostgres,
  howToGetPostgres,
  startPostgres,
} from '../../src/stores/testing/postgres-server.ts'
import { someOf } from '../long.ts'
import { requireOrSkip } from '../require.ts'
import { createResourceGroup } from './access.ts'
import { type Answer, freshHome, type Installation, startInstallation } from './installation.ts'

let ours: Installation
let theirs: Installation
let client: { clientId: string; clientSecret: string }
let service: string

const done = 'http://127.0.0.1:9/done'
const version = 'api-version=2024-05-01'

before(async () => {
  ours = await startInstallation()
  theirs = await startInstallation()
  const group = `/subscriptions/${ours.subscriptionId}/resourceGroups/consent`
  await createResourceGroup(ours, group)
  service = `${group}/providers/Vendor.ApiManagement/service/one`
  const properties = { publisherEmail: 'a@example.test', publisherName: 'A' }
  await put(service, { location: 'local', sku: { name: 'Developer' }, properties })
  client = await application(ours.url)
})

/** An application at the identity provider, to which nobody has consented yet. */
async function application(of: string): Promise<{ clientId: string; clientSecret: string }> {
  const made = await theirs.cli([
    ...['principal', 'create', '--type', 'ServicePrincipal', '--name', 'Pets', '--json'],
    ...['--redirect-uri', `${of}/consent/callback`],
  ])
  assert.equal(made.code, 0, made.error)
  return JSON.parse(made.out)
}

after(async () => {
  await ours[Symbol.asyncDispose]()
  await theirs[Symbol.asyncDispose]()
})

async function put(path: string, body: object, headers = {}): Promise<Answer> {
  const answer = await ours.request('PUT', `${path}?${version}`, { body, headers })
  assert.ok([200, 201].includes(answer.status), answer.text)
  return answer
}

function providerBody(grant: 'authorizationCode' | 'clientCredentials', more: object = {}): object {
  return {
    properties: {
      displayName: 'The other installation',
      identityProvider: 'oauth2',
      oauth2: {
        grantTypes: {
          [grant]: {
            clientId: client.clientId,
            clientSecret: client.clientSecret,
            scopes: 'user_impersonation offline_access',
            authorizationUrl: `${theirs.url}/common/oauth2/authorize`,
            tokenUrl: `${theirs.url}/common/oauth2/token`,
            ...more,
          },
        },
      },
    },
  }
}

/** Creates a provider with an authorization, and returns the path of the authorization. */
async function connection(
  name: string,
  grant: 'authorizationCode' | 'clientCredentials' = 'authorizationCode',
  more: object = {},
): Promise<string> {
  const provider = `${service}/authorizationProviders/${name}`
  await put(provider, providerBody(grant, more))
  const path = `${provider}/authorizations/me`
  await put(path, { properties: { authorizationType: 'OAuth2' } })
  return path
}

const post = (path: string, body?: object): Promise<Answer> =>
  ours.request('POST', `${path}?${version}`, body === undefined ? {} : { body })
const stateOf = async (path: string): Promise<unknown> =>
  (await ours.request('GET', `${path}?${version}`)).at('properties.status')

async function linkOf(path: string): Promise<string> {
  const answer = await post(`${path}/getLoginLinks`, { postLoginRedirectUrl: done })
  assert.equal(answer.status, 200, answer.text)
  assert.match(answer.headers.get('etag') ?? '', /^".+"$/)
  return String(answer.at('loginLink'))
}

/** At the identity provider: signs in, chooses, and returns the redirect. */
async function answerThere(address: URL, choice: 'allow' | 'cancel'): Promise<URL> {
  const browser = createBrowser(theirs.url)
  const { signInName, password } = theirs.owner
  const first = await browser.open(address.href)
  assert.match(first.body, /<h1>Sign in<\/h1>/)
  const asked = await browser.submit(first, { name: signInName, password, do: 'sign-in' })
  // The identity provider remembers consent: the second time it asks nothing.
  if (asked.url.origin !== theirs.url) return asked.url
  assert.match(asked.body, /<h1>Allow Pets\?<\/h1>/)
  return (await browser.submit(asked, { do: choice })).url
}

/** Follows the link past the anti-phishing page to the identity provider. */
async function goOn(browser: Browser, link: string): Promise<URL> {
  const page = await browser.open(link)
  // Once consent was confirmed, there is no such page.
  if (page.url.origin !== ours.url) return page.url
  assert.match(page.body, /Do you know who sent you this link\?/)
  return (await browser.submit(page, { do: 'continue' })).url
}

async function codeOf(path: string): Promise<string> {
  const browser = createBrowser(ours.url)
  const there = await goOn(browser, await linkOf(path))
  const back = await answerThere(there, 'allow')
  return consentCodeAt(await browser.open(back.href))
}

function consentCodeAt({ url, body }: Visit): string {
  assert.ok(url.href.startsWith(done), `${url} ${body}`)
  return url.searchParams.get('consentCode') ?? ''
}

const confirm = (path: string, consentCode?: unknown): Promise<Answer> =>
  post(`${path}/confirmConsentCode`, consentCode === undefined ? {} : { consentCode })

test('from a login link to a confirmed code: connected, once, and no page the next time', async () => {
  const path = await connection('whole')
  assert.equal(await stateOf(path), 'Error')
  const before = await ours.request('GET', `${path}?${version}`)
  assert.equal(before.at('properties.error.code'), 'Unauthenticated')
  const browser = createBrowser(ours.url)
  const link = await linkOf(path)
  const page = await browser.open(link)
  for (const told of [
    'one',
    'me',
    'The other installation',
    new URL(theirs.url).host,
    '127.0.0.1:9',
  ]) {
    assert.ok(page.body.includes(told), told)
  }
  const there = await goOn(browser, link)
  assert.equal(there.origin, theirs.url)
  assert.equal(there.searchParams.get('code_challenge_method'), 'S256')
  const consentCode = consentCodeAt(await browser.open((await answerThere(there, 'allow')).href))
  assert.match(consentCode, /^c[A-Za-z0-9_-]{43}$/)
  assert.equal(await stateOf(path), 'Error')
  const confirmed = await confirm(path, consentCode)
  assert.equal(confirmed.status, 200, confirmed.text)
  assert.equal(confirmed.text, '')
  assert.match(confirmed.headers.get('etag') ?? '', /^".+"$/)
  assert.equal(await stateOf(path), 'Connected')
  const again = await confirm(path, consentCode)
  assert.equal(again.status, 400)
  assert.equal(again.at('error.code'), 'ConsentCodeUsed')
  // The link has been used.
  assert.match((await browser.open(link)).body, /not valid any more/)
  // Consent was confirmed, so the next link goes straight to the identity provider.
  const straight = await browser.open(await linkOf(path))
  assert.equal(straight.url.origin, theirs.url)
  const shown = await ours.request('GET', `${path}?${version}`)
  assert.ok(!shown.text.includes('oken'), shown.text)
})

test('the page is shown again when the provider leads elsewhere, or wants more', async () => {
  const path = await connection('moves')
  assert.equal((await confirm(path, await codeOf(path))).status, 200)
  const opened = async (): Promise<number> =>
    (await fetch(await linkOf(path), { redirect: 'manual' })).status
  assert.equal(await opened(), 303)
  const elsewhere = { authorizationUrl: 'https://elsewhere.example/sign-in' }
  const other = { scopes: 'everything' }
  for (const more of [elsewhere, other, {}]) {
    const provider = path.slice(0, path.indexOf('/authorizations/'))
    await put(provider, providerBody('authorizationCode', more), { 'If-Match': '*' })
    assert.equal(await opened(), 'scopes' in more || 'authorizationUrl' in more ? 200 : 303)
  }
})

test('a form of another page does not pass the anti-phishing page by', async () => {
  const link = await linkOf(await connection('forms'))
  const send = async (headers: Readonly<Record<string, string>>): Promise<number> => {
    const body = new URLSearchParams({ do: 'continue' })
    return (await fetch(link, { method: 'POST', redirect: 'manual', headers, body })).status
  }
  for (const headers of [
    { origin: 'null' },
    { origin: 'null', 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
    { origin: ours.url, 'sec-fetch-site': 'cross-site' },
  ]) {
    assert.equal(await send(headers), 403, JSON.stringify(headers))
  }
  const page = await fetch(link)
  assert.equal(page.headers.get('referrer-policy'), 'same-origin')
  for (const headers of [{ origin: ours.url }, { 'sec-fetch-site': 'same-origin' }]) {
    assert.equal(await send(headers), 303, JSON.stringify(headers))
  }
})

test('codes: missing, wrong, of another authorization; guessing is slowed', async () => {
  const path = await connection('codes')
  const other = await connection('other')
  const consentCode = await codeOf(other)
  for (const missing of [undefined, '']) {
    const answer = await confirm(path, missing)
    assert.equal(answer.status, 400)
    assert.equal(answer.at('error.code'), 'ValidationError')
    assert.equal(answer.at('error.target'), 'consentCode')
  }
  assert.equal((await confirm(path, 5)).status, 400)
  const wrong = await confirm(path, consentCode)
  assert.equal(wrong.status, 400)
  assert.equal(wrong.at('error.code'), 'ConsentCodeInvalid')
  for (let at = 0; at < 5; at++) await confirm(path, `guess ${at}`)
  const slowed = await confirm(path, 'guess')
  assert.equal(slowed.status, 429)
  assert.ok(Number(slowed.headers.get('retry-after')) > 0)
  // Other callers are not slowed down.
  assert.equal((await confirm(other, consentCode)).status, 200)
  const missing = await confirm(`${path}none`, 'x')
  assert.equal(missing.status, 404)
})

test('path patterns and lengths of the contract are refused with their meaning', async () => {
  const at = (name: string, provider: string, authorization: string): string =>
    `${service.slice(0, service.lastIndexOf('/'))}/${name}/authorizationProviders/${provider}/authorizations/${authorization}`
  for (const [name, provider, authorization, meaning] of [
    ['one', 'a%23b', 'me', /1 to 256 characters, none of/],
    ['one', 'a', 'm%3Ae', /1 to 256 characters, none of/],
    ['one', 'a'.repeat(257), 'me', /1 to 256 characters, none of/],
    ['one', 'a', 'b'.repeat(257), /1 to 256 characters, none of/],
    ['1one', 'a', 'me', /1 to 50 letters/],
    ['one-', 'a', 'me', /1 to 50 letters/],
    ['o'.repeat(51), 'a', 'me', /1 to 50 letters/],
  ] as const) {
    const answer = await confirm(at(name, provider, authorization), 'x')
    assert.equal(answer.status, 400, answer.text)
    assert.match(answer.text, meaning)
  }
  assert.equal((await confirm(at('one', 'a', 'me'), 'x')).status, 404)
})

test('a person who leaves, or refuses, brings back no code', async () => {
  const path = await connection('refused', 'authorizationCode', await application(ours.url))
  const browser = createBrowser(ours.url)
  const page = await browser.open(await linkOf(path))
  const left = await browser.submit(page, { do: 'leave' })
  assert.equal(left.url.searchParams.get('error'), 'access_denied')
  const there = await goOn(browser, await linkOf(path))
  const back = await browser.open((await answerThere(there, 'cancel')).href)
  assert.equal(back.url.searchParams.get('error'), 'access_denied')
  assert.equal(back.url.searchParams.get('consentCode'), null)
  assert.equal(await stateOf(path), 'Error')
})

test('a state of another browser, one replayed and one made up are refused', async () => {
  const path = await connection('states')
  const [mine, another] = [createBrowser(ours.url), createBrowser(ours.url)]
  const there = await goOn(mine, await linkOf(path))
  await goOn(another, await linkOf(path))
  const back = await answerThere(there, 'allow')
  assert.match((await another.open(back.href)).body, /did not begin this sign-in/)
  assert.match((await createBrowser(ours.url).open(back.href)).body, /did not begin this sign-in/)
  const first = await mine.open(back.href)
  const consentCode = consentCodeAt(first)
  assert.match((await mine.open(back.href)).body, /not valid any more/)
  const shown = await mine.open(`/consent/done?consentCode=${consentCode}`)
  assert.ok(shown.status === 200 && shown.body.includes(`<code>${consentCode}</code>`))
  assert.equal((await mine.open('/consent/done?error=access_denied')).status, 400)
  // Words of anybody who sends a link would look like those of the installation.
  assert.equal((await mine.open('/consent/done?consentCode=Call+555+0100')).status, 400)
  const made = await mine.open('/consent/callback?state=abc&code=x')
  assert.equal(made.status, 400)
  assert.equal((await confirm(path, consentCode)).status, 200)
})

test('two authorizations at once: each browser comes back with the code of its own', async () => {
  const paths = [await connection('first'), await connection('second')]
  const codes = await Promise.all(paths.map((path) => codeOf(path)))
  const [first = '', second = ''] = paths
  const crossed = await confirm(first, codes[1])
  assert.equal(crossed.at('error.code'), 'ConsentCodeInvalid')
  const confirmed = await Promise.all(paths.map((path, at) => confirm(path, codes[at])))
  assert.deepEqual(
    confirmed.map(({ status }) => status),
    [200, 200],
  )
  assert.equal(await stateOf(second), 'Connected')
  // One code that many confirm at once works once.
  const again = await codeOf(first)
  const many = await Promise.all([1, 2, 3].map(() => confirm(first, again)))
  assert.deepEqual(many.map(({ status }) => status).toSorted(), [200, 400, 400])
})

test('a pipeline without a browser consents by one command, at another installation too', async () => {
  const path = await connection('pipeline')
  const { signInName, password } = theirs.owner
  const place = ['-g', 'consent', '-s', 'one', '-p', 'pipeline']
  const named = ['--sign-in-name', signInName, '--password', '-']
  const person = [...named, '--sign-in-at', theirs.url]
  const unnamed = await ours.cli(['consent', 'give', 'me', ...place, ...named], password)
  assert.match(unnamed.error, /ConsentElsewhere/)
  const wrong = await ours.cli(['consent', 'give', 'me', ...place, ...person], 'wrong')
  assert.equal(wrong.code, 1)
  assert.match(wrong.error, /ConsentStopped/)
  assert.equal(await stateOf(path), 'Error')
  const given = await ours.cli(['consent', 'give', 'me', ...place, ...person], `${password}\n`)
  assert.equal(given.code, 0, given.error)
  assert.match(given.out, /Connected/)
  const link = await ours.cli(['consent', 'link', 'me', ...place])
  assert.match(link.out, /\/consent\/login\//)
  const words = ['consent', 'give', 'me', ...place, ...person, '--code-only']
  const code = (await ours.cli(words, password)).out.trim()
  const confirmed = await ours.cli(['consent', 'confirm', 'me', code, ...place])
  assert.equal(confirmed.code, 0, confirmed.error)
})

test('browsers go back to allowed addresses alone', async () => {
  const path = await connection('redirects')
  for (const address of [
    'https://evil.example/',
    'javascript:alert(1)',
    'http://user@127.0.0.1/',
    '//evil.example',
    'http://127.0.0.1.evil.example/',
  ]) {
    const answer = await post(`${path}/getLoginLinks`, { postLoginRedirectUrl: address })
    assert.equal(answer.status, 400, address)
    assert.equal(answer.at('error.target'), 'postLoginRedirectUrl')
  }
  const own = `${ours.url}/signed-in`
  const answer = await post(`${path}/getLoginLinks`, { postLoginRedirectUrl: own })
  assert.equal(answer.status, 200)
})

test('client credentials connect at once; a wrong secret shows as an error, and is never shown', async () => {
  const path = await connection('machine', 'clientCredentials', { scopes: '' })
  const shown = await ours.request('GET', `${path}?${version}`)
  assert.equal(shown.at('properties.status'), 'Connected', shown.text)
  const links = await post(`${path}/getLoginLinks`, { postLoginRedirectUrl: done })
  assert.equal(links.at('error.code'), 'LoginLinkUnsupported')
  const wrong = await connection('broken', 'clientCredentials', { clientSecret: 'wrong-secret-1' })
  const broken = await ours.request('GET', `${wrong}?${version}`)
  assert.equal(broken.at('properties.status'), 'Error')
  assert.ok(!broken.text.includes('wrong-secret-1'))
  const above = wrong.slice(0, wrong.indexOf('/authorizations/'))
  const provider = await ours.request('GET', `${above}?${version}`)
  assert.ok(!provider.text.includes('wrong-secret-1') && !provider.text.includes('clientSecret'))
})

test('the token goes to whom a policy names, and to nobody else', async () => {
  const path = await connection('tokens')
  await confirm(path, await codeOf(path))
  const refused = await post(`${path}/getToken`)
  assert.equal(refused.status, 403, refused.text)
  assert.equal(refused.at('error.code'), 'AuthorizationFailed')
  // The answer reveals neither which authorizations exist, nor their parents.
  for (const absent of [
    path.replace(/[^/]+$/, 'absent'),
    path.replace('/resourceGroups/consent/', '/resourceGroups/absent/'),
  ]) {
    const other = await post(`${absent}/getToken`)
    assert.equal(other.status, 403, other.text)
    assert.equal(other.text.replaceAll(absent, path), refused.text)
  }
  const properties = { tenantId: ours.tenantId, objectId: ours.principalId }
  await put(`${path}/accessPolicies/owner`, { properties })
  const token = await post(`${path}/getToken`)
  assert.equal(token.status, 200, token.text)
  // The record was committed before the answer, and contains no token.
  const trail = await ours.request(
    'GET',
    `/subscriptions/${ours.subscriptionId}/providers/Vendor.Insights/eventtypes/management/values?api-version=2015-04-01&$filter=${encodeURIComponent(`resourceUri eq '${path}'`)}`,
  )
  const given = trail
    .items()
    .filter(
      (record) =>
        JSON.stringify(record['operationName']).includes('getToken') &&
        JSON.stringify(record['status']).includes('Succeeded'),
    )
  assert.equal(given.length, 1, trail.text)
  assert.equal(given[0]?.['correlationId'], token.headers.get('x-ms-correlation-request-id'))
  assert.ok(!trail.text.includes(String(token.at('accessToken'))))
  // It is a token of the other installation, for the person who consented there.
  const asked = await theirs.request('GET', '/subscriptions?api-version=2020-01-01', {
    token: String(token.at('accessToken')),
  })
  assert.equal(asked.status, 200, asked.text)
  await put(
    `${path}/accessPolicies/owner`,
    { properties: { ...properties, appIds: ['another'] } },
    { 'If-Match': '*' },
  )
  assert.equal((await post(`${path}/getToken`)).status, 403)
})

test('tags: a write over what is there needs one, a delete none; what hangs below goes too', async () => {
  const path = await connection('etags')
  const provider = path.slice(0, path.indexOf('/authorizations/'))
  const body = providerBody('authorizationCode')
  const without = await ours.request('PUT', `${provider}?${version}`, { body })
  assert.equal(without.status, 412)
  const stale = await ours.request('DELETE', `${provider}?${version}`, {
    headers: { 'If-Match': '"old"' },
  })
  assert.equal(stale.status, 412)
  const headers = { 'If-Match': '*' }
  assert.equal((await ours.request('PUT', `${provider}?${version}`, { body, headers })).status, 200)
  const gone = await ours.request('DELETE', `${provider}?${version}`)
  assert.equal(gone.status, 200, gone.text)
  assert.equal((await ours.request('GET', `${path}?${version}`)).status, 404)
})

test('a private address is asked only where the operator allows it; the own one always', async () => {
  await using closed = await startInstallation({ environment: { ARMATURE_OUTBOUND: 'guarded' } })
  const group = `/subscriptions/${closed.subscriptionId}/resourceGroups/consent`
  await createResourceGroup(closed, group)
  const at = `${group}/providers/Vendor.ApiManagement/service/one`
  const send = (path: string, body: object) => closed.request('PUT', `${path}?${version}`, { body })
  const properties = { publisherEmail: 'a@example.test', publisherName: 'A' }
  await send(at, { location: 'local', sku: { name: 'Developer' }, properties })
  const own = await closed.cli([
    ...['principal', 'create', '--type', 'ServicePrincipal', '--name', 'Own', '--json'],
  ])
  const { clientId, clientSecret } = JSON.parse(own.out)
  const secrets = { clientId, clientSecret }
  for (const [name, tokenUrl, status] of [
    ['theirs', `${theirs.url}/common/oauth2/token`, 'Error'],
    ['own', `${closed.url}/common/oauth2/token`, 'Connected'],
  ]) {
    const oauth2 = { grantTypes: { clientCredentials: { ...secrets, tokenUrl } } }
    const provider = `${at}/authorizationProviders/${name}`
    const made = await send(provider, { properties: { identityProvider: 'oauth2', oauth2 } })
    assert.equal(made.status, 200, made.text)
    const connected = await send(`${provider}/authorizations/me`, { properties: {} })
    assert.equal(connected.at('properties.status'), status, connected.text)
    if (status === 'Error') assert.match(connected.text, /its address must not be asked from here/)
  }
})

// The store contract holds that both stores keep alike what is written before a step answers.
for (const kind of someOf(['SQLite', 'PostgreSQL'] as const, 2)) {
  test(`killed between any two steps on ${kind}, the flow goes on`, async (t) => {
    if (kind === 'SQLite') return killedBetweenSteps(undefined)
    if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
    await using server = await startPostgres({ fsync: false })
    await killedBetweenSteps(await server.createDatabase())
  })
}

async function killedBetweenSteps(store: string | undefined): Promise<void> {
  const home = freshHome()
  const stored = store === undefined ? {} : { store }
  const address = 'https://consent.example'
  // The identity provider of this test is on this machine.
  const environment = { ARMATURE_OUTBOUND: 'open', ARMATURE_PUBLIC_URL: address }
  let mine = await startInstallation({ home, environment, ...stored })
  const again = async (): Promise<void> => {
    await mine.kill()
    mine = await startInstallation({ home, environment, ...stored })
  }
  const request = (method: string, path: string, body?: object): Promise<Answer> =>
    mine.request(method, `${path}?${version}`, body === undefined ? {} : { body })
  /** What a browser would send to the public address, and where it is redirected. */
  const visit = async (path: string, cookie: string, form?: string): Promise<Response> =>
    fetch(`${mine.url}${path}`, {
      method: form === undefined ? 'GET' : 'POST',
      headers: { cookie },
      redirect: 'manual',
      ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
    })
  try {
    const group = `/subscriptions/${mine.subscriptionId}/resourceGroups/consent`
    await createResourceGroup(mine, group)
    const at = `${group}/providers/Vendor.ApiManagement/service/one`
    const properties = { publisherEmail: 'a@example.test', publisherName: 'A' }
    await request('PUT', at, { location: 'local', sku: { name: 'Developer' }, properties })
    const path = `${at}/authorizationProviders/p/authorizations/me`
    const secrets = await application(address)
    await request(
      'PUT',
      `${at}/authorizationProviders/p`,
      providerBody('authorizationCode', secrets),
    )
    await request('PUT', path, { properties: {} })
    await again()
    const link = await request('POST', `${path}/getLoginLinks`, { postLoginRedirectUrl: done })
    const { pathname } = new URL(String(link.at('loginLink')))
    await again()
    assert.equal((await visit(pathname, '')).status, 200)
    const sent = await visit(pathname, '', 'do=continue')
    assert.equal(sent.status, 303)
    const cookie = (sent.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
    await again()
    const back = await answerThere(new URL(sent.headers.get('location') ?? ''), 'allow')
    const arrived = await visit(`${back.pathname}${back.search}`, cookie)
    assert.equal(arrived.status, 303, await arrived.text())
    const consentCode = new URL(arrived.headers.get('location') ?? '').searchParams.get(
      'consentCode',
    )
    await again()
    const confirmed = await request('POST', `${path}/confirmConsentCode`, { consentCode })
    assert.equal(confirmed.status, 200, confirmed.text)
    await again()
    const used = await request('POST', `${path}/confirmConsentCode`, { consentCode })
    assert.equal(used.at('error.code'), 'ConsentCodeUsed')
    const shown = await request('GET', path)
    assert.equal(shown.at('properties.status'), 'Connected')
    await request('PUT', `${path}/accessPolicies/o`, {
      properties: { tenantId: mine.tenantId, objectId: mine.principalId },
    })
    assert.equal((await request('POST', `${path}/getToken`)).status, 200)
  } finally {
    await mine[Symbol.asyncDispose]()
    rmSync(home, { recursive: true, force: true })
  }
}
