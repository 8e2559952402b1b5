/** What becomes of a page when its session ends, here or elsewhere, and when the server goes away and comes back. */

import assert from 'node:assert/strict'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { freshHome, type Installation, startInstallation } from '../e2e/installation.ts'
import { findChromium, howToGetChromium } from '../portal/browser.ts'
import { requireOrSkip } from '../require.ts'
import { openConsole } from './console.ts'

const isBuilt = existsSync(join(import.meta.dirname, '..', '..', 'console', 'dist', 'index.html'))
const ready = isBuilt && findChromium() !== undefined
const howTo = `${howToGetChromium}; and \`npm run console\``
/** The page tries again after half a minute at the latest. */
const slow = { timeout: 60_000 }

test('a session that is ended elsewhere ends the page’s; signing out leaves nothing to come back to', async (t) => {
  if (!requireOrSkip(t, ready, howTo)) return
  await using installation = await startInstallation()
  await using opened = await openConsole(installation)
  const { page } = opened
  const revoked = await installation.request(
    'POST',
    `/directory/users/${installation.principalId}/revoke`,
  )
  assert.equal(revoked.status, 204, revoked.text)
  await page.getByRole('link', { name: 'Resources' }).first().click()
  await page.getByText('Your session has ended.').first().waitFor()
  await opened.assertFit('session-ended')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('textbox', { name: 'Sign-in name' }).fill(installation.owner.signInName)
  await page.getByLabel('Password').fill(installation.owner.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await opened.heading('Resources')

  await page.getByRole('button', { name: 'Your account' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page
    .getByRole('textbox', { name: 'Sign-in name' })
    .or(page.getByRole('button', { name: 'Sign out' }))
    .first()
    .waitFor()
  const question = page.getByRole('button', { name: 'Sign out', exact: true })
  if ((await question.count()) > 0) await question.click()
  await page.getByRole('textbox', { name: 'Sign-in name' }).waitFor()
  await opened.open('/resources')
  await page.getByRole('textbox', { name: 'Sign-in name' }).waitFor()
  assert.deepEqual(opened.complaints, [])
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
  await page.getByText(/The server has not answered since/).waitFor(slow)
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

test('one’s own sessions: one elsewhere is ended here, then all of them', async (t) => {
  if (!requireOrSkip(t, ready, howTo)) return
  await using installation = await startInstallation()
  await using opened = await openConsole(installation)
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
  assert.deepEqual([...opened.complaints, ...elsewhere.complaints], [])
})

async function sessionsOf(installation: Installation): Promise<readonly string[]> {
  const listed = await installation.request('GET', '/directory/me/sessions')
  assert.equal(listed.status, 200, listed.text)
  return (listed.body as { value: { id: string }[] }).value.map(({ id }) => id)
}
