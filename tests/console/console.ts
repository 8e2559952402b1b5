/** The console in a real browser for tests: signed in by its own flow, checked by axe, with screenshots. */

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type { Installation } from '../e2e/installation.ts'
import { isLong } from '../long.ts'
import { type Browser, openBrowser, overflows } from '../portal/browser.ts'

const screenshots = join(import.meta.dirname, '..', '..', 'test-results', 'console')
const pictures = join(import.meta.dirname, '..', '..', 'docs', 'pictures')
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Nobody looks at the screenshots of a run that `npm test` makes, and each takes time. */
const isWholeRun = process.env['ARMATURE_TEST_COSTS'] !== undefined

/** Longer than anything takes on a busy machine. */
export const waitMilliseconds = 180_000

export interface Console extends AsyncDisposable {
  readonly page: Page
  readonly complaints: readonly string[]
  /** Loads the page of an address below `/console`. */
  open(path: string): Promise<void>
  heading(name: string): Promise<void>
  /** A picture for a guide. It is kept in `docs/pictures` with ARMATURE_TEST_PICTURES=1. */
  picture(name: string): Promise<void>
  /**
   * Axe finds nothing and nothing overflows: light, dark, and on a phone. Keeps screenshots; in `npm test`, of what fails alone.
   * With `only`, in that look alone, but in the long suite in all of them. On a phone, all rules are for the first page and for the
   * long suite.
   */
  assertFit(name: string, only?: Look): Promise<void>
}

export async function openConsole(
  installation: Installation,
  person: { readonly signInName: string; readonly password: string } = installation.owner,
): Promise<Console> {
  mkdirSync(screenshots, { recursive: true })
  // A browser that stays open after a failed sign-in would keep the run from ending.
  await using opening = new AsyncDisposableStack()
  const browser: Browser = opening.use(await openBrowser())
  const { page } = browser
  page.setDefaultTimeout(waitMilliseconds)
  // A name that is not read yet is no name: its list would be refused, and the page would say so for a moment.
  const withoutName: string[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (pathname.includes('//')) withoutName.push(pathname)
  })
  await page.setViewportSize(wide)
  await page.goto(`${installation.url}/console`)
  await page.getByRole('textbox', { name: 'Sign-in name' }).fill(person.signInName)
  await page.getByLabel('Password').fill(person.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  const heading = (name: string): Promise<void> =>
    page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
  await heading('Home')
  opening.move()
  let looked = 0
  return {
    page,
    get complaints() {
      return [...browser.complaints, ...withoutName]
    },
    heading,
    async open(path) {
      await page.goto(`${installation.url}/console${path}`)
    },
    async picture(name) {
      await page.evaluate(settled)
      const folder = process.env['ARMATURE_TEST_PICTURES'] === '1' ? pictures : screenshots
      await page.screenshot({ path: join(folder, `${name}.png`) })
    },
    async assertFit(name, only) {
      // A closing dialog hides the page from assistive technology a moment longer.
      await page
        .locator('#root:not([aria-hidden]), [role=dialog]')
        .first()
        .waitFor({ state: 'attached' })
      // The tests after this one share the page, however it ends.
      await using wideAgain = new AsyncDisposableStack()
      wideAgain.defer(async () => {
        await page.setViewportSize(wide)
        await page.emulateMedia({ colorScheme: 'light' })
      })
      const isWhole = isLong || looked++ === 0 || only === 'narrow'
      for (const [look, size, colorScheme, usual] of looks) {
        if (only !== undefined && only !== look && !isLong) continue
        const rules = look === 'narrow' && isWhole ? everyRule : usual
        await page.setViewportSize(size)
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        const found = await problems(page, rules)
        const isTooWide = (await page.evaluate<boolean>(mainOverflows)) || (await overflows(page))
        if (found.length > 0 || isTooWide || !isWholeRun) {
          await page.screenshot({ path: join(screenshots, `${name}-${look}.png`) })
        }
        assert.deepEqual(found, [], `${name}, ${look}`)
        assert.deepEqual(await page.evaluate<string[]>(cutWords), [], `${name}, cut, ${look}`)
        assert.equal(isTooWide, false, `${name} reaches over the edge, ${look}`)
      }
    },
    [Symbol.asyncDispose]: () => browser[Symbol.asyncDispose](),
  }
}

const wide = { width: 1280, height: 800 }
const everyRule = "{ runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'] }"
/** Dark pages are the light ones in other colours. */
const colourRules =
  "{ runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } }"
/** Narrow pages hold what the wide ones hold, in less room. */
const roomRules =
  "{ runOnly: { type: 'rule', values: ['target-size', 'scrollable-region-focusable'] } }"
const looks = [
  ['light', wide, 'light', everyRule],
  ['dark', wide, 'dark', colourRules],
  ['narrow', { width: 360, height: 740 }, 'light', roomRules],
] as const
type Look = (typeof looks)[number][0]

/** The frame and dialogs scroll by themselves, so the window does not overflow. */
const mainOverflows =
  '[...document.querySelectorAll("main, [role=dialog] .fui-DialogContent")].some((one) => one.scrollWidth > one.clientWidth)'

/** Single words in a frame, which are never cut or drawn over it: states, methods, tabs, buttons. */
const cutWords = `[...document.querySelectorAll('.fui-Badge, .fui-Tab, .fui-Button')]
  .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1 && one.textContent !== '')
  .map((one) => one.textContent)`

/** Transitions have ended. */
export const settled = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
  Promise.allSettled(document.getAnimations()
    .filter((one) => one.effect.getComputedTiming().endTime !== Infinity)
    .map((one) => one.finished)).then(() => done()))))`

/**
 * Rules of WCAG 2.2 AA, as far as a program can check them. Elements that the design system adds to keep the focus inside
 * a dialog are ignored.
 */
async function problems(page: Page, rules: string): Promise<readonly string[]> {
  await page.evaluate(settled)
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe)
  return page.evaluate<string[]>(`axe.run({ exclude: ['[data-tabster-dummy]'] }, ${rules})
    .then(({ violations }) => violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, any }) => id + ': ' + html.slice(0, 160) + ' ' + any.map((one) => one.message).join(' '))))`)
}

export async function signOut(page: Page): Promise<void> {
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
