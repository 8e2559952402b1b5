/**
 * The console in a real browser: its size, the time until it can be used, and how a long list of resources scrolls.
 */

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { readBuildSizes } from '../../tests/console/build-sizes.ts'
import { type Console, openConsole } from '../../tests/console/console.ts'
import { freshHome, type Installation, startInstallation } from '../../tests/e2e/installation.ts'
import { closeBrowser } from '../../tests/portal/browser.ts'
import { findChromium, howToGetChromium } from '../../tests/portal/find-chromium.ts'
import { fillHome } from '../contestants/fill-home.ts'
import { figureRow } from '../harness/measure-figures.ts'
import type { Measuring } from '../harness/measure-load.ts'
import type { FigureScenario } from '../scenario.ts'

const resources = 100_000
/** Loads of a page and steps of scrolling per round. */
const loads = 5
const scrolls = 40
/** Milliseconds for a view to be read to its end; it takes a tenth of them on a machine that is not busy. */
const readMax = 600_000
/** Pixels of one step of the wheel. */
const step = 600
const bytesOfKilobyte = 1_000

type Figure = 'home' | 'list' | 'frame' | 'mostFrames' | 'table' | 'tree'

export const scenario: FigureScenario = {
  kind: 'figures',
  title: 'The console',
  about:
    'Kilobytes of script compressed as it is sent; milliseconds in a headless Chromium on the same machine, signed in, nothing in its cache: from the address to Home with its data, and to the first of 100,000 resources; the longest frame while that list scrolls by turns of the wheel over pages that come by link, and what 95 of 100 frames take; and the longest task while the list, and the tree, are read to their end by the key End, where tasks below 50 ms count as 0.',
  measure,
}

async function measure(name: string, { rounds, progress }: Measuring) {
  const { firstViewBytes, allBytes } = readBuildSizes()
  const row = (figure: string, values: readonly number[], digits = 0) =>
    figureRow({ figure, contestant: 'Armature', values, digits })
  const rows = [
    row('script before the first view, KB', [firstViewBytes / bytesOfKilobyte]),
    row('script of all views, KB', [allBytes / bytesOfKilobyte]),
  ]
  if (findChromium() === undefined) return { rows, notes: [], skipped: [howToGetChromium] }
  const home = freshHome()
  try {
    progress(`${name}: ${resources} resources`)
    await fillWithResources(home)
    await using installation = await startInstallation({ home })
    await using opened = await openConsole(installation)
    const { page } = opened
    const taken: Record<Figure, number[]> = {
      home: [],
      list: [],
      frame: [],
      mostFrames: [],
      table: [],
      tree: [],
    }
    const session = await page.context().newCDPSession(page)
    await session.send('Network.setCacheDisabled', { cacheDisabled: true })
    for (let round = 0; round < rounds; round += 1) {
      progress(`${name}: round ${round + 1}`)
      for (let load = 0; load < loads; load += 1) {
        taken.home.push(
          await timeOf(async () => {
            await opened.open('/')
            await page.getByRole('link', { name: 'First subscription' }).first().waitFor()
          }),
        )
        taken.list.push(
          await timeOf(async () => {
            await opened.open('/resources')
            await page.getByRole('link', { name: nameOf(0) }).waitFor()
          }),
        )
      }
      const frames = await scrolledFrames(page)
      taken.frame.push(frames.at(-1) ?? 0)
      taken.mostFrames.push(frames[Math.floor((frames.length - 1) * 0.95)] ?? 0)
      taken.table.push(await longestTaskOf(opened, longList))
      taken.tree.push(await longestTaskOf(opened, longTree))
    }
    rows.push(
      row('Home with its data, ms', taken.home),
      row('the first of 100,000 resources, ms', taken.list),
      row('the longest frame while it scrolls, ms', taken.frame),
      row('95 of 100 frames while it scrolls within, ms', taken.mostFrames),
      row('the longest task, the list read to its end, ms', taken.table),
      row('the longest task, the tree read to its end, ms', taken.tree),
    )
    return { rows, notes: [], skipped: [] }
  } finally {
    await closeBrowser()
    rmSync(home, { recursive: true, force: true })
  }
}

