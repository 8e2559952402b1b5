/** What the programs of this folder share: who signs in, what a person does in a browser, and how cases are told. */

import assert from 'node:assert/strict'
import { createBrowser } from '../../../src/identity/testing/browser.ts'

/** Addresses and credentials, by the test that starts this program. `url` is behind TLS, `plainUrl` is not. */
export const given = JSON.parse(process.env['GIVEN'] ?? '{}')
export const { url, tenantId } = given
export const scope = `${url}/.default`
export const host = new URL(url).host

export async function checkToken(token) {
  const response = await fetch(`${url}/subscriptions?api-version=2022-12-01`, {
    headers: { authorization: `Bearer ${token}` },
  })
  assert.equal(response.status, 200, await response.text())
}

export async function signIn(browser, address) {
  const page = await browser.open(address)
  assert.match(page.body, /<h1>Sign in<\/h1>/)
  const { signInName: name, password } = given
  return browser.submit(page, { name, password, do: 'sign-in' })
}

export async function enterDeviceCode(page, code, consent = false) {
  const browser = createBrowser(url)
  const entry = await browser.open(page)
  const confirm = await browser.submit(entry, { user_code: code })
  const asked = await browser.submit(confirm, { confirm: 'yes' })
  assert.match(asked.body, /<h1>Sign in<\/h1>/)
  const { signInName: name, password } = given
  let done = await browser.submit(asked, { name, password, do: 'sign-in' })
  // Anybody may claim to be a public client, so the person is asked.
  if (consent) {
    assert.match(done.body, /Published command line/)
    done = await browser.submit(done, { do: 'allow' })
  }
  assert.match(done.body, /signed in|You can close/i)
}

/** A person's part went wrong while the library waits for it. */
export function failed(error) {
  process.stderr.write(`${error.stack}\n`)
}

/** Prints one JSON line per case: which operation by which client, its name, and what went wrong if anything. */
export async function runCases(operation, client, cases) {
  for (const [name, run] of Object.entries(cases)) {
    // A library that waits for what never comes must not hold the test.
    const late = new Promise((_resolve, reject) => {
      setTimeout(() => reject(new Error('not done after 60 seconds')), 60_000).unref()
    })
    const error = await Promise.race([run(), late]).then(
      () => undefined,
      (thrown) => (thrown instanceof Error ? thrown.stack : String(thrown)),
    )
    process.stdout.write(`${JSON.stringify({ operation, client, name, error })}\n`)
  }
}
