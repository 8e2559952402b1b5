/**
 * A very long list of resources: only few rows are drawn at any position, pages are read by link one after the
 * other, and the server filters. A short list in the ordinary suite, a hundred thousand in the long one.
 */

import assert from 'node:assert/strict'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { fillHome } from '../../bench/contestants/fill-home.ts'
import { freshHome, type Installation, startInstallation } from '../e2e/installation.ts'
import { findChromium, howToGetChromium } from '../portal/find-chromium.ts'
import { requireOrSkip } from '../require.ts'
import { type Console, openConsole, settled } from './console.ts'

const isBuilt = existsSync(join(import.meta.dirname, '..', '..', 'console', 'dist', 'index.html'))
const ready = isBuilt && findChromium() !== undefined

const count = process.env['ARMATURE_TEST_LONG'] === undefined ? 3_000 : 100_000
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
    // Home asks for resources too, and may do so late.
    const isHere = new URL(page.url()).pathname === '/console/resources'
    if (isHere && /\/resources\?/.test(request.url())) requested.push(request.url())
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
  await assertReadsOn(installation, page, list)
  await assertFailedPage(page, list, requested)
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
  await assertFound(page, nameOf(count - 2))
  await assertTree(opened, requested)
  const longest = await page.evaluate<number>('Math.round(Math.max(0, ...longTasks))')
  t.diagnostic(`the longest task of the tree with ${count} resources: ${longest} ms`)
  assert.deepEqual(opened.complaints, [])
})

/** The first page is read again, and the view is drawn anew meanwhile: the next page is read all the same. */
async function assertReadsOn(installation: Installation, page: Page, list: Locator): Promise<void> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const again = /\/resources\?(?!.*skiptoken)/i
  const held = page.waitForRequest(again)
  await page.route(again, async (route) => {
    await released
    await route.continue()
  })
  const group = `/subscriptions/${installation.subscriptionId}/resourceGroups/later`
  const made = await installation.request('PUT', `${group}?api-version=2021-04-01`, {
    body: { location: 'local' },
  })
  assert.equal(made.status, 201, made.text)
  const request = await held
  await page.getByRole('option', { name: 'later' }).waitFor({ state: 'attached' })
  release()
  await (await request.response())?.finished()
  await page.evaluate(settled)
  await page.unroute(again)
  const nextPage = page.waitForResponse(/[$%].*skiptoken/i)
  await list.focus()
  await page.keyboard.press('End')
  await nextPage
}

/** What was read stays, and nobody asks for the page again but the person. */
async function assertFailedPage(
  page: Page,
  list: Locator,
  requested: readonly string[],
): Promise<void> {
  const nextPage = /[$%].*skiptoken/i
  const body = JSON.stringify({ error: { code: 'Internal', message: 'out of order' } })
  await page.route(nextPage, (route) =>
    route.fulfill({ status: 500, contentType: 'application/json', body }),
  )
  const before = requested.length
  await list.focus()
  await page.keyboard.press('End')
  await page.getByRole('alert').getByText('out of order').waitFor()
  // Each of these draws the table anew.
  for (const key of ['Home', 'End', 'Home', 'End']) {
    await list.press(key)
    await page.evaluate(settled)
  }
  assert.equal(requested.length - before, 1)
  await page.unroute(nextPage)
  await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('alert').waitFor({ state: 'detached' })
  assert.equal(requested.length - before, 2)
}

/** Search looks at all of them, wherever in the list they are. */
async function assertFound(page: Page, name: string): Promise<void> {
  await page.keyboard.press('Control+k')
  const dialog = page.getByRole('dialog')
  const field = dialog.getByRole('textbox', {
    name: 'Names, types, groups, tags, people, or an id',
  })
  await field.fill(`userassigned ${name}`)
  await dialog.getByRole('link', { name }).waitFor()
  assert.equal(await dialog.getByRole('link').count(), 1)
  await field.fill('many-0')
  await dialog.getByText('There is more: another word finds less.').waitFor()
  await field.fill('no such word')
  await dialog.getByText(/^Nothing that you may read has this/).waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
}

/** The same in the tree, by keyboard. */
async function assertTree({ page, open }: Console, requested: readonly string[]): Promise<void> {
  await open('/resources?view=tree')
  await page.evaluate(
    `window.longTasks = []; new PerformanceObserver((list) => longTasks.push(...list.getEntries().map((one) => one.duration)))
      .observe({ type: 'longtask' })`,
  )
  const tree = page.getByRole('tree')
  const item = (name: string) => tree.getByRole('treeitem', { name })
  const drawn = async (): Promise<void> => {
    const rows = await tree.getByRole('treeitem').count()
    assert.ok(rows > 2 && rows <= drawnRowsMax, `${rows} rows are drawn`)
  }
  await item('many').waitFor()
  await tree.focus()
  await page.keyboard.press('m')
  const before = requested.length
  await page.keyboard.press('ArrowRight')
  await item(nameOf(0)).waitFor()
  await drawn()
  assert.ok(requested.length - before <= 1 + againMax, 'requests for what is in sight')
  const last = item(nameOf(count - 1))
  while ((await last.count()) === 0) {
    const pages = requested.length
    await page.keyboard.press('End')
    await drawn()
    assert.ok(requested.length - pages <= 2 + againMax, 'pages are read that nobody looks at')
  }
  assert.ok(requested.length - before <= count / pageRowsMin + 1 + againMax)

  // Jumps to the middle: the rows of that position are drawn without a request. The place of each is told.
  const pages = requested.length
  await page.evaluate(`document.querySelector('[role=tree]').scrollTop = ${(count / 2) * 36}`)
  const middle = item(nameOf(count / 2))
  await middle.waitFor()
  await drawn()
  assert.equal(requested.length, pages)
  assert.equal(await middle.getAttribute('aria-posinset'), String(count / 2 + 1))
  assert.equal(await middle.getAttribute('aria-setsize'), String(count))
  await tree.focus()
  await page.keyboard.press('End')
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('ArrowLeft')
  await item(nameOf(0)).waitFor({ state: 'detached' })
  const active = await tree.getAttribute('aria-activedescendant')
  assert.equal(await page.locator(`[id="${active}"]`).getByRole('link').textContent(), 'many')
}
