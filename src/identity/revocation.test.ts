/** What ends tokens, on the process that was told and on another one, on both stores. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Sql } from '#stores/store.ts'
import { findPostgres, howToGetPostgres, startPostgres } from '#stores/testing/postgres-server.ts'
import { requireOrSkip } from '../../tests/require.ts'
import type { IdentityOptions } from './identity.ts'
import { defaultIdentityLimits } from './limits.ts'
import { type Browser, createBrowser, type Visit } from './testing/browser.ts'
import { type IdentityFixture, openIdentityFixture, openTestStore } from './testing/fixture.ts'
import {
  addAlice,
  addApplication,
  alice,
  askToken,
  authorizeAddress,
  challenge,
  claimsOf,
  fragmentOf,
  signIn,
  type TokenAnswer,
  verifier,
} from './testing/flows.ts'
import { openReplicas, type Replicas } from './testing/replicas.ts'

type Open = (options?: Partial<IdentityOptions>) => Promise<Replicas>

async function openOnSqlite(options: Partial<IdentityOptions> = {}): Promise<Replicas> {
  await using opening = new AsyncDisposableStack()
  const fixture = opening.use(await openIdentityFixture(options))
  const replica = opening.use(await fixture.replica())
  const opened = opening.move()
  return { fixture, replica, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

const scenarios: [name: string, run: (open: Open) => Promise<void>][] = []

function onBothStores(name: string, run: (open: Open) => Promise<void>): void {
  scenarios.push([name, run])
  test(`${name}, on SQLite`, () => run(openOnSqlite))
}

/** Undefined if the token is valid in both processes, else the reason. */
async function refusalOf(
  { fixture, replica }: Replicas,
  token: string,
): Promise<string | undefined> {
  const answers = await Promise.all(
    [fixture, replica].map(async ({ identity }) => {
      try {
        await identity.authenticator.authenticate(`Bearer ${token}`)
        return undefined
      } catch (error) {
        return String(error)
      }
    }),
  )
  assert.equal(answers[0], answers[1])
  return answers[0]?.replace(/^.*: (.*)\.$/, '$1')
}

/** The page that a browser sees when it requests a token: the password form, or the end. */
function askAsPortal(fixture: IdentityFixture, browser: Browser): Promise<Visit> {
  return browser.open(
    authorizeAddress({
      response_type: 'token',
      client_id: 'armature-portal',
      redirect_uri: `${fixture.url}/signed-in`,
    }),
  )
}

async function signInAsPortal(
  fixture: IdentityFixture,
  browser: Browser,
  who = alice,
): Promise<string> {
  const end = await signIn(browser, await askAsPortal(fixture, browser), who)
  return fragmentOf(end).get('access_token') ?? ''
}

/** Signs the command line in by a browser that is signed in. */
async function letCommandLineIn(fixture: IdentityFixture, browser: Browser): Promise<TokenAnswer> {
  const redirect = 'http://127.0.0.1:1/callback'
  const form = await browser.open(
    authorizeAddress({
      response_type: 'code',
      client_id: 'armature-cli',
      redirect_uri: redirect,
      code_challenge: challenge,
      code_challenge_method: 'S256',
      scope: 'openid user_impersonation',
    }),
  )
  const back = await browser.submit(form, { do: 'allow' })
  return askToken(fixture, {
    grant_type: 'authorization_code',
    client_id: 'armature-cli',
    code: back.url.searchParams.get('code') ?? '',
    code_verifier: verifier,
    redirect_uri: redirect,
  })
}

function refresh(fixture: IdentityFixture, { refresh_token }: TokenAnswer): Promise<TokenAnswer> {
  return askToken(fixture, {
    grant_type: 'refresh_token',
    client_id: 'armature-cli',
    refresh_token,
  })
}

onBothStores('a removed secret ends the tokens it got, and no others', async (open) => {
  await using both = await open()
  const { fixture, replica } = both
  const { directory } = fixture.identity
  const { id, clientId, clientSecret } = await addApplication(fixture)
  const second = await directory.addSecret(id)
  const tokenBy = async (secret: string): Promise<string> => {
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: secret }
    return (await askToken(fixture, form)).access_token
  }
  const [first, other] = [await tokenBy(clientSecret), await tokenBy(second.value)]
  assert.equal(await refusalOf(both, first), undefined)
  const known = (await directory.secrets(id)).find(({ id: one }) => one !== second.id)
  await replica.identity.directory.removeSecret(id, known?.id ?? '')
  assert.match((await refusalOf(both, first)) ?? '', /the secret or password/)
  assert.equal(await refusalOf(both, other), undefined)
})

