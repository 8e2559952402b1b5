/**
 * Walks a page by keyboard alone. Tab must lead to every control that is in sight, each must look otherwise while it has
 * the focus, and the way must end. Of what has one stop for many (tabs, menus), arrow keys lead to the others.
 */

import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { type Console, settled, waitMilliseconds } from './console.ts'

/** More steps than any view has controls in sight. */
const stepsMax = 250
/** A field of a date has several stops inside. A dialog with one control keeps the focus there. */
const stopsInside = 5
/** How often a key is pressed until the focus is anywhere. */
const firstStepsMax = 5
const isUntouched = 'walk.reached.size === 0 && document.activeElement === document.body'

/** Follows Tab through the content of the page, which the first stop skips to. */
export async function assertWalk({ page }: Console, name: string): Promise<void> {
  await begin(page, '#content')
  await page.evaluate('document.activeElement.blur(); getSelection().removeAllRanges()')
  await page.keyboard.press('Tab')
  if (
    (await page.evaluate<string>('document.activeElement.textContent')) !== 'Skip to the content'
  ) {
    await page.getByRole('button', { name: 'Skip to the content' }).focus()
  }
  await page.keyboard.press('Enter')
  await follow(page, name)
  await assertReached(page, name)
}

/** Everything around the content: the bar at the top and the areas. */
export async function assertFrameWalk({ page }: Console): Promise<void> {
  await begin(page, 'body')
  await follow(page, 'the frame')
  await assertReached(page, 'the frame')
}

/** Opened by Enter, it takes the focus, keeps it, lets every control be reached; Escape closes it and leads back. */
export async function assertOverlay(
  { page }: Console,
  opener: string,
  {
    role = 'dialog',
    exact = true,
  }: { readonly role?: 'dialog' | 'menu'; readonly exact?: boolean } = {},
): Promise<void> {
  const button = page.getByRole('button', { name: opener, exact }).first()
  await button.focus()
  await page.evaluate('window.opener = document.activeElement')
  await page.keyboard.press('Enter')
  await page.getByRole(role).waitFor()
  await begin(page, `[role=${role}]`)
  await waitUntil(
    page,
    'document.activeElement.closest(walk.scope) !== null',
    `${opener} takes no focus`,
  )
  if (role === 'menu') await follow(page, `the menu of ${opener}`, 'ArrowDown')
  else await follow(page, `the dialog of ${opener}`)
  await assertReached(page, `the ${role} of ${opener}`)
  await page.keyboard.press('Escape')
  await page.getByRole(role).waitFor({ state: 'detached' })
  await waitUntil(
    page,
    'document.activeElement === window.opener',
    `the focus does not return to ${opener}`,
  )
}

/** The keys that lead on among those that share one stop. */
const arrows: Readonly<Record<string, string>> = { tab: 'ArrowRight', menuitem: 'ArrowDown' }

async function follow(page: Page, name: string, key = 'Tab'): Promise<void> {
  if (key !== 'Tab') await page.evaluate(step)
  let stays = 0
  for (let steps = 0; steps < stepsMax; steps += 1) {
    await page.keyboard.press(key)
    const at = await page.evaluate<string>(step)
    stays = at === 'same' ? stays + 1 : 0
    // A page that has just been loaded may take its first key without moving the focus.
    if (at === 'end' && steps < firstStepsMax && (await page.evaluate<boolean>(isUntouched)))
      continue
    if (at === 'end' || at === 'again' || stays > (key === 'Tab' ? stopsInside : 0)) return
    const arrow = key === 'Tab' ? arrows[at] : undefined
    if (arrow === undefined) continue
    do await page.keyboard.press(arrow)
    while ((await page.evaluate<string>(step)) === at)
  }
  assert.fail(`${name}: Tab does not come to an end`)
}