function nameOf(index: number): string {
  return `many-${String(index).padStart(6, '0')}`
}

async function timeOf(work: () => Promise<void>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

async function fillWithResources(home: string): Promise<void> {
  const first = await startInstallation({ home })
  const group = `/subscriptions/${first.subscriptionId}/resourceGroups/many`
  const path = `${group}/providers/Vendor.ManagedIdentity/userAssignedIdentities/${nameOf(0)}`
  await put(first, `${group}?api-version=2021-04-01`)
  await put(first, `${path}?api-version=2023-01-31`)
  await first.stop()
  const key = path.toLowerCase()
  await fillHome({ database: join(home, 'armature.db'), key, nameOf, count: resources })
}

async function put(installation: Installation, path: string): Promise<void> {
  const { status, text } = await installation.request('PUT', path, { body: { location: 'local' } })
  if (status !== 201) throw new Error(`${path} was not created: ${status} ${text}`)
}

/** Scrolls the list by the wheel, and returns the times between frames, the longest last. */
async function scrolledFrames(page: Page): Promise<readonly number[]> {
  await page.evaluate(watchFrames)
  const list = page.getByRole('region', { name: 'Resources' })
  await list.hover()
  for (let at = 0; at < scrolls; at += 1) {
    await page.mouse.wheel(0, step)
    await page.evaluate(
      'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))',
    )
  }
  return page.evaluate<number[]>('frames.sort((a, b) => a - b)')
}

/** A view of all resources, and how it is read to its end. */
interface LongView {
  readonly path: string
  /** The last row. Found by an attribute, since a search by name would be a long task of its own. */
  readonly last: string
  /** Leads to what is scrolled by keys. */
  begin(page: Page): Promise<void>
}

const longList: LongView = {
  path: '/resources',
  last: `[aria-rowindex="${resources + 1}"]`,
  begin: (page) => page.getByRole('region', { name: 'Resources' }).focus(),
}

const longTree: LongView = {
  path: '/resources?view=tree',
  last: `[aria-posinset="${resources}"]`,
  async begin(page) {
    await page.getByRole('treeitem', { name: 'many' }).waitFor()
    await page.getByRole('tree').focus()
    await page.keyboard.press('m')
    await page.keyboard.press('ArrowRight')
  },
}

/** Reads a view to its end, jumps to its middle and its beginning, and returns its longest task. */
async function longestTaskOf({ page, open }: Console, view: LongView): Promise<number> {
  await open(view.path)
  await view.begin(page)
  await page.evaluate(watchTasks)
  const last = page.locator(view.last)
  const began = performance.now()
  while ((await last.count()) === 0) {
    await page.keyboard.press('End')
    // After a page that failed the list does not read on, and this would not end.
    const failure = page.locator('main [role=alert]').first()
    if ((await failure.count()) > 0) throw new Error(`${view.path}: ${await failure.textContent()}`)
    if (performance.now() - began > readMax) throw new Error(`${view.path} is not read to its end`)
  }
  await page.keyboard.press('Home')
  await page.keyboard.press('End')
  await last.waitFor()
  return page.evaluate<number>('Math.max(0, ...window.longTasks)')
}

const watchTasks = `{
  window.longTasks = []
  new PerformanceObserver((list) => longTasks.push(...list.getEntries().map((one) => one.duration)))
    .observe({ type: 'longtask' })
}`

const watchFrames = `{
  window.frames = []
  let before = performance.now()
  const look = (now) => {
    frames.push(now - before)
    before = now
    requestAnimationFrame(look)
  }
  requestAnimationFrame((now) => { before = now; requestAnimationFrame(look) })
}`
