/** What ends tokens, on the process that was told and on another, on both stores. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findPostgres, howToGetPostgres, startPostgres } from '#stores/testing/postgres-server.ts'
import { requireOrSkip } from '../../tests/require.ts'
import type { IdentityOptions } from './identity.ts'
import { type Browser, createBrowser, type Visit } from './testing/browser.ts'
import {
  addAlice,
  addApplication,
  alice,
  askToken,
  authorizeAddress,
  challenge,
  fragmentOf,
  signIn,
  type TokenAnswer,
  verifier,
} from './testing/flows.ts'
import { openReplicas, type Replicas } from './testing/replicas.ts'
import { openWorld, type World } from './testing/world.ts'

type Open = (options?: Partial<IdentityOptions>) => Promise<Replicas>

async function openOnSqlite(options: Partial<IdentityOptions> = {}): Promise<Replicas> {
  await using opening = new AsyncDisposableStack()
  const world = opening.use(await openWorld(options))
  const replica = opening.use(await world.replica())
  const opened = opening.move()
  return { world, replica, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

const scenarios: [name: string, run: (open: Open) => Promise<void>][] = []

function onBothStores(name: string, run: (open: Open) => Promise<void>): void {
  scenarios.push([name, run])
  test(`${name}, on SQLite`, () => run(openOnSqlite))
}

/** Is the token good, in both processes alike? `undefined` if so, else why not. */
async function refusalOf({ world, replica }: Replicas, token: string): Promise<string | undefined> {
  const answers = await Promise.all(
    [world, replica].map(async ({ identity }) => {
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

/** The page a browser is shown when it asks for a token: the question for a password, or the end. */
function askAsPortal(world: World, browser: Browser): Promise<Visit> {
  return browser.open(
    authorizeAddress({
      response_type: 'token',
      client_id: 'armature-portal',
      redirect_uri: `${world.url}/signed-in`,
    }),
  )
}

async function signInAsPortal(world: World, browser: Browser, who = alice): Promise<string> {
  const end = await signIn(browser, await askAsPortal(world, browser), who)
  return fragmentOf(end).get('access_token') ?? ''
}

/** The command line, let in by a browser that is signed in. */
async function letCommandLineIn(world: World, browser: Browser): Promise<TokenAnswer> {
  const redirect = 'http://127.0.0.1:1/callback'
  const back = await browser.open(
    authorizeAddress({
      response_type: 'code',
      client_id: 'armature-cli',
      redirect_uri: redirect,
      code_challenge: challenge,
      code_challenge_method: 'S256',
      scope: 'openid user_impersonation',
    }),
  )
  return askToken(world, {
    grant_type: 'authorization_code',
    client_id: 'armature-cli',
    code: back.url.searchParams.get('code') ?? '',
    code_verifier: verifier,
    redirect_uri: redirect,
  })
}

function refresh(world: World, { refresh_token }: TokenAnswer): Promise<TokenAnswer> {
  return askToken(world, { grant_type: 'refresh_token', client_id: 'armature-cli', refresh_token })
}

onBothStores('a removed secret ends the tokens it got, and no others', async (open) => {
  await using both = await open()
  const { world, replica } = both
  const { directory } = world.identity
  const { id, clientId, clientSecret } = await addApplication(world)
  const second = await directory.addSecret(id)
  const tokenBy = async (secret: string): Promise<string> => {
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: secret }
    return (await askToken(world, form)).access_token
  }
  const [first, other] = [await tokenBy(clientSecret), await tokenBy(second.value)]
  assert.equal(await refusalOf(both, first), undefined)
  const known = (await directory.secrets(id)).find(({ id: one }) => one !== second.id)
  await replica.identity.directory.removeSecret(id, known?.id ?? '')
  assert.match((await refusalOf(both, first)) ?? '', /the secret or password/)
  assert.equal(await refusalOf(both, other), undefined)
})

onBothStores('a changed password ends sessions, tokens and refresh tokens', async (open) => {
  await using both = await open()
  const { world, replica } = both
  const id = await addAlice(world)
  const secret = await world.identity.directory.addSecret(id)
  const bySecret = await askToken(world, {
    grant_type: 'client_credentials',
    client_id: id,
    client_secret: secret.value,
  })
  const browser = createBrowser(world.url)
  const portal = await signInAsPortal(world, browser)
  const cli = await letCommandLineIn(world, browser)
  for (const token of [portal, cli.access_token, bySecret.access_token]) {
    assert.equal(await refusalOf(both, token), undefined)
  }
  await replica.identity.directory.setPassword(id, 'another long password')
  assert.notEqual(await refusalOf(both, portal), undefined)
  assert.notEqual(await refusalOf(both, cli.access_token), undefined)
  assert.equal((await refresh(world, cli)).error, 'invalid_grant')
  assert.equal(await refusalOf(both, bySecret.access_token), undefined, 'not got by the password')
  assert.match((await askAsPortal(world, browser)).body, /<h1>Sign in<\/h1>/)
})

onBothStores('a session that is ended takes its tokens along, and no other’s', async (open) => {
  await using both = await open({ originOf: () => ({ address: '192.0.2.9', userAgent: 'b' }) })
  const { world, replica } = both
  const { directory } = replica.identity
  const id = await addAlice(world)
  const [here, there] = [createBrowser(world.url), createBrowser(world.url)]
  const first = await signInAsPortal(world, here)
  world.wait(2)
  const second = await signInAsPortal(world, there)
  const cli = await letCommandLineIn(world, there)
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
  assert.match((await askAsPortal(world, here)).body, /<h1>Sign in<\/h1>/)
  assert.equal(await refusalOf(both, second), undefined)

  const own = listed.find(({ clientId }) => clientId === 'armature-cli')
  await directory.endSession(id, own?.id ?? '')
  assert.match((await refusalOf(both, cli.access_token)) ?? '', /its session has ended/)
  assert.equal((await refresh(world, cli)).error, 'invalid_grant')
  assert.equal(await refusalOf(both, second), undefined, 'the browser stays signed in')
  const again = await letCommandLineIn(world, there)
  assert.equal(await refusalOf(both, again.access_token), undefined)
  const renewed = await refresh(world, again)
  assert.equal(await refusalOf(both, renewed.access_token), undefined)
  assert.equal((await refresh(world, cli)).error, 'invalid_grant', 'the old one stays ended')
  assert.match((await refusalOf(both, cli.access_token)) ?? '', /its session has ended/)
  await assert.rejects(directory.endSession(id, own?.id ?? ''), { code: 'SessionNotFound' })
})

onBothStores('signing out, and giving a refresh token back, end tokens', async (open) => {
  await using both = await open()
  const { world } = both
  await addAlice(world)
  const browser = createBrowser(world.url)
  const portal = await signInAsPortal(world, browser)
  const cli = await letCommandLineIn(world, browser)
  const question = await browser.open('/common/oauth2/logout')
  await browser.submit(question, { logout: 'yes' })
  assert.match((await refusalOf(both, portal)) ?? '', /its session has ended/)
  assert.equal(await refusalOf(both, cli.access_token), undefined)
  const renewed = await refresh(world, cli)
  assert.equal(await refusalOf(both, renewed.access_token), undefined)
  await fetch(`${world.url}/common/oauth2/revoke`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: 'armature-cli', token: renewed.refresh_token }),
  })
  assert.match((await refusalOf(both, renewed.access_token)) ?? '', /its session has ended/)
})

