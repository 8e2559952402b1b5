/** A page whose session ends, here or elsewhere, and a server that does not answer at first. */

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import {
  attachInstallation,
  clientToken,
  type Installation,
  startInstallation,
} from '../e2e/installation.ts'
import { findChromium, howToGetChromium } from '../portal/find-chromium.ts'
import { signIn } from '../portal/sign-in.ts'
import { type Console, openConsole, signOut } from './console.ts'

const isBuilt = existsSync(join(import.meta.dirname, '..', '..', 'console', 'dist', 'index.html'))
const ready = isBuilt && findChromium() !== undefined
const howTo = `${howToGetChromium}; and \`npm run console\``

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

  test('somebody else signs in with the same browser: a page of whoever was signed in begins anew, and so does one that the browser kept', async () => {
    const bea = { displayName: 'Bea', signInName: 'bea', password: 'Blue-Horse-77-Lamp' }
    const made = await installation.request('POST', '/directory/users', {
      body: bea,
      token: await clientToken(installation.url, installation.owner),
    })
    assert.equal(made.status, 201, made.text)
    await using mine = await openConsole(installation)
    const { page } = mine
    await mine.open('/resources')
    await mine.heading('Resources')
    await page.evaluate('window.isOfBefore = true')
    const other = await page.context().newPage()
    await other.goto(`${installation.url}/console`)
    await other.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
    await signOut(other)
    await signIn(other, bea.signInName, bea.password)
    await other.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
    await page.getByRole('tab', { name: 'Resource groups' }).click()
    await page.locator('[title="bea"]').waitFor()
    assert.equal(await page.evaluate('window.isOfBefore'), undefined)
    await page.evaluate('window.isOfBefore = true')
    await page.evaluate('dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))')
    await page.waitForFunction('window.isOfBefore === undefined')
    assert.deepEqual(mine.complaints, [])
  })

  async function signInAgain(): Promise<void> {
    const { page } = opened
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('textbox', { name: 'Sign-in name' }).fill(installation.owner.signInName)
    await page.getByLabel('Password').fill(installation.owner.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }
})

async function sessionsOf(installation: Installation): Promise<readonly string[]> {
  const listed = await installation.request('GET', '/directory/me/sessions')
  assert.equal(listed.status, 200, listed.text)
  return (listed.body as { value: { id: string }[] }).value.map(({ id }) => id)
}
