/** The pages of signing in by keyboard alone, and how they look: colours, widths. */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Installation, startInstallation } from '../e2e/installation.ts'
import { someOf } from '../long.ts'
import { requireOrSkip } from '../require.ts'
import { faintTexts, openBrowser, overflows } from './browser.ts'
import { findChromium, howToGetChromium } from './find-chromium.ts'
import { assertHeading, signIn } from './sign-in.ts'

test('a browser to look at pages', (t) => {
  requireOrSkip(t, findChromium() !== undefined, howToGetChromium)
})

if (findChromium() !== undefined) {
  describe('signing in, as it looks', { timeout: 360_000 }, pages)
}

function pages(): void {
  let installation: Installation
  before(async () => {
    installation = await startInstallation()
  })
  after(() => installation[Symbol.asyncDispose]())

  test('by keyboard alone', async () => {
    await using browser = await openBrowser()
    const { page } = browser
    await page.goto(`${installation.url}/signed-in`)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await assertHeading(page, 'Sign in')
    await page.keyboard.type(installation.owner.signInName)
    await page.keyboard.press('Tab')
    await page.keyboard.type(installation.owner.password)
    for (const _ of ['the box', 'the button']) await page.keyboard.press('Tab')
    await page.keyboard.press('Space')
    await assertHeading(page, 'You are signed in')
  })

  const looks = [
    ['light, wide', {}],
    ['dark, wide', { dark: true }],
    ['light, 375 px', { width: 375 }],
    ['dark, 375 px', { dark: true, width: 375 }],
  ] as const
  // Each of the colours and each of the widths: what is faint is a matter of one, what overflows of the other.
  for (const [name, options] of someOf(looks, 3)) {
    test(`pages are readable and fit: ${name}`, async () => {
      await using browser = await openBrowser(options)
      const { page } = browser
      const assertFits = async (heading: string): Promise<void> => {
        await assertHeading(page, heading)
        assert.deepEqual(await faintTexts(page), [], heading)
        assert.equal(await overflows(page), false, heading)
        assert.equal(await page.getByRole('main').count(), 1)
        assert.equal(await page.evaluate('document.documentElement.lang'), 'en')
      }
      const { url, owner } = installation
      await page.goto(`${url}/signed-in`)
      await assertFits('Sign in')
      await page.getByRole('link', { name: 'Sign in' }).click()
      await assertFits('Sign in')
      await signIn(page, owner.signInName, 'not the password')
      await page.getByRole('alert').waitFor()
      await assertFits('Sign in')
      await signIn(page, owner.signInName, owner.password)
      await assertFits('You are signed in')
      await page.goto(`${url}/common/oauth2/deviceauth`)
      await assertFits('Connect a device')
      await page.goto(`${url}/common/oauth2/authorize?client_id=nobody`)
      await assertFits('That did not work')
    })
  }
}
