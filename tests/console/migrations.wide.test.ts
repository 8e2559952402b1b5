/**
 * A migration in the console between real servers: the demo's shop online, altered at its source meanwhile, caught
 * up and cut over by buttons, with the report at the end.
 */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Client } from 'pg'
import { findServer, howToGetServers } from '../../src/engines/databases/testing/servers.ts'
import { startInstallation } from '../e2e/installation.ts'
import { launcher } from '../launcher.ts'
import { findChromium, howToGetChromium } from '../portal/find-chromium.ts'
import { requireOrSkip } from '../require.ts'
import { openConsole } from './console.ts'
import { assertWalk } from './keyboard.ts'

const root = join(import.meta.dirname, '..', '..')
const isBuilt = existsSync(join(root, 'console', 'dist', 'index.html'))
/** Longer than the interval of structure checks plus the copy of a table. */
const slow = { timeout: 240_000 }

async function startDemo(home: string): Promise<AsyncDisposable> {
  const child = spawn(process.execPath, [launcher, 'demo', 'migrations'], {
    env: { ...process.env, ARMATURE_HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  let output = ''
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk
      if (/^curl/m.test(output)) resolve()
    })
    void ended.then(() => reject(new Error(output)))
  })
  return {
    async [Symbol.asyncDispose]() {
      child.kill('SIGINT')
      await ended
    },
  }
}

test('a migration: its progress, what holds the cutover, the cutover by a button, the report', {
  timeout: 240_000,
}, async (t) => {
  const ready = isBuilt && findChromium() !== undefined
  if (!requireOrSkip(t, ready, `${howToGetChromium}; and \`npm run console\``)) return
  if (!requireOrSkip(t, findServer(15) !== undefined, howToGetServers)) return
  await using installation = await startInstallation()
  await using _demo = await startDemo(installation.home)
  await using opened = await openConsole(installation)
  const { page } = opened
  const underWay = page.getByRole('region', { name: 'Under way' })
  const onHome = underWay.getByRole('link', { name: 'shop', exact: true })
  await onHome.waitFor()
  await underWay.getByText('Migration to demo-target').waitFor()
  await page.getByRole('link', { name: 'Migrations' }).click()
  await page.getByRole('cell', { name: 'shop', exact: true }).first().waitFor()
  await opened.assertFit('migrations')
  await page.getByRole('link', { name: 'shop', exact: true }).click()
  await opened.heading('shop')
  await page.getByText('Changes are flowing. It can be cut over.').waitFor()
  await page.getByRole('img', { name: /Changes applied a second/ }).waitFor()

  const source = await installation.request(
    'GET',
    `/subscriptions/${installation.subscriptionId}/resourceGroups/demo/providers/Vendor.DBforPostgreSQL/flexibleServers/demo-source?api-version=2025-08-01`,
  )
  const client = new Client({
    host: '127.0.0.1',
    port: Number(source.at('properties.port')),
    user: 'postgres',
    password: readFileSync(join(installation.home, 'demo-servers.password'), 'utf8').trim(),
    database: 'shop',
  })
  await client.connect()
  await client.query('create table vouchers (id int primary key, worth numeric not null)')
  await client.end()
  await page.getByText('What is different between source and target').waitFor(slow)
  await page
    .getByText(/vouchers/)
    .first()
    .waitFor()
  await opened.assertFit('migration-held')
  await assertWalk(opened, 'migration-held')
  await page.getByRole('button', { name: 'Have the target catch up' }).click()
  await page
    .getByText('What is different between source and target')
    .waitFor({ state: 'hidden', ...slow })

  // The button appears when the rows of the new table have been copied, too.
  await page.getByRole('button', { name: 'Cut over shop' }).click(slow)
  await page.getByRole('status').getByText('Succeeded').waitFor(slow)
  await page.getByText('Nobody could write for').waitFor()
  await page.getByText(/^counts: \d+ tables/).waitFor()
  await page
    .getByRole('cell', { name: /orders/ })
    .first()
    .waitFor()
  await opened.assertFit('migration')
  await opened.picture('migration')
  await assertWalk(opened, 'migration')
  assert.equal(await page.getByRole('button', { name: 'Call it off' }).count(), 0)
  await opened.open('/')
  await page.getByRole('link', { name: 'First subscription' }).first().waitFor()
  await onHome.waitFor({ state: 'detached' })
  assert.deepEqual(opened.complaints, [])
})
