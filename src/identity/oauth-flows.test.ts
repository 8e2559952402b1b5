/** The flows besides the implicit one: code with PKCE, client credentials, device code, refresh. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBrowser } from './testing/browser.ts'
import { type IdentityFixture, openIdentityFixture, testTenant } from './testing/fixture.ts'
import {
  addAlice,
  addApplication,
  askToken,
  authorizeAddress,
  challenge,
  claimsOf,
  signIn,
  type TokenAnswer,
  verifier,
} from './testing/flows.ts'

const cliCallback = 'http://127.0.0.1:45678/callback'

function codeRequest(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  return {
    response_type: 'code',
    client_id: 'armature-cli',
    redirect_uri: cliCallback,
    scope: 'user_impersonation offline_access openid',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...more,
  }
}

async function getCode(fixture: IdentityFixture): Promise<string> {
  const browser = createBrowser(fixture.url)
  const end = await signIn(browser, await browser.open(authorizeAddress(codeRequest())))
  assert.equal(end.url.origin, 'http://127.0.0.1:45678')
  return end.url.searchParams.get('code') ?? ''
}

function redeem(fixture: IdentityFixture, code: string, more = {}): Promise<TokenAnswer> {
  return askToken(fixture, {
    grant_type: 'authorization_code',
    client_id: 'armature-cli',
    redirect_uri: cliCallback,
    code,
    code_verifier: verifier,
    ...more,
  })
}

test('a code is redeemed once, with its verifier, for an access and a refresh token', async () => {
  await using fixture = await openIdentityFixture()
  const id = await addAlice(fixture)
  const code = await getCode(fixture)
  const answer = await redeem(fixture, code)
  assert.equal(answer.status, 200)
  assert.equal(claimsOf(answer.access_token)['oid'], id)
  assert.equal(claimsOf(answer.access_token)['aud'], fixture.url)
  assert.ok(answer.refresh_token)
  const { authenticator } = fixture.identity
  const header = `Bearer ${answer.access_token}`
  assert.equal((await authenticator.authenticate(header)).id, id)
  const again = await redeem(fixture, code)
  assert.equal(again.error, 'invalid_grant')
  // A code that is used twice was stolen: the tokens it gave are revoked.
  const refresh = await askToken(fixture, {
    grant_type: 'refresh_token',
    client_id: 'armature-cli',
    refresh_token: answer.refresh_token,
  })
  assert.equal(refresh.error, 'invalid_grant')
  await assert.rejects(async () => authenticator.authenticate(header), /its session has ended/)
})

test('in a browser that is signed in, the command line is let in by a person alone, every time', async () => {
  await using fixture = await openIdentityFixture()
  await addAlice(fixture)
  const browser = createBrowser(fixture.url)
  await signIn(browser, await browser.open(authorizeAddress(codeRequest())))
  for (const answer of ['allow', 'cancel', 'allow']) {
    const page = await browser.open(authorizeAddress(codeRequest()))
    assert.equal(page.url.origin, fixture.url, 'no code without a question')
    assert.match(page.body, /Allow Armature command line\?/)
    assert.match(page.body, /127\.0\.0\.1:45678/)
    const back = await browser.submit(page, { do: answer })
    assert.equal(back.url.origin, 'http://127.0.0.1:45678')
    const code = back.url.searchParams.get('code')
    if (answer === 'allow') assert.equal((await redeem(fixture, code ?? '')).status, 200)
    else assert.equal(back.url.searchParams.get('error'), 'access_denied')
  }
  const silent = await browser.open(authorizeAddress(codeRequest({ prompt: 'none' })))
  assert.equal(silent.url.searchParams.get('error'), 'interaction_required')
})

test('of two requests with one code at the same moment, one wins', async () => {
  await using fixture = await openIdentityFixture()
  await addAlice(fixture)
  const code = await getCode(fixture)
  const answers = await Promise.all([1, 2, 3].map(() => redeem(fixture, code)))
  assert.ok(answers.filter((answer) => answer.status === 200).length <= 1)
  assert.ok(answers.every(({ status }) => status === 200 || status === 400))
})

test('a public client without PKCE, with a wrong verifier or a plain challenge is refused', async () => {
  await using fixture = await openIdentityFixture()
  await addAlice(fixture)
  const browser = createBrowser(fixture.url)
  const { code_challenge: _c, code_challenge_method: _m, ...without } = codeRequest()
  const refused = await browser.open(authorizeAddress(without))
  assert.equal(refused.url.searchParams.get('error'), 'invalid_request')
  assert.match(refused.url.searchParams.get('error_description') ?? '', /PKCE/)
  const plain = await browser.open(
    authorizeAddress(codeRequest({ code_challenge_method: 'plain' })),
  )
  assert.equal(plain.url.searchParams.get('error'), 'invalid_request')
  const code = await getCode(fixture)
  assert.equal(
    (await redeem(fixture, code, { code_verifier: 'w'.repeat(43) })).error,
    'invalid_grant',
  )
})

test('refresh tokens rotate after a minute; an old one used again ends the whole chain', async () => {
  await using fixture = await openIdentityFixture()
  const id = await addAlice(fixture)
  const first = await redeem(fixture, await getCode(fixture))
  const refresh = (token: string, more = {}): Promise<TokenAnswer> =>
    askToken(fixture, {
      grant_type: 'refresh_token',
      client_id: 'armature-cli',
      refresh_token: token,
      ...more,
    })
  assert.equal((await refresh(first.refresh_token)).refresh_token, first.refresh_token)
  fixture.wait(60)
  const second = await refresh(first.refresh_token, {
    scope: `${fixture.url}/.default offline_access openid`,
  })
  assert.equal(second.status, 200, JSON.stringify(second))
  assert.notEqual(second.refresh_token, first.refresh_token)
  assert.equal(claimsOf(second.access_token)['oid'], id)
  const replayed = await refresh(first.refresh_token)
  assert.equal(replayed.error, 'invalid_grant')
  assert.equal((await refresh(second.refresh_token)).error, 'invalid_grant')
})

test('a revoked refresh token, and one of a disabled account, is refused', async () => {
  await using fixture = await openIdentityFixture()
  const id = await addAlice(fixture)
  let one = await redeem(fixture, await getCode(fixture))
  const revoke = async (clientId: string): Promise<void> => {
    const body = new URLSearchParams({ token: one.refresh_token, client_id: clientId })
    const revoked = await fetch(`${fixture.url}/common/oauth2/revoke`, { method: 'POST', body })
    assert.equal(revoked.status, 200)
  }
  const form = { grant_type: 'refresh_token', client_id: 'armature-cli' }
  await revoke('armature-portal')
  const kept = await askToken(fixture, { ...form, refresh_token: one.refresh_token })
  assert.equal(kept.status, 200, 'another client ends nothing')
  one = { ...one, refresh_token: kept.refresh_token }
  await revoke('armature-cli')
  const after = await askToken(fixture, { ...form, refresh_token: one.refresh_token })
  assert.equal(after.error, 'invalid_grant')
  const two = await redeem(fixture, await getCode(fixture))
  await fixture.identity.directory.update(id, { enabled: false })
  const disabled = await askToken(fixture, { ...form, refresh_token: two.refresh_token })
  assert.equal(disabled.error, 'invalid_grant')
})

test('client credentials work in form and header, by every spelling of the route', async () => {
  await using fixture = await openIdentityFixture()
  const app = await addApplication(fixture)
  const post = { client_id: app.clientId, client_secret: app.clientSecret }
  const basic = {
    authorization: `Basic ${Buffer.from(`${app.clientId}:${app.clientSecret}`).toString('base64')}`,
  }
  const grant = { grant_type: 'client_credentials' }
  const answers = [
    await askToken(fixture, { ...grant, ...post }),
    await askToken(fixture, { ...grant }, basic),
    await askToken(fixture, { ...grant, ...post, scope: `${fixture.url}/.default` }),
    await askToken(fixture, { ...grant, ...post, resource: `${fixture.url}/` }),
    await askToken(fixture, { ...grant, ...post }, {}, `/${testTenant}/oauth2/v2.0/token`),
    await askToken(fixture, { ...grant, ...post }, {}, `/${testTenant}/oauth2/token`),
    await askToken(fixture, { ...grant, ...post }, {}, '/common/oauth2/v2.0/token'),
  ]
  for (const answer of answers) {
    assert.equal(answer.status, 200, JSON.stringify(answer))
    const claims = claimsOf(answer.access_token)
    assert.equal(claims['oid'], app.id)
    assert.equal(claims['appid'], app.clientId)
    assert.equal(claims['idtyp'], 'app')
    assert.equal(claims['aud'], fixture.url)
    assert.equal(answer['expires_in'], 3600)
    const principal = await fixture.identity.authenticator.authenticate(
      `Bearer ${answer.access_token}`,
    )
    assert.equal(principal.type, 'ServicePrincipal')
    assert.equal(principal.id, app.id)
    assert.equal(principal.displayName, app.clientId)
  }
})

test('wrong secrets, removed, expired and disabled ones are refused alike', async () => {
  await using fixture = await openIdentityFixture()
  const { directory } = fixture.identity
  const app = await addApplication(fixture)
  const ask = (secret: string, clientId = app.clientId): Promise<TokenAnswer> =>
    askToken(fixture, {
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: secret,
    })
  const refused = async (answer: Promise<TokenAnswer>): Promise<void> => {
    const { status, error } = await answer
    assert.equal(status, 401)
    assert.equal(error, 'invalid_client')
  }
  await refused(ask('wrong'))
  await refused(ask(`unused-${app.id}`))
  await refused(ask('x', '00000000-0000-4000-8000-000000000000'))
  await refused(ask('x', 'nul\0character'))
  const second = await directory.addSecret(app.id, { expiresAt: fixture.now() + 60_000 })
  assert.equal((await ask(second.value)).status, 200)
  assert.equal((await ask(app.clientSecret)).status, 200, 'the first one stays good beside it')
  fixture.wait(61)
  await refused(ask(second.value))
  const [first] = await directory.secrets(app.id)
  await directory.removeSecret(app.id, first?.id ?? '')
  await refused(ask(app.clientSecret))
  const third = await directory.addSecret(app.id)
  await directory.update(app.id, { enabled: false })
  await refused(ask(third.value))
  const unknown = await askToken(fixture, {
    grant_type: 'client_credentials',
    client_id: app.clientId,
    client_secret: third.value,
    resource: 'https://elsewhere.example/',
  })
  assert.notEqual(unknown.status, 200)
})

test('the owner’s own credentials act as the owner, a user', async () => {
  await using fixture = await openIdentityFixture()
  const owner = await fixture.identity.ensureOwner({ displayName: 'Owner' })
  assert.ok(owner.created)
  assert.deepEqual(await fixture.identity.ensureOwner({ displayName: 'Other' }), {
    created: false,
    principalId: owner.principalId,
  })
  const form = { grant_type: 'client_credentials', client_id: owner.clientId }
  const answer = await askToken(fixture, { ...form, client_secret: owner.clientSecret })
  const principal = await fixture.identity.authenticator.authenticate(
    `Bearer ${answer.access_token}`,
  )
  assert.equal(principal.id, owner.principalId)
  assert.equal(principal.type, 'User')
  assert.equal(principal.displayName, 'owner')
  const browser = createBrowser(fixture.url)
  const page = await browser.open(authorizeAddress(codeRequest()))
  const end = await signIn(browser, page, owner)
  assert.ok(end.url.searchParams.get('code'))

  const fresh = await fixture.identity.resetOwner()
  assert.equal(fresh.principalId, owner.principalId)
  const old = await askToken(fixture, { ...form, client_secret: owner.clientSecret })
  assert.equal(old.error, 'invalid_client')
  const renewed = await askToken(fixture, { ...form, client_secret: fresh.clientSecret })
  assert.equal(renewed.status, 200)
  await assert.rejects(fixture.identity.directory.delete(owner.principalId), {
    code: 'OwnerProtected',
  })
  await assert.rejects(fixture.identity.directory.update(owner.principalId, { enabled: false }), {
    code: 'OwnerProtected',
  })
})

test('two first starts at the same moment make one owner', async () => {
  await using fixture = await openIdentityFixture()
  await using replica = await fixture.replica()
  const outcomes = await Promise.all([
    fixture.identity.ensureOwner({ displayName: 'Owner' }),
    replica.identity.ensureOwner({ displayName: 'Owner' }),
  ])
  assert.equal(outcomes.filter(({ created }) => created).length, 1)
  assert.equal(new Set(outcomes.map(({ principalId }) => principalId)).size, 1)
  const { items } = await fixture.identity.directory.list('User', undefined, 10)
  assert.deepEqual(
    items.map(({ signInName }) => signInName),
    ['owner'],
  )
})

async function startDevice(fixture: IdentityFixture): Promise<Record<string, string>> {
  const response = await fetch(`${fixture.url}/common/oauth2/v2.0/devicecode`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: 'armature-cli', scope: `${fixture.url}/.default` }),
  })
  assert.equal(response.status, 200)
  // The library answers flat texts and numbers; the tests read the texts.
  return (await response.json()) as Record<string, string>
}

function poll(
  fixture: IdentityFixture,
  device: Readonly<Record<string, string>>,
): Promise<TokenAnswer> {
  return askToken(fixture, {
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    client_id: 'armature-cli',
    device_code: device['device_code'] ?? '',
  })
}

test('a device signs in with a code that a person confirms', async () => {
  await using fixture = await openIdentityFixture()
  const id = await addAlice(fixture)
  const device = await startDevice(fixture)
  assert.equal(device['verification_uri'], `${fixture.url}/common/oauth2/deviceauth`)
  assert.equal((await poll(fixture, device)).error, 'authorization_pending')

  const browser = createBrowser(fixture.url)
  const entry = await browser.open('/common/oauth2/deviceauth')
  const wrong = await browser.submit(entry, { user_code: 'AAAA-AAAA' })
  assert.match(wrong.body, /There is no such code/)
  const confirm = await browser.submit(wrong, { user_code: device['user_code'] ?? '' })
  assert.match(confirm.body, /Is this your device\?/)
  assert.match(confirm.body, /Armature command line/)
  const done = await signIn(browser, await browser.submit(confirm, {}))
  assert.match(done.body, /The device is connected/)

  const answer = await poll(fixture, device)
  assert.equal(answer.status, 200, JSON.stringify(answer))
  assert.equal(claimsOf(answer.access_token)['oid'], id)
  assert.ok(answer.refresh_token)
  assert.equal((await poll(fixture, device)).error, 'invalid_grant')
})

test('the complete address only fills in the code, and stopping reaches the device', async () => {
  await using fixture = await openIdentityFixture()
  const device = await startDevice(fixture)
  const browser = createBrowser(fixture.url)
  const entry = await browser.open(device['verification_uri_complete'] ?? '')
  assert.match(entry.body, /<h1>Connect a device<\/h1>/)
  assert.ok(!entry.body.includes('<script'), 'nothing is submitted without the person')
  assert.match(entry.body, new RegExp(`value="${device['user_code']}"`))
  const confirm = await browser.submit(entry, { user_code: device['user_code'] ?? '' })
  const stopped = await browser.submit(confirm, { abort: 'yes' })
  assert.match(stopped.body, /stopped/)
  assert.equal((await poll(fixture, device)).error, 'access_denied')
})

test('the addresses in answers are the public ones, whatever the request claims', async () => {
  await using fixture = await openIdentityFixture({ publicUrl: () => 'https://armature.example' })
  const response = await fetch(`${fixture.url}/common/v2.0/.well-known/openid-configuration`, {
    headers: { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' },
  })
  const document = (await response.json()) as Record<string, unknown>
  assert.equal(document['issuer'], 'https://armature.example')
  for (const [name, value] of Object.entries(document)) {
    if (name.endsWith('_endpoint') || name === 'jwks_uri') {
      assert.ok(String(value).startsWith('https://armature.example/common/'), `${name}: ${value}`)
    }
  }
  const page = await fetch(
    `${fixture.url}${authorizeAddress({
      response_type: 'token',
      client_id: 'armature-portal',
      redirect_uri: 'https://armature.example/signed-in',
    })}`,
    { redirect: 'manual' },
  )
  assert.match(page.headers.getSetCookie().join(), /; secure/i)
})

test('the local identity endpoint gives the owner’s token for the right header only', async () => {
  await using fixture = await openIdentityFixture({ localTokenSecret: 'the secret' })
  const address = `${fixture.url}/common/identity/token?api-version=2019-08-01&resource=`
  const resource = encodeURIComponent(`${fixture.url}/`)
  const right = { 'x-identity-header': 'the secret' }
  assert.equal((await fetch(address + resource, { headers: right })).status, 400, 'no owner yet')
  const { principalId } = await fixture.identity.ensureOwner({ displayName: 'Owner' })
  const response = await fetch(address + resource, { headers: right })
  const body = (await response.json()) as Record<string, string>
  assert.equal(response.status, 200)
  assert.deepEqual(
    [body['token_type'], body['resource'], typeof body['expires_on']],
    ['Bearer', `${fixture.url}/`, 'string'],
  )
  const claims = claimsOf(body['access_token'] ?? '')
  assert.equal(claims['exp'], Number(body['expires_on']))
  const principal = await fixture.identity.authenticator.authenticate(
    `Bearer ${body['access_token']}`,
  )
  assert.equal(principal.id, principalId)
  const older = await fetch(`${fixture.url}/common/identity/token`, {
    method: 'POST',
    headers: { secret: 'the secret' },
    body: new URLSearchParams({ resource: fixture.url }),
  })
  assert.equal(older.status, 200)
  const withSlash = address.replace('/token?', '/token/?') + resource
  assert.equal((await fetch(withSlash, { headers: right })).status, 200)
  assert.equal((await fetch(address + resource)).status, 401)
  const wrong = { 'x-identity-header': 'the secre' }
  assert.equal((await fetch(address + resource, { headers: wrong })).status, 401)
  assert.equal((await fetch(`${address}https%3A%2F%2Felsewhere`, { headers: right })).status, 400)
  await using off = await openIdentityFixture()
  const answer = await fetch(`${off.url}/common/identity/token?resource=x`, { headers: right })
  assert.equal(answer.status, 404)
  await using emptied = await openIdentityFixture({ localTokenSecret: '' })
  await emptied.identity.ensureOwner({ displayName: 'Owner' })
  const target = `${emptied.url}/common/identity/token?resource=${emptied.url}`
  for (const name of ['x-identity-header', 'secret']) {
    assert.equal((await fetch(target, { headers: { [name]: '' } })).status, 404, name)
  }
})

test('a client of managed identities without headers carries the secret in the address', async () => {
  await using fixture = await openIdentityFixture({ localTokenSecret: 'the-secret' })
  await fixture.identity.ensureOwner({ displayName: 'Owner' })
  const ask = (path: string) =>
    fetch(`${fixture.url}/common/identity/token/${path}`, {
      method: 'POST',
      body: new URLSearchParams({ resource: fixture.url }),
    })
  assert.equal((await ask('the-secret')).status, 200)
  for (const wrong of ['', 'the-secre', 'the-secret-']) {
    assert.equal((await ask(wrong)).status, 401, wrong)
  }
})

test('answers say what the family’s clients read: interval, message, scopes as asked, whose', async () => {
  await using fixture = await openIdentityFixture()
  const post = async (path: string, form: Readonly<Record<string, string>>) => {
    const response = await fetch(`${fixture.url}${path}`, {
      method: 'POST',
      body: new URLSearchParams(form),
    })
    return (await response.json()) as Record<string, unknown>
  }
  const scope = `${fixture.url}//.default`
  const device = await post('/organizations/oauth2/v2.0/devicecode', {
    client_id: 'armature-cli',
    scope,
  })
  assert.equal(device['verification_url'], device['verification_uri'])
  assert.ok(Number(device['interval']) > 0)
  assert.ok(String(device['message']).includes(String(device['user_code'])))
  const pending = await post(`/${testTenant}/oauth2/token`, {
    client_id: 'armature-cli',
    grant_type: 'device_code',
    device_code: String(device['device_code']),
  })
  assert.equal(pending['error'], 'authorization_pending')
  const { clientId, clientSecret } = await addApplication(fixture)
  const granted = await post('/common/oauth2/token', {
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
    scope,
  })
  assert.equal(granted['scope'], scope)
  const foreign = await post('/22222222-2222-4333-8444-555555555555/oauth2/token', {})
  assert.equal(foreign['error'], 'invalid_tenant')
  assert.match(String(foreign['error_description']), new RegExp(testTenant))
})

test('clients learn that this address is one authority', async () => {
  await using fixture = await openIdentityFixture()
  const response = await fetch(`${fixture.url}/common/discovery/instance?api-version=1.1`)
  const body = (await response.json()) as { tenant_discovery_endpoint: string }
  assert.equal((await fetch(body.tenant_discovery_endpoint)).status, 200)
})

test('what is malformed is refused, never a fault', async () => {
  await using fixture = await openIdentityFixture()
  const post = (path: string, body: string, type = 'application/x-www-form-urlencoded') =>
    fetch(`${fixture.url}${path}`, { method: 'POST', body, headers: { 'content-type': type } })
  const answers = [
    await post('/common/oauth2/token', ''),
    await post('/common/oauth2/token', '%%%=%&grant_type=%00'),
    await post('/common/oauth2/token', '{}', 'application/json'),
    await post(
      '/common/oauth2/token',
      'grant_type=password&username=a&password=b&client_id=armature-cli',
    ),
    await post('/common/oauth2/devicecode', 'client_id=a&client_id=b'),
    await fetch(`${fixture.url}/common/oauth2/token`),
    await fetch(`${fixture.url}/common/oauth2/authorize?client_id=%00&response_type=token`),
    await fetch(`${fixture.url}/common/oauth2/authorize/no-such`),
    await fetch(`${fixture.url}/common/oauth2/interaction/none`),
    await post('/common/oauth2/interaction/none', 'do=sign-in'),
    await fetch(`${fixture.url}/common/oauth2/interaction/none`, { method: 'PUT' }),
    await fetch(`${fixture.url}/other-tenant/oauth2/token`, { method: 'POST' }),
    await fetch(`${fixture.url}/nothing`),
  ]
  for (const answer of answers) {
    assert.ok(answer.status >= 400 && answer.status < 500, `${answer.url}: ${answer.status}`)
  }
  const huge = await post('/common/oauth2/token', `grant_type=${'x'.repeat(100_000)}`)
  assert.equal(huge.status, 413)
  // The library's time grows with the square of their number.
  const many = '&a'.repeat(200)
  const wide = [
    await post('/common/oauth2/token', `grant_type=password${many}`),
    await fetch(`${fixture.url}/common/oauth2/authorize?client_id=a${many}`),
    await fetch(`${fixture.url}/common/oauth2/logout?a${many}`),
  ]
  for (const answer of wide) {
    assert.equal(answer.status, 400)
    assert.match(await answer.text(), /at most 200 parameters/)
  }
  assert.deepEqual(fixture.logged, [])
})