/** Signs Alice in for an application, which redeems the code by its secret. */
async function letApplicationIn(
  fixture: IdentityFixture,
  application: { readonly clientId: string; readonly clientSecret: string },
): Promise<string> {
  const { clientId: client_id, clientSecret: client_secret } = application
  const redirect_uri = `${fixture.url}/back`
  const browser = createBrowser(fixture.url)
  const address = authorizeAddress({ response_type: 'code', client_id, redirect_uri })
  const signedIn = await signIn(browser, await browser.open(address))
  const back = signedIn.body.includes('value="allow"')
    ? await browser.submit(signedIn, { do: 'allow' })
    : signedIn
  const code = back.url.searchParams.get('code') ?? ''
  const grant_type = 'authorization_code'
  const form = { grant_type, client_id, client_secret, code, redirect_uri }
  return (await askToken(fixture, form)).access_token
}

function actFor(
  fixture: IdentityFixture,
  { clientId, clientSecret }: { readonly clientId: string; readonly clientSecret: string },
  assertion: string,
): Promise<TokenAnswer> {
  return askToken(fixture, {
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    requested_token_use: 'on_behalf_of',
    client_id: clientId,
    client_secret: clientSecret,
    assertion,
  })
}

test('a token that is revoked while it is given in exchange gives none that goes on', async () => {
  await using store = await openTestStore()
  let revoke: (() => Promise<void>) | undefined
  const sql: Sql = {
    ...store.sql,
    async all(text, ...values) {
      const rows = await store.sql.all(text, ...values)
      const now = text.includes('ended_at is not null') ? revoke : undefined
      if (now !== undefined) revoke = undefined
      await now?.()
      return rows
    },
  }
  const shared = { store, installationKey: Buffer.alloc(32, 5) }
  await using fixture = await openIdentityFixture({ sql }, shared)
  const { identity } = fixture
  const id = await addAlice(fixture)
  const application = await addApplication(fixture)
  const { token } = await identity.issueToken(id)
  // The last of what is read to check the assertion.
  revoke = () => identity.directory.revoke(id)
  const answer = await actFor(fixture, application, token)
  assert.equal(revoke, undefined)
  assert.equal(answer.status, 200, JSON.stringify(answer))
  await assert.rejects(async () =>
    identity.authenticator.authenticate(`Bearer ${answer.access_token}`),
  )
})

onBothStores('a token ends at the latest with the secret that it was got with', async (open) => {
  await using both = await open()
  const { fixture } = both
  const { directory } = fixture.identity
  await addAlice(fixture)
  const portal = await signInAsPortal(fixture, createBrowser(fixture.url))
  const { id, clientId, clientSecret } = await addApplication(fixture, [`${fixture.url}/back`])
  const expiresAt = fixture.now() + 600_000
  const { value } = await directory.addSecret(id, { expiresAt })
  const tokensBy = async (secret: string): Promise<readonly string[]> => {
    const application = { clientId, clientSecret: secret }
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: secret }
    return [
      (await askToken(fixture, form)).access_token,
      await letApplicationIn(fixture, application),
      (await actFor(fixture, application, portal)).access_token,
    ]
  }
  const secondsOf = (token: string): number => Number(claimsOf(token)['exp']) - expiresAt / 1000
  const short = await tokensBy(value)
  for (const token of short) assert.ok(secondsOf(token) <= 0 && secondsOf(token) > -30, token)
  const long = await tokensBy(clientSecret)
  for (const token of long) assert.ok(secondsOf(token) > 0, token)
  fixture.wait(600 + defaultIdentityLimits.clockSkewSeconds)
  for (const token of short) {
    const expired = fixture.identity.authenticator.authenticate(`Bearer ${token}`)
    await assert.rejects(async () => expired, { code: 'ExpiredAuthenticationToken' })
  }
  for (const token of long) await fixture.identity.authenticator.authenticate(`Bearer ${token}`)
})

