/** Guessing passwords is slow, for known and unknown accounts alike, across replicas and restarts. */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { defaultIdentityLimits } from './limits.ts'
import { createSignIn, delaySeconds, type SignIn, type SignInOutcome } from './sign-in.ts'
import { createBrowser } from './testing/browser.ts'
import { type IdentityFixture, openIdentityFixture, testIds } from './testing/fixture.ts'
import { addAlice, alice, authorizeAddress } from './testing/flows.ts'
import { createSeal } from './testing/seal.ts'

const installationKey = randomBytes(32)

function signInOf(
  fixture: IdentityFixture,
  directory: Parameters<typeof createSignIn>[0]['directory'] = fixture.identity.directory,
): SignIn {
  return createSignIn({
    sql: fixture.store.sql,
    directory,
    clock: { now: fixture.now },
    ids: testIds,
    seal: createSeal(installationKey),
    limits: defaultIdentityLimits,
  })
}

const address = '192.0.2.1'

test('the delay begins after the free failures, doubles, and has an end', () => {
  const delays = [1, 2, 3, 4, 5, 6, 7, 8, 20, 1e6].map((n) =>
    delaySeconds(n, { free: 5, delayMax: 900 }),
  )
  assert.deepEqual(delays, [0, 0, 0, 0, 2, 4, 8, 16, 900, 900])
})

for (const signInName of ['alice', 'nobody-of-that-name']) {
  test(`after five failures ${signInName} has to wait, longer each time`, async () => {
    await using fixture = await openIdentityFixture()
    await addAlice(fixture)
    const signIn = signInOf(fixture)
    const attempt = (name = signInName, from = address): Promise<SignInOutcome> =>
      signIn.attempt({ signInName: name, password: 'wrong password', address: from })
    for (let i = 0; i < 5; i += 1) assert.deepEqual(await attempt(), { kind: 'refused' })
    assert.deepEqual(await attempt(), { kind: 'wait', seconds: 2 })
    assert.equal((await attempt(signInName.toUpperCase())).kind, 'wait', 'case does not help')
    assert.equal((await attempt(signInName, '192.0.2.2')).kind, 'refused', 'another address')
    const replica = signInOf(fixture)
    const there = await replica.attempt({ signInName, password: 'wrong password', address })
    assert.equal(there.kind, 'wait', 'another replica')
    fixture.wait(3)
    assert.equal((await attempt()).kind, 'refused')
    const wait = await attempt()
    assert.ok(wait.kind === 'wait' && wait.seconds > 2)
  })
}

test('what was noted while the clock was ahead makes nobody wait for that long', async () => {
  await using fixture = await openIdentityFixture()
  await addAlice(fixture)
  const signIn = signInOf(fixture)
  const attempt = (password: string): Promise<SignInOutcome> =>
    signIn.attempt({ signInName: 'alice', password, address })
  const day = 24 * 3600
  fixture.wait(day)
  assert.equal((await attempt(alice.password)).kind, 'welcome')
  for (let i = 0; i < 5; i += 1) assert.equal((await attempt('wrong password')).kind, 'refused')
  assert.equal((await attempt('wrong password')).kind, 'wait')
  fixture.wait(-day)
  // The failures count, their moments do not.
  assert.equal((await attempt('wrong password')).kind, 'refused')
  assert.equal((await attempt(alice.password)).kind, 'wait')
  fixture.wait(5)
  assert.equal((await attempt(alice.password)).kind, 'welcome')
})

test('while waiting even the right password is not looked at; afterwards it clears the count', async () => {
  await using fixture = await openIdentityFixture()
  const id = await addAlice(fixture)
  const signIn = signInOf(fixture)
  const attempt = (password: string): Promise<SignInOutcome> =>
    signIn.attempt({ signInName: 'alice', password, address })
  for (let i = 0; i < 5; i += 1) await attempt('wrong password')
  assert.equal((await attempt(alice.password)).kind, 'wait')
  fixture.wait(3)
  const welcome = await attempt(alice.password)
  assert.ok(welcome.kind === 'welcome' && welcome.user.id === id)
  for (let i = 0; i < 5; i += 1) assert.equal((await attempt('wrong password')).kind, 'refused')
})

test('attempts at the same moment do not all pass as the first', async () => {
  await using fixture = await openIdentityFixture()
  await addAlice(fixture)
  const signIn = signInOf(fixture)
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, () =>
      signIn.attempt({ signInName: 'alice', password: 'wrong password', address }),
    ),
  )
  assert.equal(outcomes.filter(({ kind }) => kind === 'refused').length, 5)
})

test('failures are forgotten in time, and their rows removed', async () => {
  await using fixture = await openIdentityFixture()
  const signIn = signInOf(fixture)
  for (let i = 0; i < 12; i += 1) {
    await signIn.attempt({ signInName: `name${i}`, password: 'wrong password', address })
  }
  fixture.wait(3601)
  await signIn.attempt({ signInName: 'nul\0', password: 'wrong password', address })
  const rows = await fixture.store.sql.all('select id from identity_sign_in_failures')
  assert.equal(rows.length, 2, 'of the account, and of the address')
  assert.ok(!JSON.stringify(rows).includes('name'))
})

