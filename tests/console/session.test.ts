/** A page whose session ends, here or elsewhere, and a server that goes away and comes back. */

import assert from 'node:assert/strict'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { findPostgres, howToGetPostgres } from '../../src/stores/testing/postgres-server.ts'
import { startBalanced } from '../e2e/balanced.ts'
import {
  attachInstallation,
  freshHome,
  type Installation,
  send,
  startInstallation,
} from '../e2e/installation.ts'
import { findChromium, howToGetChromium } from '../portal/find-chromium.ts'
import { requireOrSkip } from '../require.ts'
import { type Console, openConsole } from './console.ts'

const isBuilt = existsSync(join(import.meta.dirname, '..', '..', 'console', 'dist', 'index.html'))
const ready = isBuilt && findChromium() !== undefined
const howTo = `${howToGetChromium}; and \`npm run console\``
/** The page tries again after at most half a minute. */
const slow = { timeout: 240_000 }

/** Each begins on the page where the one before it has left the owner signed in. The last one signs out. */
describe('a session in one page', { skip: ready ? false : howTo }, () => {
  let installation: Installation
  let opened: Console

  before(async () => {
    installation = await startInstallation()
    opened = await openConsole(installation)
  })

  after(async () => {
    await opened?.[Symbol.asyncDispose]()
    await installation?.[Symbol.asyncDispose]()
  })

  test('no answer to the first request, as of a busy server: the page says so, and signs in when there is one', async () => {
    const { page } = opened
    for (const answer of ['none', 'busy'] as const) {
      await page.route('**/oauth2/authorize?*', (route) =>
        answer === 'none' ? route.abort() : route.fulfill({ status: 503, body: 'busy' }),
      )
      await page.reload()
      await opened.heading('The server does not answer')
      await opened.assertFit(`no-answer-${answer}`)
      await page.unroute('**/oauth2/authorize?*')
      await opened.heading('Home')
    }
    assert.deepEqual(opened.complaints, [])
  })

  test('one’s own sessions: one elsewhere is ended here, then all of them', async () => {
    const { page } = opened
    const before = await sessionsOf(installation)
    await using elsewhere = await openConsole(installation)
    const all = await sessionsOf(installation)
    const there = all.findIndex((id) => !before.includes(id))
    assert.notEqual(there, -1)
    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByRole('menuitem', { name: 'Your sessions' }).click()
    await opened.heading('Your sessions')
    const ends = page.getByRole('button', { name: /^End it: / })
    await ends.nth(all.length - 1).waitFor()
    await opened.assertFit('sessions')
    await ends.nth(there).click()
    await ends.nth(all.length - 1).waitFor({ state: 'detached' })
    assert.deepEqual(await sessionsOf(installation), before)
    await elsewhere.page.getByRole('link', { name: 'Resources' }).first().click()
    await elsewhere.page.getByText('Your session has ended.').first().waitFor()
    await page.getByRole('button', { name: 'End all sessions' }).click()
    await page.getByText('Your session has ended.').first().waitFor()
    await signInAgain()
    await opened.heading('Your sessions')
    assert.deepEqual([...opened.complaints, ...elsewhere.complaints], [])
  })

  test('a session that is ended elsewhere ends the page’s; signing out leaves nothing to come back to', async () => {
    const { page } = opened
    // The owner's token has ended with all sessions, so this takes a new one.
    const { request } = await attachInstallation(installation.home)
    const revoked = await request('POST', `/directory/users/${installation.principalId}/revoke`)
    assert.equal(revoked.status, 204, revoked.text)
    await page.getByRole('link', { name: 'Resources' }).first().click()
    await page.getByText('Your session has ended.').first().waitFor()
    await opened.assertFit('session-ended')
    await signInAgain()
    await opened.heading('Resources')

    await signOut(page)
    await opened.open('/resources')
    await page.getByRole('textbox', { name: 'Sign-in name' }).waitFor()
    assert.deepEqual(opened.complaints, [])
  })

  async function signInAgain(): Promise<void> {
    const { page } = opened
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('textbox', { name: 'Sign-in name' }).fill(installation.owner.signInName)
    await page.getByLabel('Password').fill(installation.owner.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }
})

test('a server that goes away: the page says since when it is stale, and goes on when it is back', async (t) => {
  if (!requireOrSkip(t, ready, howTo)) return
  const home = freshHome()
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const first = await startInstallation({ home })
  await using opened = await openConsole(first)
  const { page } = opened
  await opened.open('/resources?view=groups')
  await opened.heading('Resources')
  await first.kill()
  // The token ends meanwhile: nobody says that the session has ended, and the page asks again.
  await page.evaluate('{ const now = Date.now; Date.now = () => now() + 3_600_000 }')
  await page.getByRole('tab', { name: 'Resources', exact: true }).click()
  await page.getByText(/The server has not answered since/).waitFor(slow)
  await page.getByText('The server does not answer', { exact: true }).first().waitFor(slow)
  assert.equal(await page.getByText('Your session has ended.').count(), 0)
  await page.getByRole('tab', { name: 'Resource groups' }).click()
  await opened.assertFit('server-away')
  const { port } = new URL(first.url)
  await using again = await startInstallation({ home, port })
  const path = `/subscriptions/${again.subscriptionId}/resourceGroups/after?api-version=2021-04-01`
  const made = await again.request('PUT', path, { body: { location: 'local' } })
  assert.equal(made.status, 201, made.text)
  await page.getByRole('link', { name: 'after' }).waitFor(slow)
  await page.getByText(/The server has not answered since/).waitFor({ state: 'hidden' })
  assert.deepEqual(opened.complaints, [])
})

test('below a path, and on two replicas of which each answers every other request: all of it works', {
  timeout: 360_000,
}, async (t) => {
  if (!requireOrSkip(t, ready, howTo)) return
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using installation = await startBalanced({}, '/plane')
  await using opened = await openConsole(installation)
  const { page } = opened
  assert.match(page.url(), /\/plane\/console\/$/)
  const subscription = `/subscriptions/${installation.subscriptionId}`
  const put = async (path: string, body: object): Promise<void> => {
    const answer = await send(new URL(`${installation.url}${path}`), 'PUT', {
      token: installation.ownerToken,
      body,
    })
    assert.ok(answer.status < 300, answer.text)
  }
  await opened.open('/resources?view=groups')
  await page.getByText('No resource groups yet').waitFor()
  // Whichever replica writes, the stream that is open at one of them reports it.
  for (const name of ['one', 'two', 'three', 'four']) {
    await put(`${subscription}/resourceGroups/${name}?api-version=2021-04-01`, {
      location: 'local',
    })
    await page.getByRole('link', { name, exact: true }).waitFor()
  }
  const identity = `${subscription}/resourceGroups/one/providers/Vendor.ManagedIdentity/userAssignedIdentities/web`
  await put(`${identity}?api-version=2023-01-31`, { location: 'local' })
  for (let turn = 0; turn < 4; turn += 1) {
    await page.reload()
    await opened.heading('Resources')
  }
  await page.getByRole('link', { name: 'one', exact: true }).click()
  await page.getByRole('link', { name: 'web', exact: true }).click()
  await opened.heading('web')
  assert.match(page.url(), /\/plane\/console\/resource\/subscriptions\//)
  await page.getByText('principalId').waitFor()
  await signOut(page)
  assert.match(page.url(), /\/plane\//)
  assert.deepEqual(opened.complaints, [])
})

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Your account' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page
    .getByRole('textbox', { name: 'Sign-in name' })
    .or(page.getByRole('button', { name: 'Sign out' }))
    .first()
    .waitFor()
  const confirm = page.getByRole('button', { name: 'Sign out', exact: true })
  if ((await confirm.count()) > 0) await confirm.click()
  await page.getByRole('textbox', { name: 'Sign-in name' }).waitFor()
}

async function sessionsOf(installation: Installation): Promise<readonly string[]> {
  const listed = await installation.request('GET', '/directory/me/sessions')
  assert.equal(listed.status, 200, listed.text)
  return (listed.body as { value: { id: string }[] }).value.map(({ id }) => id)
}
