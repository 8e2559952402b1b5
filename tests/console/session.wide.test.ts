/** A server that goes away and comes back, and two replicas below a path: what an open page does meanwhile. */

import assert from 'node:assert/strict'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { findPostgres, howToGetPostgres } from '../../src/stores/testing/postgres-server.ts'
import { startBalanced } from '../e2e/balanced.ts'
import { freshHome, send, startInstallation } from '../e2e/installation.ts'
import { findChromium, howToGetChromium } from '../portal/find-chromium.ts'
import { requireOrSkip } from '../require.ts'
import { openConsole, signOut } from './console.ts'

const isBuilt = existsSync(join(import.meta.dirname, '..', '..', 'console', 'dist', 'index.html'))
const ready = isBuilt && findChromium() !== undefined
const howTo = `${howToGetChromium}; and \`npm run console\``
/** The page tries again after at most half a minute. */
const slow = { timeout: 240_000 }

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