test('many accounts tried from one address are slowed, and a right password does not clear that', async () => {
  await using fixture = await openIdentityFixture()
  await addAlice(fixture)
  const signIn = signInOf(fixture)
  const attempt = (signInName: string, password = 'wrong password', from = address) =>
    signIn.attempt({ signInName, password, address: from })
  for (let i = 0; i < 18; i += 1) assert.equal((await attempt(`name${i}`)).kind, 'refused')
  assert.equal((await attempt('alice', alice.password)).kind, 'welcome')
  for (let i = 0; i < 2; i += 1) assert.equal((await attempt(`more${i}`)).kind, 'refused')
  assert.deepEqual(await attempt('another'), { kind: 'wait', seconds: 2 })
  const replica = signInOf(fixture)
  const there = { signInName: 'yet another', password: 'wrong password', address }
  assert.equal((await replica.attempt(there)).kind, 'wait', 'another replica')
  assert.equal((await attempt('another', 'wrong password', '192.0.2.2')).kind, 'refused')
  fixture.wait(3)
  assert.equal((await attempt('alice', alice.password)).kind, 'welcome')
  assert.equal((await attempt('another')).kind, 'wait', 'a success forgives itself alone')
  let kinds = 0
  for (let i = 0; i < 10; i += 1) {
    fixture.wait(61)
    if ((await attempt(`last${i}`)).kind === 'refused') kinds += 1
  }
  assert.equal(kinds, 10, 'a minute at the most')
})

test('a browser that signed in before is not delayed by others at its address; what it sends is bound to the account', async () => {
  await using fixture = await openIdentityFixture()
  await addAlice(fixture)
  const signIn = signInOf(fixture)
  const knownBrowser = signIn.knownBrowser('Alice')
  const wrong = { password: 'wrong password', address }
  for (let i = 0; i < 5; i += 1) await signIn.attempt({ signInName: 'alice', ...wrong })
  assert.equal((await signIn.attempt({ signInName: 'alice', ...wrong })).kind, 'wait')
  const right = { signInName: 'alice', password: alice.password, address }
  assert.equal((await signIn.attempt(right)).kind, 'wait')
  assert.equal((await signIn.attempt({ ...right, knownBrowser })).kind, 'welcome')
  const foreign = signIn.knownBrowser('bob')
  const altered = `${knownBrowser.slice(0, -2)}${knownBrowser.endsWith('AA') ? 'BB' : 'AA'}`
  for (const made of [foreign, altered, 'x', 'x'.repeat(5000)]) {
    assert.equal((await signIn.attempt({ ...right, knownBrowser: made })).kind, 'wait', made)
  }
  for (let i = 0; i < 5; i += 1) {
    const outcome = await signIn.attempt({ signInName: 'alice', ...wrong, knownBrowser })
    assert.equal(outcome.kind, 'refused')
  }
  const guessing = await signIn.attempt({ signInName: 'alice', ...wrong, knownBrowser })
  assert.equal(guessing.kind, 'wait', 'it is slowed for its own failures')
})

test('the page knows a browser again', async () => {
  await using fixture = await openIdentityFixture()
  await addAlice(fixture)
  const browser = createBrowser(fixture.url)
  const stranger = createBrowser(fixture.url)
  const ask = (who: typeof browser) =>
    who.open(
      authorizeAddress({
        response_type: 'token',
        client_id: 'armature-portal',
        redirect_uri: `${fixture.url}/signed-in`,
        prompt: 'login',
      }),
    )
  const submit = async (who: typeof browser, password: string) =>
    who.submit(await ask(who), { name: 'alice', password, do: 'sign-in' })
  assert.equal((await submit(browser, alice.password)).url.pathname, '/signed-in')
  assert.ok(browser.cookies.has('armature_known'))
  for (let i = 0; i < 5; i += 1) assert.equal((await submit(stranger, 'wrong')).status, 400)
  assert.equal((await submit(stranger, alice.password)).status, 429)
  assert.equal((await submit(browser, alice.password)).url.pathname, '/signed-in')
})

test('the page says how long to wait', async () => {
  await using fixture = await openIdentityFixture()
  await addAlice(fixture)
  const browser = createBrowser(fixture.url)
  let page = await browser.open(
    authorizeAddress({
      response_type: 'token',
      client_id: 'armature-portal',
      redirect_uri: `${fixture.url}/signed-in`,
    }),
  )
  for (let i = 0; i < 5; i += 1) {
    page = await browser.submit(page, { name: 'alice', password: 'wrong', do: 'sign-in' })
    assert.equal(page.status, 400)
  }
  page = await browser.submit(page, { name: 'alice', password: alice.password, do: 'sign-in' })
  assert.equal(page.status, 429)
  assert.equal(page.headers.get('retry-after'), '2')
  assert.match(page.body, /Wait 2 seconds/)
  fixture.wait(3)
  page = await browser.submit(page, { name: 'alice', password: alice.password, do: 'sign-in' })
  assert.equal(page.url.pathname, '/signed-in')
})

test('an attempt that could not be checked is no failure, and forgives none', async () => {
  await using fixture = await openIdentityFixture()
  await addAlice(fixture)
  let isBusy = true
  const { directory } = fixture.identity
  const signIn = signInOf(fixture, {
    verifyPassword: (...given) =>
      isBusy ? Promise.reject(new Error('busy')) : directory.verifyPassword(...given),
  })
  const attempt = (): Promise<SignInOutcome> =>
    signIn.attempt({ signInName: 'alice', password: 'wrong password', address })
  for (let at = 0; at < 4; at++) await assert.rejects(attempt(), /busy/)
  isBusy = false
  for (let at = 0; at < 3; at++) assert.equal((await attempt()).kind, 'refused')
  isBusy = true
  await assert.rejects(attempt(), /busy/)
  isBusy = false
  for (let at = 0; at < 2; at++) assert.equal((await attempt()).kind, 'refused')
  assert.equal((await attempt()).kind, 'wait')
})
