/** Guessing passwords is slow, for known and unknown accounts alike, across replicas and restarts. */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { defaultIdentityLimits } from './limits.ts'
import { createSeal } from './seal.ts'
import { createSignIn, delaySeconds, type SignIn, type SignInOutcome } from './sign-in.ts'
import { createBrowser } from './testing/browser.ts'
import { addAlice, alice, authorizeAddress } from './testing/flows.ts'
import { openWorld, type World } from './testing/world.ts'

const installationKey = randomBytes(32)

function signInOf(world: World): SignIn {
  return createSignIn({
    sql: world.store.sql,
    directory: world.identity.directory,
    clock: { now: world.now },
    seal: createSeal(installationKey),
    limits: defaultIdentityLimits,
  })
}

const address = '192.0.2.1'

test('the delay begins after the free failures, doubles, and has an end', () => {
  const delays = [1, 2, 3, 4, 5, 6, 7, 8, 20, 1e6].map((n) =>
    delaySeconds(n, defaultIdentityLimits),
  )
  assert.deepEqual(delays, [0, 0, 0, 0, 2, 4, 8, 16, 900, 900])
})

for (const signInName of ['alice', 'nobody-of-that-name']) {
  test(`after five failures ${signInName} has to wait, longer each time`, async () => {
    await using world = await openWorld()
    await addAlice(world)
    const signIn = signInOf(world)
    const attempt = (name = signInName, from = address): Promise<SignInOutcome> =>
      signIn.attempt({ signInName: name, password: 'wrong password', address: from })
    for (let i = 0; i < 5; i += 1) assert.deepEqual(await attempt(), { kind: 'refused' })
    assert.deepEqual(await attempt(), { kind: 'wait', seconds: 2 })
    assert.equal((await attempt(signInName.toUpperCase())).kind, 'wait', 'case does not help')
    assert.equal((await attempt(signInName, '192.0.2.2')).kind, 'refused', 'another address')
    const replica = signInOf(world)
    const there = await replica.attempt({ signInName, password: 'wrong password', address })
    assert.equal(there.kind, 'wait', 'another replica')
    world.wait(3)
    assert.equal((await attempt()).kind, 'refused')
    const wait = await attempt()
    assert.ok(wait.kind === 'wait' && wait.seconds > 2)
  })
}

test('while waiting even the right password is not looked at; afterwards it clears the count', async () => {
  await using world = await openWorld()
  const id = await addAlice(world)
  const signIn = signInOf(world)
  const attempt = (password: string): Promise<SignInOutcome> =>
    signIn.attempt({ signInName: 'alice', password, address })
  for (let i = 0; i < 5; i += 1) await attempt('wrong password')
  assert.equal((await attempt(alice.password)).kind, 'wait')
  world.wait(3)
  const welcome = await attempt(alice.password)
  assert.ok(welcome.kind === 'welcome' && welcome.user.id === id)
  for (let i = 0; i < 5; i += 1) assert.equal((await attempt('wrong password')).kind, 'refused')
})

test('attempts at the same moment do not all pass as the first', async () => {
  await using world = await openWorld()
  await addAlice(world)
  const signIn = signInOf(world)
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, () =>
      signIn.attempt({ signInName: 'alice', password: 'wrong password', address }),
    ),
  )
  assert.equal(outcomes.filter(({ kind }) => kind === 'refused').length, 5)
})

test('failures are forgotten in time, and their rows removed', async () => {
  await using world = await openWorld()
  const signIn = signInOf(world)
  for (let i = 0; i < 12; i += 1) {
    await signIn.attempt({ signInName: `name${i}`, password: 'wrong password', address })
  }
  world.wait(3601)
  await signIn.attempt({ signInName: 'nul\0', password: 'wrong password', address })
  const rows = await world.store.sql.all('select id from identity_sign_in_failures')
  assert.equal(rows.length, 1)
  assert.ok(!JSON.stringify(rows).includes('name'))
})

test('the page says how long to wait', async () => {
  await using world = await openWorld()
  await addAlice(world)
  const browser = createBrowser(world.url)
  let page = await browser.open(
    authorizeAddress({
      response_type: 'token',
      client_id: 'armature-portal',
      redirect_uri: `${world.url}/signed-in`,
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
  world.wait(3)
  page = await browser.submit(page, { name: 'alice', password: alice.password, do: 'sign-in' })
  assert.equal(page.url.pathname, '/signed-in')
})