onBothStores('what ends an application ends the tokens that it got for users', async (open) => {
  await using both = await open()
  const { fixture, replica } = both
  const { directory } = fixture.identity
  await addAlice(fixture)
  const portal = await signInAsPortal(fixture, createBrowser(fixture.url))
  const [first, second] = [
    await addApplication(fixture, [`${fixture.url}/back`]),
    await addApplication(fixture),
  ]
  const tokens = async (): Promise<readonly string[]> => {
    const byCode = await letApplicationIn(fixture, first)
    const { access_token: forUser } = await actFor(fixture, first, portal)
    const { access_token: chained } = await actFor(fixture, second, forUser)
    return [byCode, forUser, chained]
  }
  const refusals = (all: readonly string[]) =>
    Promise.all(all.map((token) => refusalOf(both, token)))
  const none = [undefined, undefined, undefined]
  const before = await tokens()
  assert.deepEqual(await refusals(before), none)
  const kept = await directory.addSecret(first.id)
  const known = (await directory.secrets(first.id)).find(({ id }) => id !== kept.id)
  await replica.identity.directory.removeSecret(first.id, known?.id ?? '')
  for (const reason of await refusals(before)) assert.match(reason ?? '', /the secret/)
  first.clientSecret = kept.value
  const after = await tokens()
  assert.deepEqual(await refusals(after), none)
  await replica.identity.directory.update(first.id, { enabled: false })
  for (const reason of await refusals(after)) assert.match(reason ?? '', /application .*disabled/)
})

onBothStores('a token goes through so many applications and no more', async (open) => {
  await using both = await open()
  const { fixture } = both
  await addAlice(fixture)
  let token = await signInAsPortal(fixture, createBrowser(fixture.url))
  for (let at = 0; at < 10; at++) {
    token = (await actFor(fixture, await addApplication(fixture), token)).access_token
  }
  const last = await actFor(fixture, await addApplication(fixture), token)
  assert.deepEqual([last.status, last.error], [400, 'invalid_grant'])
})

onBothStores('a changed password ends sessions, tokens and refresh tokens', async (open) => {
  await using both = await open()
  const { fixture, replica } = both
  const id = await addAlice(fixture)
  const secret = await fixture.identity.directory.addSecret(id)
  const bySecret = await askToken(fixture, {
    grant_type: 'client_credentials',
    client_id: id,
    client_secret: secret.value,
  })
  const browser = createBrowser(fixture.url)
  const portal = await signInAsPortal(fixture, browser)
  const cli = await letCommandLineIn(fixture, browser)
  for (const token of [portal, cli.access_token, bySecret.access_token]) {
    assert.equal(await refusalOf(both, token), undefined)
  }
  await replica.identity.directory.setPassword(id, 'another long password')
  assert.notEqual(await refusalOf(both, portal), undefined)
  assert.notEqual(await refusalOf(both, cli.access_token), undefined)
  assert.equal((await refresh(fixture, cli)).error, 'invalid_grant')
  assert.equal(await refusalOf(both, bySecret.access_token), undefined, 'not got by the password')
  assert.match((await askAsPortal(fixture, browser)).body, /<h1>Sign in<\/h1>/)
})

onBothStores('a session that is ended takes its tokens along, and no other’s', async (open) => {
  await using both = await open({ originOf: () => ({ address: '192.0.2.9', userAgent: 'b' }) })
  const { fixture, replica } = both
  const { directory } = replica.identity
  const id = await addAlice(fixture)
  const [here, there] = [createBrowser(fixture.url), createBrowser(fixture.url)]
  const first = await signInAsPortal(fixture, here)
  fixture.wait(2)
  const second = await signInAsPortal(fixture, there)
  const cli = await letCommandLineIn(fixture, there)
  const listed = await directory.sessions(id)
  assert.deepEqual(
    listed.map(({ clientId, origin }) => [clientId, origin.address]).sort(),
    [
      ['armature-cli', '192.0.2.9'],
      [undefined, '192.0.2.9'],
      [undefined, '192.0.2.9'],
    ].sort(),
  )

  const oldest = listed.at(-1)
  await directory.endSession(id, oldest?.id ?? '')
  assert.match((await refusalOf(both, first)) ?? '', /its session has ended/)
  assert.match((await askAsPortal(fixture, here)).body, /<h1>Sign in<\/h1>/)
  assert.equal(await refusalOf(both, second), undefined)

  const own = listed.find(({ clientId }) => clientId === 'armature-cli')
  await directory.endSession(id, own?.id ?? '')
  assert.match((await refusalOf(both, cli.access_token)) ?? '', /its session has ended/)
  assert.equal((await refresh(fixture, cli)).error, 'invalid_grant')
  assert.equal(await refusalOf(both, second), undefined, 'the browser stays signed in')
  const again = await letCommandLineIn(fixture, there)
  assert.equal(await refusalOf(both, again.access_token), undefined)
  const renewed = await refresh(fixture, again)
  assert.equal(await refusalOf(both, renewed.access_token), undefined)
  assert.equal((await refresh(fixture, cli)).error, 'invalid_grant', 'the old one stays ended')
  assert.match((await refusalOf(both, cli.access_token)) ?? '', /its session has ended/)
  await assert.rejects(directory.endSession(id, own?.id ?? ''), { code: 'SessionNotFound' })
})