/** As long as other waits of a page: a menu takes the focus late where the machine is busy. */
async function waitUntil(page: Page, condition: string, problem: string): Promise<void> {
  const end = performance.now() + waitMilliseconds
  while (performance.now() < end) {
    if (await page.evaluate<boolean>(condition)) return
    await page.waitForTimeout(30)
  }
  assert.fail(
    `${problem}, but is at ${await page.evaluate<string>(`${nameOf}(document.activeElement)`)}`,
  )
}

async function assertReached(page: Page, name: string): Promise<void> {
  const found = await page.evaluate<object>(
    '({ notReached: walk.controls().filter((one) => !walk.reached.has(one)).map(walk.nameOf), focusNotSeen: walk.unseen })',
  )
  assert.deepEqual(found, { notReached: [], focusNotSeen: [] }, name)
}

async function begin(page: Page, scope: string): Promise<void> {
  await page.evaluate(quiet)
  await page.evaluate(settled)
  await page.evaluate(`window.walk = (${walkOf})(${JSON.stringify(scope)})`)
}

/** Nothing is loading any more, and the page has not changed for a moment. */
const quiet = `new Promise((done) => {
  let [last, since] = ['', performance.now()]
  const look = () => {
    const now = document.body.innerHTML
    if (now !== last || document.querySelector('.fui-Spinner, [role=progressbar]:not([aria-label])')) [last, since] = [now, performance.now()]
    if (performance.now() - since > 250) done()
    else setTimeout(look, 50)
  }
  const giveUp = setTimeout(done, 5000)
  look()
})`

const nameOf = `((one) => (one.getAttribute('aria-label') ?? one.textContent.trim()).slice(0, 60) + ' ' + one.outerHTML.slice(0, 120))`

/** The controls of a scope, those that were reached, and those whose focus could not be seen. */
const walkOf = `(scope) => {
  const properties = ['outlineStyle', 'outlineWidth', 'outlineColor', 'boxShadow', 'backgroundColor', 'color', 'textDecorationLine',
    'textDecorationStyle', 'borderTopColor', 'borderBottomColor', 'transform', 'opacity', 'left']
  const selector = 'a[href], button, input, select, textarea, summary, [tabindex="0"], [role=button], [role=link], [role=tab], [role=switch], [role=checkbox], [role=menuitem], [role=menuitemcheckbox]'
  const lookOf = (one) => JSON.stringify(
    [one, one.parentElement, one.parentElement?.parentElement, one.nextElementSibling, ...one.querySelectorAll('[data-active=true]')]
      .filter(Boolean)
      .flatMap((near) => [undefined, '::before', '::after'].map((pseudo) => {
        const style = getComputedStyle(near, pseudo)
        return properties.map((property) => style[property])
      })))
  const isControl = (one) => {
    const { width, height } = one.getBoundingClientRect()
    return width > 0 && height > 0 && one.checkVisibility({ visibilityProperty: true }) && !one.disabled &&
      one.closest('[aria-hidden=true], [inert], [data-tabster-dummy], [aria-disabled=true]') === null &&
      // The tree has the focus for its rows.
      one.parentElement.closest('[role=tree]') === null
  }
  return {
    scope,
    reached: new Set(),
    unseen: [],
    nameOf: ${nameOf},
    lookOf,
    controls: () => [...document.querySelectorAll(scope)].flatMap((inside) => [...inside.querySelectorAll(selector)]).filter(isControl),
  }
}`

/** Takes note of what has the focus now, and whether what had it before looks otherwise without it. */
const step = `(() => {
  const now = document.activeElement
  const { last, look } = walk
  if (last !== undefined && last !== now && last.isConnected && walk.lookOf(last) === look) walk.unseen.push(walk.nameOf(last))
  walk.last = undefined
  if (now === null || now === document.body || now.closest(walk.scope) === null) return 'end'
  const known = walk.reached.has(now)
  walk.reached.add(now)
  walk.last = now
  walk.look = walk.lookOf(now)
  if (last === now) return 'same'
  return known ? 'again' : (now.getAttribute('role') ?? now.tagName)
})()`
