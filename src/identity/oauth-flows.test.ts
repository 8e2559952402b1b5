/** The flows besides the implicit one: code with PKCE, client credentials, device code, refresh. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBrowser } from './testing/browser.ts'
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
import { openWorld, testTenant, type World } from './testing/world.ts'

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

async function getCode(world: World): Promise<string> {
  const browser = createBrowser(world.url)
  const end = await signIn(browser, await browser.open(authorizeAddress(codeRequest())))
  assert.equal(end.url.origin, 'http://127.0.0.1:45678')
  return end.url.searchParams.get('code') ?? ''
}

function redeem(world: World, code: string, more = {}): Promise<TokenAnswer> {
  return askToken(world, {
    grant_type: 'authorization_code',
    client_id: 'armature-cli',
    redirect_uri: cliCallback,
    code,
    code_verifier: verifier,
    ...more,
  })
}

test('a code is redeemed once, with its verifier, for an access and a refresh token', async () => {
  await using world = await openWorld()
  const id = await addAlice(world)
  const code = await getCode(world)
  const answer = await redeem(world, code)
  assert.equal(answer.status, 200)
  assert.equal(claimsOf(answer.access_token)['oid'], id)
  assert.equal(claimsOf(answer.access_token)['aud'], world.url)
  assert.ok(answer.refresh_token)
  const again = await redeem(world, code)
  assert.equal(again.error, 'invalid_grant')
  // A code used twice was stolen once: what came of it ends.
  const refresh = await askToken(world, {
    grant_type: 'refresh_token',
    client_id: 'armature-cli',
    refresh_token: answer.refresh_token,
  })
  assert.equal(refresh.error, 'invalid_grant')
})

test('of two requests with one code at the same moment, one wins', async () => {
  await using world = await openWorld()
  await addAlice(world)
  const code = await getCode(world)
  const answers = await Promise.all([1, 2, 3].map(() => redeem(world, code)))
  assert.ok(answers.filter((answer) => answer.status === 200).length <= 1)
  assert.ok(answers.every(({ status }) => status === 200 || status === 400))
})

test('a public client without PKCE, with a wrong verifier or a plain challenge is refused', async () => {
  await using world = await openWorld()
  await addAlice(world)
  const browser = createBrowser(world.url)
  const { code_challenge: _c, code_challenge_method: _m, ...without } = codeRequest()
  const refused = await browser.open(authorizeAddress(without))
  assert.equal(refused.url.searchParams.get('error'), 'invalid_request')
  assert.match(refused.url.searchParams.get('error_description') ?? '', /PKCE/)
  const plain = await browser.open(
    authorizeAddress(codeRequest({ code_challenge_method: 'plain' })),
  )
  assert.equal(plain.url.searchParams.get('error'), 'invalid_request')
  const code = await getCode(world)
  assert.equal(
    (await redeem(world, code, { code_verifier: 'w'.repeat(43) })).error,
    'invalid_grant',
  )
})

test('refresh tokens rotate; an old one used again ends the whole chain', async () => {
  await using world = await openWorld()
  const id = await addAlice(world)
  const first = await redeem(world, await getCode(world))
  const refresh = (token: string, more = {}): Promise<TokenAnswer> =>
    askToken(world, {
      grant_type: 'refresh_token',
      client_id: 'armature-cli',
      refresh_token: token,
      ...more,
    })
  const second = await refresh(first.refresh_token, {
    scope: `${world.url}/.default offline_access openid`,
  })
  assert.equal(second.status, 200, JSON.stringify(second))
  assert.notEqual(second.refresh_token, first.refresh_token)
  assert.equal(claimsOf(second.access_token)['oid'], id)
  const replayed = await refresh(first.refresh_token)
  assert.equal(replayed.error, 'invalid_grant')
  assert.equal((await refresh(second.refresh_token)).error, 'invalid_grant')
})

test('a revoked refresh token, and one of a disabled account, is refused', async () => {
  await using world = await openWorld()
  const id = await addAlice(world)
  const one = await redeem(world, await getCode(world))
  const revoked = await fetch(`${world.url}/common/oauth2/revoke`, {
    method: 'POST',
    body: new URLSearchParams({ token: one.refresh_token, client_id: 'armature-cli' }),
  })
  assert.equal(revoked.status, 200)
  const form = { grant_type: 'refresh_token', client_id: 'armature-cli' }
  const after = await askToken(world, { ...form, refresh_token: one.refresh_token })
  assert.equal(after.error, 'invalid_grant')
  const two = await redeem(world, await getCode(world))
  await world.identity.directory.update(id, { enabled: false })
  const disabled = await askToken(world, { ...form, refresh_token: two.refresh_token })
  assert.equal(disabled.error, 'invalid_grant')
})

test('client credentials work in form and header, by every spelling of the route', async () => {
  await using world = await openWorld()
  const app = await addApplication(world)
  const post = { client_id: app.clientId, client_secret: app.clientSecret }
  const basic = {
    authorization: `Basic ${Buffer.from(`${app.clientId}:${app.clientSecret}`).toString('base64')}`,
  }
  const grant = { grant_type: 'client_credentials' }
  const answers = [
    await askToken(world, { ...grant, ...post }),
    await askToken(world, { ...grant }, basic),
    await askToken(world, { ...grant, ...post, scope: `${world.url}/.default` }),
    await askToken(world, { ...grant, ...post, resource: `${world.url}/` }),
    await askToken(world, { ...grant, ...post }, {}, `/${testTenant}/oauth2/v2.0/token`),
    await askToken(world, { ...grant, ...post }, {}, `/${testTenant}/oauth2/token`),
    await askToken(world, { ...grant, ...post }, {}, '/common/oauth2/v2.0/token'),
  ]
  for (const answer of answers) {
    assert.equal(answer.status, 200, JSON.stringify(answer))
    const claims = claimsOf(answer.access_token)
    assert.equal(claims['oid'], app.id)
    assert.equal(claims['appid'], app.clientId)
    assert.equal(claims['idtyp'], 'app')
    assert.equal(claims['aud'], world.url)
    assert.equal(answer['expires_in'], 3600)
    const principal = await world.identity.authenticator.authenticate(
      `Bearer ${answer.access_token}`,
    )
    assert.equal(principal.type, 'ServicePrincipal')
    assert.equal(principal.id, app.id)
    assert.equal(principal.displayName, app.clientId)
  }
})

test('wrong secrets, removed, expired and disabled ones are refused alike', async () => {
  await using world = await openWorld()
  const { directory } = world.identity
  const app = await addApplication(world)
  const ask = (secret: string, clientId = app.clientId): Promise<TokenAnswer> =>
    askToken(world, {
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
  const second = await directory.addSecret(app.id, { expiresAt: world.now() + 60_000 })
  assert.equal((await ask(second.value)).status, 200)
  assert.equal((await ask(app.clientSecret)).status, 200, 'the first one stays good beside it')
  world.wait(61)
  await refused(ask(second.value))
  const [first] = await directory.secrets(app.id)
  await directory.removeSecret(app.id, first?.id ?? '')
  await refused(ask(app.clientSecret))
  const third = await directory.addSecret(app.id)
  await directory.update(app.id, { enabled: false })
  await refused(ask(third.value))
  const unknown = await askToken(world, {
    grant_type: 'client_credentials',
    client_id: app.clientId,
    client_secret: third.value,
    resource: 'https://elsewhere.example/',
  })
  assert.notEqual(unknown.status, 200)
})

test('the owner’s own credentials act as the owner, a user', async () => {
  await using world = await openWorld()
  const owner = await world.identity.ensureOwner({ displayName: 'Owner' })
  assert.ok(owner.created)
  assert.deepEqual(await world.identity.ensureOwner({ displayName: 'Other' }), {
    created: false,
    principalId: owner.principalId,
  })
  const form = { grant_type: 'client_credentials', client_id: owner.clientId }
  const answer = await askToken(world, { ...form, client_secret: owner.clientSecret })
  const principal = await world.identity.authenticator.authenticate(`Bearer ${answer.access_token}`)
  assert.equal(principal.id, owner.principalId)
  assert.equal(principal.type, 'User')
  assert.equal(principal.displayName, 'owner')
  const browser = createBrowser(world.url)
  const page = await browser.open(authorizeAddress(codeRequest()))
  const end = await signIn(browser, page, owner)
  assert.ok(end.url.searchParams.get('code'))

  const fresh = await world.identity.resetOwner()
  assert.equal(fresh.principalId, owner.principalId)
  const old = await askToken(world, { ...form, client_secret: owner.clientSecret })
  assert.equal(old.error, 'invalid_client')
  const renewed = await askToken(world, { ...form, client_secret: fresh.clientSecret })
  assert.equal(renewed.status, 200)
  await assert.rejects(world.identity.directory.delete(owner.principalId), {
    code: 'OwnerProtected',
  })
  await assert.rejects(world.identity.directory.update(owner.principalId, { enabled: false }), {
    code: 'OwnerProtected',
  })
})

test('two first starts at the same moment make one owner', async () => {
  await using world = await openWorld()
  await using replica = await world.replica()
  const outcomes = await Promise.all([
    world.identity.ensureOwner({ displayName: 'Owner' }),
    replica.identity.ensureOwner({ displayName: 'Owner' }),
  ])
  assert.equal(outcomes.filter(({ created }) => created).length, 1)
  assert.equal(new Set(outcomes.map(({ principalId }) => principalId)).size, 1)
  const { items } = await world.identity.directory.list('User', undefined, 10)
  assert.deepEqual(
    items.map(({ signInName }) => signInName),
    ['owner'],
  )
})

async function startDevice(world: World): Promise<Record<string, string>> {
  const response = await fetch(`${world.url}/common/oauth2/v2.0/devicecode`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: 'armature-cli', scope: `${world.url}/.default` }),
  })
  assert.equal(response.status, 200)
  // The library's answer is flat text and numbers; the tests read its text.
  return (await response.json()) as Record<string, string>
}

function poll(world: World, device: Readonly<Record<string, string>>): Promise<TokenAnswer> {
  return askToken(world, {
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    client_id: 'armature-cli',
    device_code: device['device_code'] ?? '',
  })
}

test('a device signs in with a code that a person confirms', async () => {
  await using world = await openWorld()
  const id = await addAlice(world)
  const device = await startDevice(world)
  assert.equal(device['verification_uri'], `${world.url}/common/oauth2/deviceauth`)
  assert.equal((await poll(world, device)).error, 'authorization_pending')

  const browser = createBrowser(world.url)
  const entry = await browser.open('/common/oauth2/deviceauth')
  const wrong = await browser.submit(entry, { user_code: 'AAAA-AAAA' })
  assert.match(wrong.body, /There is no such code/)
  const confirm = await browser.submit(wrong, { user_code: device['user_code'] ?? '' })
  assert.match(confirm.body, /Is this your device\?/)
  assert.match(confirm.body, /Armature command line/)
  const done = await signIn(browser, await browser.submit(confirm, {}))
  assert.match(done.body, /The device is connected/)

  const answer = await poll(world, device)
  assert.equal(answer.status, 200, JSON.stringify(answer))
  assert.equal(claimsOf(answer.access_token)['oid'], id)
  assert.ok(answer.refresh_token)
  assert.equal((await poll(world, device)).error, 'invalid_grant')
})

test('the complete address only fills in the code, and stopping reaches the device', async () => {
  await using world = await openWorld()
  const device = await startDevice(world)
  const browser = createBrowser(world.url)
  const entry = await browser.open(device['verification_uri_complete'] ?? '')
  assert.match(entry.body, /<h1>Connect a device<\/h1>/)
  assert.ok(!entry.body.includes('<script'), 'nothing is submitted without the person')
  assert.match(entry.body, new RegExp(`value="${device['user_code']}"`))
  const confirm = await browser.submit(entry, { user_code: device['user_code'] ?? '' })
  const stopped = await browser.submit(confirm, { abort: 'yes' })
  assert.match(stopped.body, /stopped/)
  assert.equal((await poll(world, device)).error, 'access_denied')
})

test('the addresses in answers are the public ones, whatever the request claims', async () => {
  await using world = await openWorld({ publicUrl: () => 'https://armature.example' })
  const response = await fetch(`${world.url}/common/v2.0/.well-known/openid-configuration`, {
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
    `${world.url}${authorizeAddress({
      response_type: 'token',
      client_id: 'armature-portal',
      redirect_uri: 'https://armature.example/signed-in',
    })}`,
    { redirect: 'manual' },
  )
  assert.match(page.headers.getSetCookie().join(), /; secure/i)
})

test('the local identity endpoint gives the owner’s token for the right header only', async () => {
  await using world = await openWorld({ localTokenSecret: 'the secret' })
  const address = `${world.url}/common/identity/token?api-version=2019-08-01&resource=`
  const resource = encodeURIComponent(`${world.url}/`)
  const right = { 'x-identity-header': 'the secret' }
  assert.equal((await fetch(address + resource, { headers: right })).status, 400, 'no owner yet')
  const { principalId } = await world.identity.ensureOwner({ displayName: 'Owner' })
  const response = await fetch(address + resource, { headers: right })
  const body = (await response.json()) as Record<string, string>
  assert.equal(response.status, 200)
  assert.deepEqual(
    [body['token_type'], body['resource'], typeof body['expires_on']],
    ['Bearer', `${world.url}/`, 'string'],
  )
  const claims = claimsOf(body['access_token'] ?? '')
  assert.equal(claims['exp'], Number(body['expires_on']))
  const principal = await world.identity.authenticator.authenticate(
    `Bearer ${body['access_token']}`,
  )
  assert.equal(principal.id, principalId)
  const older = await fetch(`${world.url}/common/identity/token`, {
    method: 'POST',
    headers: { secret: 'the secret' },
    body: new URLSearchParams({ resource: world.url }),
  })
  assert.equal(older.status, 200)
  const withSlash = address.replace('/token?', '/token/?') + resource
  assert.equal((await fetch(withSlash, { headers: right })).status, 200)
  assert.equal((await fetch(address + resource)).status, 401)
  const wrong = { 'x-identity-header': 'the secre' }
  assert.equal((await fetch(address + resource, { headers: wrong })).status, 401)
  assert.equal((await fetch(`${address}https%3A%2F%2Felsewhere`, { headers: right })).status, 400)
  await using off = await openWorld()
  const answer = await fetch(`${off.url}/common/identity/token?resource=x`, { headers: right })
  assert.equal(answer.status, 404)
})

test('a client of managed identities without headers carries the secret in the address', async () => {
  await using world = await openWorld({ localTokenSecret: 'the-secret' })
  await world.identity.ensureOwner({ displayName: 'Owner' })
  const ask = (path: string) =>
    fetch(`${world.url}/common/identity/token/${path}`, {
      method: 'POST',
      body: new URLSearchParams({ resource: world.url }),
    })
  assert.equal((await ask('the-secret')).status, 200)
  for (const wrong of ['', 'the-secre', 'the-secret-']) {
    assert.equal((await ask(wrong)).status, 401, wrong)
  }
})

test('answers say what the family’s clients read: interval, message, scopes as asked, whose', async () => {
  await using world = await openWorld()
  const post = async (path: string, form: Readonly<Record<string, string>>) => {
    const response = await fetch(`${world.url}${path}`, {
      method: 'POST',
      body: new URLSearchParams(form),
    })
    return (await response.json()) as Record<string, unknown>
  }
  const scope = `${world.url}//.default`
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
  const { clientId, clientSecret } = await addApplication(world)
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
  await using world = await openWorld()
  const response = await fetch(`${world.url}/common/discovery/instance?api-version=1.1`)
  const body = (await response.json()) as { tenant_discovery_endpoint: string }
  assert.equal((await fetch(body.tenant_discovery_endpoint)).status, 200)
})

test('what is malformed is refused, never a fault', async () => {
  await using world = await openWorld()
  const post = (path: string, body: string, type = 'application/x-www-form-urlencoded') =>
    fetch(`${world.url}${path}`, { method: 'POST', body, headers: { 'content-type': type } })
  const answers = [
    await post('/common/oauth2/token', ''),
    await post('/common/oauth2/token', '%%%=%&grant_type=%00'),
    await post('/common/oauth2/token', '{}', 'application/json'),
    await post(
      '/common/oauth2/token',
      'grant_type=password&username=a&password=b&client_id=armature-cli',
    ),
    await post('/common/oauth2/devicecode', 'client_id=a&client_id=b'),
    await fetch(`${world.url}/common/oauth2/token`),
    await fetch(`${world.url}/common/oauth2/authorize?client_id=%00&response_type=token`),
    await fetch(`${world.url}/common/oauth2/authorize/no-such`),
    await fetch(`${world.url}/common/oauth2/interaction/none`),
    await post('/common/oauth2/interaction/none', 'do=sign-in'),
    await fetch(`${world.url}/common/oauth2/interaction/none`, { method: 'PUT' }),
    await fetch(`${world.url}/other-tenant/oauth2/token`, { method: 'POST' }),
    await fetch(`${world.url}/nothing`),
  ]
  for (const answer of answers) {
    assert.ok(answer.status >= 400 && answer.status < 500, `${answer.url}: ${answer.status}`)
  }
  const huge = await post('/common/oauth2/token', `grant_type=${'x'.repeat(100_000)}`)
  assert.equal(huge.status, 413)
  assert.deepEqual(world.logged, [])
})