onBothStores('signing out, and giving a refresh token back, end tokens', async (open) => {
  await using both = await open()
  const { fixture } = both
  await addAlice(fixture)
  const browser = createBrowser(fixture.url)
  const portal = await signInAsPortal(fixture, browser)
  const cli = await letCommandLineIn(fixture, browser)
  const question = await browser.open('/common/oauth2/logout')
  await browser.submit(question, { logout: 'yes' })
  assert.match((await refusalOf(both, portal)) ?? '', /its session has ended/)
  assert.equal(await refusalOf(both, cli.access_token), undefined)
  const renewed = await refresh(fixture, cli)
  assert.equal(await refusalOf(both, renewed.access_token), undefined)
  await fetch(`${fixture.url}/common/oauth2/revoke`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: 'armature-cli', token: renewed.refresh_token }),
  })
  assert.match((await refusalOf(both, renewed.access_token)) ?? '', /its session has ended/)
})

onBothStores(
  'revoking a principal ends all it has, and its credentials stay good',
  async (open) => {
    await using both = await open()
    const { fixture, replica } = both
    const id = await addAlice(fixture)
    const secret = await fixture.identity.directory.addSecret(id)
    const form = { grant_type: 'client_credentials', client_id: id, client_secret: secret.value }
    const browser = createBrowser(fixture.url)
    const tokens = [
      (await askToken(fixture, form)).access_token,
      await signInAsPortal(fixture, browser),
      (await fixture.identity.issueToken(id)).token,
    ]
    const cli = await letCommandLineIn(fixture, browser)
    await replica.identity.directory.revoke(id)
    for (const token of [...tokens, cli.access_token]) {
      assert.match((await refusalOf(both, token)) ?? '', /it was revoked/)
    }
    assert.equal((await refresh(fixture, cli)).error, 'invalid_grant')
    assert.deepEqual(await replica.identity.directory.sessions(id), [])
    assert.equal(await refusalOf(both, (await askToken(fixture, form)).access_token), undefined)
    assert.equal(await refusalOf(both, await signInAsPortal(fixture, browser)), undefined)
  },
)

test('sessions end when they are not used, and at the latest after their whole time', async () => {
  const limits = { sessionSeconds: 600, sessionSecondsMax: 1000 }
  await using fixture = await openIdentityFixture({ limits })
  await addAlice(fixture)
  const browser = createBrowser(fixture.url)
  await signInAsPortal(fixture, browser)
  let cli = await letCommandLineIn(fixture, browser)
  const renew = async (): Promise<string | undefined> => {
    const answer = await refresh(fixture, cli)
    if (answer.error === undefined) cli = answer
    return answer.error
  }
  for (const seconds of [500, 400]) {
    fixture.wait(seconds)
    assert.equal((await askAsPortal(fixture, browser)).url.pathname, '/signed-in')
    assert.equal(await renew(), undefined)
  }
  fixture.wait(200)
  assert.match((await askAsPortal(fixture, browser)).body, /<h1>Sign in<\/h1>/, 'the whole time')
  assert.equal(await renew(), 'invalid_grant')

  await signInAsPortal(fixture, browser)
  const before = cli
  cli = await letCommandLineIn(fixture, browser)
  assert.equal((await refresh(fixture, before)).error, 'invalid_grant', 'it is another session')
  assert.equal(await renew(), undefined)
  fixture.wait(601)
  assert.match((await askAsPortal(fixture, browser)).body, /<h1>Sign in<\/h1>/, 'not used')
  assert.equal(await renew(), 'invalid_grant')
})

test('an account has so many sessions and no more', async () => {
  await using fixture = await openIdentityFixture({ limits: { sessionsPerPrincipalMax: 2 } })
  const id = await addAlice(fixture)
  const tokens: string[] = []
  for (let i = 0; i < 3; i += 1) {
    tokens.push(await signInAsPortal(fixture, createBrowser(fixture.url)))
    fixture.wait(2)
  }
  assert.equal((await fixture.identity.directory.sessions(id)).length, 2)
  const [first = '', ...others] = tokens
  await assert.rejects(async () => fixture.identity.authenticator.authenticate(`Bearer ${first}`))
  for (const token of others) await fixture.identity.authenticator.authenticate(`Bearer ${token}`)
})

test('the same on PostgreSQL', async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using server = await startPostgres({ fsync: false })
  for (const [name, run] of scenarios) {
    await t.test(name, () => run((options) => openReplicas(options, server)))
  }
})
