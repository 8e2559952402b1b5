/**
 * A person signs in with a real browser: the contract's implicit flow, an application that asks for consent, a
 * device at another screen. Elements are found by role and label, as assistive technology finds them.
 */

import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { createUser } from '../e2e/access.ts'
import { type Answer, type Installation, send, startInstallation } from '../e2e/installation.ts'
import { requireOrSkip } from '../require.ts'
import { type Browser, openBrowser } from './browser.ts'
import { findChromium, howToGetChromium } from './find-chromium.ts'
import { assertHeading, signIn } from './sign-in.ts'

test('a browser to sign in with', (t) => {
  requireOrSkip(t, findChromium() !== undefined, howToGetChromium)
})

if (findChromium() !== undefined) {
  describe('signing in', { timeout: 360_000 }, pages)
}

const subscriptions = '/subscriptions?api-version=2020-01-01'

function pages(): void {
  let installation: Installation
  before(async () => {
    installation = await startInstallation()
  })
  after(() => installation[Symbol.asyncDispose]())

  const form = (path: string, fields: Readonly<Record<string, string>>): Promise<Answer> =>
    send(new URL(path, installation.url), 'POST', {
      token: null,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(fields).toString(),
    })

  async function assertWorks(token: string, principalId: string): Promise<void> {
    const answer = await installation.request('GET', subscriptions, { token })
    assert.equal(answer.status, 200, answer.text)
    const [, payload = ''] = token.split('.')
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
    assert.equal(claims.oid, principalId)
    assert.equal(claims.tid, installation.tenantId)
    assert.equal(claims.aud, installation.url)
    assert.match(claims.scope, /\buser_impersonation\b/)
  }

  test('wrongly, then rightly: the page that the start names ends with a token that works', async () => {
    await using browser = await openBrowser()
    const { page } = browser
    const start = /Sign-in page +(\S+)/.exec(installation.output())?.[1] ?? ''
    await page.goto(start)
    assert.match(await page.title(), /^Sign in · /)
    await page.getByRole('link', { name: 'Sign in' }).click()
    await assertHeading(page, 'Sign in')
    const { owner } = installation
    await signIn(page, owner.signInName, 'not the password')
    const alert = page.getByRole('alert')
    await alert.waitFor()
    assert.equal(await alert.textContent(), 'The sign-in name or the password is wrong.')
    const password = page.getByLabel('Password')
    assert.equal(await password.inputValue(), '', 'a password is never repeated')
    assert.equal(await password.getAttribute('aria-invalid'), 'true')
    const described = await password.getAttribute('aria-describedby')
    assert.equal(await alert.getAttribute('id'), described)
    assert.equal(await page.evaluate('document.activeElement.id'), 'password')
    const name = page.getByLabel('Sign-in name')
    assert.equal(await name.inputValue(), owner.signInName, 'the name need not be typed again')
    await password.fill(owner.password)
    await page.keyboard.press('Enter')
    await assertHeading(page, 'You are signed in')
    assert.match(await page.title(), /^Signed in · /)
    assert.equal(page.url(), start, 'the token stands in no address and no history')
    const token = await page.getByLabel('Access token').inputValue()
    await assertWorks(token, owner.principalId)
    await page.getByRole('button', { name: 'Copy the token' }).click()
    await page.getByRole('status').getByText('Copied.').waitFor()
    assert.deepEqual(browser.complaints, [])
  })

  test('cancelled: the page says so, and nobody is signed in', async () => {
    await using browser = await openBrowser()
    const { page } = browser
    await page.goto(`${installation.url}/signed-in`)
    await page.getByRole('link', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await assertHeading(page, 'Not signed in')
    assert.match((await page.getByRole('alert').textContent()) ?? '', /access_denied/)
    assert.equal(await page.getByLabel('Access token').isVisible(), false)
    // Whoever makes a link to the page says nothing there in our name.
    await page.goto(`${installation.url}/healthz`)
    const words = { error: 'Call 0900', error_description: 'Send your password to us.' }
    await page.goto(`${installation.url}/signed-in#${new URLSearchParams(words)}`)
    await assertHeading(page, 'Not signed in')
    assert.doesNotMatch((await page.getByRole('main').textContent()) ?? '', /0900|Send your/)
  })

  test('the implicit flow of the contract, for an application that asks for consent', async () => {
    await using application = await startApplication()
    const password = 'correct-horse-battery'
    const ada = await createUser(installation, 'ada')
    const set = `/directory/users/${ada}/setPassword`
    assert.equal((await installation.request('POST', set, { body: { password } })).status, 204)
    const made = await installation.request('POST', '/directory/servicePrincipals', {
      body: { displayName: 'Weather <station>', redirectUris: [application.url] },
    })
    assert.equal(made.status, 201, made.text)
    const query = new URLSearchParams({
      response_type: 'token',
      client_id: String(made.at('clientId')),
      redirect_uri: application.url,
      scope: 'user_impersonation',
      state: 'a state & more',
    })
    const authorize = `${installation.url}/common/oauth2/authorize?${query}`
    await using browser = await openBrowser()
    const { page } = browser
    await page.goto(authorize)
    await signIn(page, 'ada', password)
    await assertHeading(page, 'Allow Weather <station>?')
    await page.getByText('Manage resources here as you').waitFor()
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.waitForURL(`${application.url}#**`)
    const given = new URLSearchParams(new URL(page.url()).hash.slice(1))
    assert.equal(given.get('state'), 'a state & more')
    assert.equal(given.get('token_type')?.toLowerCase(), 'bearer')
    assert.ok(Number(given.get('expires_in')) > 60)
    assert.equal(given.get('code'), null)
    const token = given.get('access_token') ?? ''
    const [, payload = ''] = token.split('.')
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
    assert.equal(claims.oid, ada, 'it acts for the person, not for itself')
    await assertWorks(token, ada)
    assert.ok(!application.seen.some((line) => line.includes(token)), 'a fragment is never sent')
    // Signed in and allowed once: the second time there is no question.
    await page.goto('about:blank')
    await page.goto(authorize)
    await page.waitForURL(`${application.url}#**`)
    assert.match(page.url(), /access_token=/)
    // An unregistered address gets nothing.
    query.set('redirect_uri', `${application.url}elsewhere`)
    await page.goto(`${installation.url}/common/oauth2/authorize?${query}`)
    await assertHeading(page, 'That did not work')
    assert.deepEqual(browser.complaints, [])
  })

  describe('a device', () => {
    let browser: Browser
    before(async () => {
      browser = await openBrowser()
    })
    after(() => browser[Symbol.asyncDispose]())

    const begin = () =>
      form('/common/oauth2/devicecode', {
        client_id: 'armature-cli',
        scope: 'openid user_impersonation',
      })
    const poll = (code: Answer) =>
      form('/common/oauth2/token', {
        grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
        client_id: 'armature-cli',
        device_code: String(code.at('device_code')),
      })

    test('a wrong code, the right one, sign-in, and the device has a token', async () => {
      const { page } = browser
      const code = await begin()
      assert.equal(code.status, 200, code.text)
      assert.equal((await poll(code)).at('error'), 'authorization_pending')
      await page.goto(String(code.at('verification_uri')))
      await assertHeading(page, 'Connect a device')
      const field = page.getByRole('textbox', { name: 'Code' })
      await field.fill('BBBB-BBBB')
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByRole('alert').getByText('There is no such code.').waitFor()
      // As a person types it: lower case, no hyphen.
      await field.fill(String(code.at('user_code')).toLowerCase().replace('-', ''))
      await page.getByRole('button', { name: 'Continue' }).click()
      await assertHeading(page, 'Is this your device?')
      await page.getByText(String(code.at('user_code')), { exact: true }).waitFor()
      await page.getByRole('button', { name: 'Yes, continue' }).click()
      await signIn(page, installation.owner.signInName, installation.owner.password)
      await assertHeading(page, 'The device is connected')
      const token = await poll(code)
      assert.equal(token.status, 200, token.text)
      await assertWorks(String(token.at('access_token')), installation.owner.principalId)
      assert.deepEqual(browser.complaints, [])
    })

    test('a person who says no gives nothing away', async () => {
      const { page } = browser
      const code = await begin()
      await page.goto(String(code.at('verification_uri_complete')))
      // The address contains the code, so the person only has to compare it.
      const field = page.getByRole('textbox', { name: 'Code' })
      assert.equal(await field.inputValue(), code.at('user_code'))
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByRole('button', { name: 'No, stop' }).click()
      await page.waitForLoadState()
      assert.equal((await poll(code)).at('error'), 'access_denied')
    })
  })
}

interface Application extends AsyncDisposable {
  readonly url: string
  /** Every request line it received. */
  readonly seen: readonly string[]
}

/** An application that people are redirected to. */
async function startApplication(): Promise<Application> {
  const seen: string[] = []
  const server: Server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    response.setHeader('content-type', 'text/html')
    response.end('<!doctype html><title>Weather</title><h1>Weather</h1>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A TCP server that listens has a port.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/callback`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