onBothStores(
  'revoking a principal ends all it has, and its credentials stay good',
  async (open) => {
    await using both = await open()
    const { world, replica } = both
    const id = await addAlice(world)
    const secret = await world.identity.directory.addSecret(id)
    const form = { grant_type: 'client_credentials', client_id: id, client_secret: secret.value }
    const browser = createBrowser(world.url)
    const tokens = [
      (await askToken(world, form)).access_token,
      await signInAsPortal(world, browser),
      (await world.identity.issueToken(id)).token,
    ]
    const cli = await letCommandLineIn(world, browser)
    await replica.identity.directory.revoke(id)
    for (const token of [...tokens, cli.access_token]) {
      assert.match((await refusalOf(both, token)) ?? '', /it was revoked/)
    }
    assert.equal((await refresh(world, cli)).error, 'invalid_grant')
    assert.deepEqual(await replica.identity.directory.sessions(id), [])
    assert.equal(await refusalOf(both, (await askToken(world, form)).access_token), undefined)
    assert.equal(await refusalOf(both, await signInAsPortal(world, browser)), undefined)
  },
)

test('sessions end when they are not used, and at the latest after their whole time', async () => {
  const limits = { sessionSeconds: 600, sessionSecondsMax: 1000 }
  await using world = await openWorld({ limits })
  await addAlice(world)
  const browser = createBrowser(world.url)
  await signInAsPortal(world, browser)
  let cli = await letCommandLineIn(world, browser)
  const renew = async (): Promise<string | undefined> => {
    const answer = await refresh(world, cli)
    if (answer.error === undefined) cli = answer
    return answer.error
  }
  for (const seconds of [500, 400]) {
    world.wait(seconds)
    assert.equal((await askAsPortal(world, browser)).url.pathname, '/signed-in')
    assert.equal(await renew(), undefined)
  }
  world.wait(200)
  assert.match((await askAsPortal(world, browser)).body, /<h1>Sign in<\/h1>/, 'the whole time')
  assert.equal(await renew(), 'invalid_grant')

  await signInAsPortal(world, browser)
  const before = cli
  cli = await letCommandLineIn(world, browser)
  assert.equal((await refresh(world, before)).error, 'invalid_grant', 'it is another session')
  assert.equal(await renew(), undefined)
  world.wait(601)
  assert.match((await askAsPortal(world, browser)).body, /<h1>Sign in<\/h1>/, 'not used')
  assert.equal(await renew(), 'invalid_grant')
})

test('an account has so many sessions and no more', async () => {
  await using world = await openWorld({ limits: { sessionsPerPrincipalMax: 2 } })
  const id = await addAlice(world)
  const tokens: string[] = []
  for (let i = 0; i < 3; i += 1) {
    tokens.push(await signInAsPortal(world, createBrowser(world.url)))
    world.wait(2)
  }
  assert.equal((await world.identity.directory.sessions(id)).length, 2)
  const [first = '', ...others] = tokens
  await assert.rejects(async () => world.identity.authenticator.authenticate(`Bearer ${first}`))
  for (const token of others) await world.identity.authenticator.authenticate(`Bearer ${token}`)
})

test('the same on PostgreSQL', async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using server = await startPostgres({ fsync: false })
  for (const [name, run] of scenarios) {
    await t.test(name, () => run((options) => openReplicas(options, server)))
  }
})
