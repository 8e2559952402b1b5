/** A session begins only for what is still good: a password is checked before the session's transaction. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { directorySql } from './directory-sql.ts'
import { defaultIdentityLimits } from './limits.ts'
import { openSessions } from './sessions.ts'
import { createBrowser } from './testing/browser.ts'
import { openIdentityFixture, testIds } from './testing/fixture.ts'
import { addAlice, alice, authorizeAddress, signIn } from './testing/flows.ts'
import { createSeal } from './testing/seal.ts'

test('an account that is disabled, and a password that is changed, while somebody signs in', async () => {
  await using fixture = await openIdentityFixture()
  const { directory } = fixture.identity
  const id = await addAlice(fixture)
  const clock = { now: fixture.now }
  const sessions = openSessions({
    sql: directorySql(fixture.store.sql, clock),
    clock,
    ids: testIds,
    seal: createSeal(fixture.installationKey),
    limits: defaultIdentityLimits,
  })
  /** Whether the browser is signed in after `meanwhile` came between the check of the password and the session. */
  async function signsIn(uid: string, meanwhile: () => Promise<unknown>): Promise<boolean> {
    const found = await directory.verifyPassword(alice.signInName, alice.password)
    assert.ok(found)
    const { credentialId } = found
    await meanwhile()
    const origin = { address: '192.0.2.1', userAgent: '' }
    await sessions.begin(uid, { principalId: id, credentialId, origin })
    await directory.update(id, { enabled: true })
    return (await sessions.use({ uid, clientId: undefined }, id)) !== undefined
  }
  assert.equal(await signsIn('one', async () => {}), true)
  assert.equal(await signsIn('two', () => directory.update(id, { enabled: false })), false)
  assert.equal(
    await signsIn('three', () => directory.setPassword(id, 'another horse battery')),
    false,
  )
})

test('what a browser leaves in which nobody has signed in is kept for as long as its page, and no longer', async () => {
  await using fixture = await openIdentityFixture()
  const { interactionSeconds, sessionSeconds } = defaultIdentityLimits
  await addAlice(fixture)
  /** The seconds for which each stored session is kept from now on. */
  async function kept(): Promise<number[]> {
    const rows = await fixture.store.sql.all(
      "select expires_at from identity_oauth_states where kind = 'Session'",
    )
    return rows.map((row) => (Number(row['expires_at']) - fixture.now()) / 1000)
  }
  const browser = createBrowser(fixture.url)
  await browser.open('/common/oauth2/deviceauth')
  await browser.open('/common/oauth2/logout')
  await createBrowser(fixture.url).open('/common/oauth2/deviceauth')
  // The cookies of a session that is there no more.
  await fixture.store.sql.transact((tx) => tx.run('delete from identity_oauth_states'))
  await browser.open('/common/oauth2/deviceauth')
  await createBrowser(fixture.url).open('/common/oauth2/logout')
  const short = await kept()
  assert.equal(short.length, 2)
  assert.ok(Math.max(...short) <= interactionSeconds, short.join())
  const parameters = {
    response_type: 'token',
    client_id: 'armature-portal',
    redirect_uri: `${fixture.url}/signed-in`,
    scope: 'user_impersonation',
  }
  await signIn(browser, await browser.open(authorizeAddress(parameters)))
  assert.ok(Math.max(...(await kept())) > sessionSeconds - interactionSeconds)
})

test('what begins a sign-in with parameters that are too long leaves nothing', async () => {
  await using fixture = await openIdentityFixture()
  const rows = async () =>
    (await fixture.store.sql.all('select payload from identity_oauth_states')).length
  const parameters = {
    response_type: 'token',
    client_id: 'armature-portal',
    redirect_uri: `${fixture.url}/signed-in`,
    scope: 'user_impersonation',
  }
  const begin = (state: string) => authorizeAddress({ ...parameters, state })
  const long = 'x'.repeat(4_000)
  const post = (address: string, form: Readonly<Record<string, string>>) =>
    fetch(`${fixture.url}${address}`, { method: 'POST', body: new URLSearchParams(form) })
  const device = { client_id: 'armature-cli', scope: 'user_impersonation' }
  const refused = [
    await fetch(`${fixture.url}${begin(long)}`, { redirect: 'manual' }),
    await post('/common/oauth2/authorize', { ...parameters, state: long }),
    await post('/common/oauth2/devicecode', { ...device, login_hint: long.repeat(2) }),
    await fetch(`${fixture.url}/common/oauth2/logout?state=${long}${long}`),
  ]
  for (const answer of refused) {
    assert.equal(answer.status, 400)
    assert.match(await answer.text(), /at most 4096 characters/)
  }
  assert.equal(await rows(), 0)
  await fetch(`${fixture.url}${begin('x'.repeat(3_000))}`, { redirect: 'manual' })
  assert.ok((await rows()) > 0)
})

test('a device code keeps nothing of the program that asks for it', async () => {
  await using fixture = await openIdentityFixture()
  const answer = await fetch(`${fixture.url}/common/oauth2/devicecode`, {
    method: 'POST',
    headers: { 'user-agent': 'x'.repeat(12_000) },
    body: new URLSearchParams({ client_id: 'armature-cli' }),
  })
  assert.equal(answer.status, 200)
  const [row] = await fixture.store.sql.all('select payload from identity_oauth_states')
  const { length } = String(row?.['payload'])
  assert.ok(length > 0 && length < 2_000, `${length}`)
})

test('the session of an installation below a path is sent to nobody else at its host', async () => {
  for (const [publicUrl, path] of [
    ['https://host.example/plane', '/plane'],
    ['https://host.example', '/'],
  ] as const) {
    await using fixture = await openIdentityFixture({ publicUrl: () => publicUrl })
    const { headers } = await fetch(`${fixture.url}/common/oauth2/deviceauth`)
    const cookies = headers.getSetCookie().filter((one) => one.startsWith('armature_session'))
    assert.equal(cookies.length, 2)
    for (const cookie of cookies) {
      assert.match(cookie, new RegExp(`; path=${path}; samesite=lax; secure; httponly`), cookie)
    }
  }
})
