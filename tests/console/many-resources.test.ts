/**
 * A very long list of resources: only few rows are drawn at any position, pages are read by link one after the
 * other, and the server filters. A short list in the ordinary suite, a hundred thousand in the long one.
 */

import assert from 'node:assert/strict'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fillHome } from '../../bench/contestants/fill-home.ts'
import { freshHome, startInstallation } from '../e2e/installation.ts'
import { findChromium, howToGetChromium } from '../portal/browser.ts'
import { requireOrSkip } from '../require.ts'
import { openConsole } from './console.ts'

const isBuilt = existsSync(join(import.meta.dirname, '..', '..', 'console', 'dist', 'index.html'))
const ready = isBuilt && findChromium() !== undefined

const count = process.env['ARMATURE_TEST_LONG'] === undefined ? 6_000 : 100_000
/** The page size of the view. */
const pageSize = 500
/** A page that is large in bytes ends earlier. */
const pageRowsMin = 250
/** A list of at most this many pages is read again after a change, such as a sign-in. */
const againMax = 5
/** The visible rows and some around them, however long the list is. */
const drawnRowsMax = 60
const nameOf = (index: number): string => `many-${String(index).padStart(6, '0')}`

test('a list of very many resources: few rows drawn, pages by link, filtered by the server', {
  timeout: 600_000,
}, async (t) => {
  if (!requireOrSkip(t, ready, `${howToGetChromium}; and \`npm run console\``)) return
  const home = freshHome()
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const first = await startInstallation({ home })
  const group = `/subscriptions/${first.subscriptionId}/resourceGroups/many`
  const made = await first.request('PUT', `${group}?api-version=2021-04-01`, {
    body: { location: 'local' },
  })
  assert.equal(made.status, 201, made.text)
  const path = `${group}/providers/Vendor.ManagedIdentity/userAssignedIdentities/${nameOf(0)}`
  const one = await first.request('PUT', `${path}?api-version=2023-01-31`, {
    body: { location: 'local' },
  })
  assert.equal(one.status, 201, one.text)
  await first.stop()
  await fillHome({ database: join(home, 'armature.db'), key: path.toLowerCase(), nameOf, count })

  await using installation = await startInstallation({ home })
  await using opened = await openConsole(installation)
  const { page } = opened
  const requested: string[] = []
  page.on('request', (request) => {
    if (/\/resources\?/.test(request.url())) requested.push(request.url())
  })
  await opened.open('/resources')
  await page.getByRole('link', { name: nameOf(0) }).waitFor()
  await opened.assertFit('many-resources')
  const table = page.getByRole('table', { name: 'Resources' })
  const drawn = async (): Promise<number> => {
    const rows = await table.getByRole('row').count()
    assert.ok(rows > 5 && rows <= drawnRowsMax, `${rows} rows are drawn`)
    return rows
  }
  await drawn()
  assert.ok(requested.length <= 2, `${requested.length} requests for what is in sight`)
  assert.match(requested[0] ?? '', new RegExp(`[$%].*top=${pageSize}`))

  const list = page.getByRole('region', { name: 'Resources' })
  await list.focus()
  const rowsText = `${count.toLocaleString('en-US')} rows`
  const whole = page.getByRole('status').getByText(rowsText, { exact: true })
  // Scrolls to the end of what was read, again and again: each time only the next page is read.
  while ((await whole.count()) === 0) {
    const before = requested.length
    await page.keyboard.press('End')
    await drawn()
    assert.ok(requested.length - before <= 2 + againMax, 'pages are read that nobody looks at')
  }
  await page.keyboard.press('End')
  await page.getByRole('link', { name: nameOf(count - 1) }).waitFor()
  assert.ok((await drawn()) > 5)
  assert.ok(requested.length <= count / pageRowsMin + 1 + againMax, `${requested.length} requests`)
  const links = requested.slice(1).filter((url) => /skiptoken/i.test(url))
  assert.ok(links.length >= count / pageSize - 1, `${links.length} pages by link`)

  // Jumps to the middle: the rows of that position are drawn without a request.
  const before = requested.length
  await page.evaluate(
    `document.querySelector('[role=region][aria-label=Resources]').scrollTop = ${(count / 2) * 44}`,
  )
  await page.getByRole('link', { name: nameOf(count / 2) }).waitFor()
  await drawn()
  assert.equal(requested.length, before)

  await page.getByRole('searchbox', { name: 'Filter by name' }).fill(nameOf(count - 3).slice(5))
  await page.getByText('1 row', { exact: true }).waitFor()
  await page.getByRole('link', { name: nameOf(count - 3) }).waitFor()
  assert.match(decodeURIComponent(requested.at(-1) ?? ''), /substringof|skiptoken/i)
  assert.deepEqual(opened.complaints, [])
})
