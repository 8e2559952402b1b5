/**
 * A consent in a real browser: the anti-phishing page before the first one, the identity provider's own pages, and
 * back with a code. There is no such page once consent was confirmed. Screenshots are kept in `test-results/`.
 */

import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { localServer } from '#outbound/testing/ways.ts'
import { createResourceGroup } from '../e2e/access.ts'
import { type Installation, startInstallation } from '../e2e/installation.ts'
import { requireOrSkip } from '../require.ts'
import { faintTexts, openBrowser, overflows } from './browser.ts'
import { findChromium, howToGetChromium } from './find-chromium.ts'

const screenshots = join(import.meta.dirname, '..', '..', 'test-results')

test('a browser to consent in', (t) => {
  requireOrSkip(t, findChromium() !== undefined, howToGetChromium)
})

if (findChromium() !== undefined) {
  describe('consenting', { timeout: 360_000 }, pages)
}

function pages(): void {
  let ours: Installation
  let theirs: Installation
  let connection: string

  before(async () => {
    mkdirSync(screenshots, { recursive: true })
    ours = await startInstallation()
    theirs = await startInstallation()
    const made = await theirs.cli([
      ...['principal', 'create', '--type', 'ServicePrincipal', '--name', 'Pets', '--json'],
      ...['--redirect-uri', `${ours.url}/consent/callback`],
    ])
    const { clientId, clientSecret } = JSON.parse(made.out)
    const group = `/subscriptions/${ours.subscriptionId}/resourceGroups/consent`
    await createResourceGroup(ours, group)
    const service = `${group}/providers/Vendor.ApiManagement/service/pets`
    const properties = { publisherEmail: 'a@example.test', publisherName: 'A' }
    await put(service, { location: 'local', sku: { name: 'Developer' }, properties })
    const authorizationCode = {
      clientId,
      clientSecret,
      scopes: 'user_impersonation',
      authorizationUrl: `${theirs.url}/common/oauth2/authorize`,
      tokenUrl: `${theirs.url}/common/oauth2/token`,
    }
    const provider = `${service}/authorizationProviders/other`
    await put(provider, {
      properties: {
        displayName: 'The other installation',
        identityProvider: 'oauth2',
        oauth2: { grantTypes: { authorizationCode } },
      },
    })
    connection = `${provider}/authorizations/me`
    await put(connection, { properties: {} })
  })
  after(async () => {
    await ours[Symbol.asyncDispose]()
    await theirs[Symbol.asyncDispose]()
  })

  async function put(path: string, body: object): Promise<void> {
    const answer = await ours.request('PUT', `${path}?api-version=2024-05-01`, { body })
    assert.ok([200, 201].includes(answer.status), answer.text)
  }

  async function post(action: string, body: object) {
    const path = `${connection}/${action}?api-version=2024-05-01`
    const answer = await ours.request('POST', path, { body })
    assert.equal(answer.status, 200, answer.text)
    return answer
  }

  async function link(): Promise<string> {
    const answer = await post('getLoginLinks', { postLoginRedirectUrl: `${ours.url}/healthz` })
    return String(answer.at('loginLink'))
  }

  async function arrived(page: Page): Promise<string> {
    await page.waitForURL(/consentCode=/)
    return new URL(page.url()).searchParams.get('consentCode') ?? ''
  }

  for (const dark of [false, true]) {
    test(`the anti-phishing page can be read and used, ${dark ? 'dark' : 'light'}, also on a telephone`, async () => {
      await using browser = await openBrowser({ dark, width: 360 })
      const { page } = browser
      await page.goto(await link())
      await page
        .getByRole('heading', { level: 1, name: 'Do you know who sent you this link?' })
        .waitFor()
      for (const told of ['pets', 'me', 'The other installation', new URL(theirs.url).host]) {
        assert.ok((await page.getByRole('main').textContent())?.includes(told), told)
      }
      assert.deepEqual(await faintTexts(page), [])
      assert.equal(await overflows(page), false)
      await page.screenshot({ path: join(screenshots, `consent-${dark ? 'dark' : 'light'}.png`) })
      assert.deepEqual(browser.complaints, [])
    })
  }

  test('before the first consent the page asks; after it was confirmed, it does not', async () => {
    await using browser = await openBrowser()
    const { page } = browser
    await page.goto(await link())
    await page.screenshot({ path: join(screenshots, 'consent-before.png') })
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('textbox', { name: 'Sign-in name' }).fill(theirs.owner.signInName)
    await page.getByLabel('Password').fill(theirs.owner.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Allow' }).click()
    await post('confirmConsentCode', { consentCode: await arrived(page) })
    await page.goto(await link())
    // Straight through: signed in there, consent known there, confirmed here.
    assert.match(await arrived(page), /^c/)
    await page.screenshot({ path: join(screenshots, 'consent-after.png') })
    assert.deepEqual(browser.complaints, [])
  })

  test('a page of somebody else cannot pass it by, although the consent is known', async () => {
    await using evil = await localServer((request, response) => {
      const link = decodeURIComponent(new URL(request.url ?? '/', 'http://e').search.slice(1))
      response.setHeader('content-type', 'text/html')
      response.end(`<meta name=referrer content=no-referrer><form method=post action="${link}">
<input name=do value=continue></form><script>document.forms[0].submit()</script>`)
    })
    await put(`${connection}-3`, { properties: {} })
    const path = `${connection}-3/getLoginLinks?api-version=2024-05-01`
    const body = { postLoginRedirectUrl: `${ours.url}/healthz` }
    const answer = await ours.request('POST', path, { body })
    await using browser = await openBrowser()
    const { page } = browser
    const from = `http://evil.localhost:${evil.port}/`
    await page.goto(`${from}?${encodeURIComponent(String(answer.at('loginLink')))}`)
    await page.getByText('was not sent from the page of this installation').waitFor()
  })

  test('who leaves is taken back without a code', async () => {
    await put(`${connection}-2`, { properties: {} })
    const path = `${connection}-2/getLoginLinks?api-version=2024-05-01`
    const body = { postLoginRedirectUrl: `${ours.url}/healthz` }
    const answer = await ours.request('POST', path, { body })
    await using browser = await openBrowser()
    const { page } = browser
    await page.goto(String(answer.at('loginLink')))
    await page.getByRole('button', { name: 'Leave' }).click()
    await page.waitForURL(/error=access_denied/)
    assert.equal(new URL(page.url()).searchParams.get('consentCode'), null)
  })
}
