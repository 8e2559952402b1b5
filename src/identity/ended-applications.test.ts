/** What people allowed to an application ends with it, whoever has its client id later. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBrowser } from './testing/browser.ts'
import { type IdentityFixture, openIdentityFixture } from './testing/fixture.ts'
import {
  addAlice,
  addApplication,
  askToken,
  authorizeAddress,
  challenge,
  signIn,
  verifier,
} from './testing/flows.ts'

const clientId = 'c0ffee00-1111-4222-8333-444455556666'
const redirect = 'http://127.0.0.1:1/callback'

interface Application {
  readonly client_id: string
  readonly client_secret?: string
}

const publicOne: Application = { client_id: clientId }

/** The form that redeems the code of a person who let the application in. */
async function allow(
  fixture: IdentityFixture,
  application = publicOne,
): Promise<Record<string, string>> {
  const browser = createBrowser(fixture.url)
  const page = await browser.open(
    authorizeAddress({
      response_type: 'code',
      client_id: application.client_id,
      redirect_uri: redirect,
      code_challenge: challenge,
      code_challenge_method: 'S256',
      scope: 'openid user_impersonation',
    }),
  )
  const back = await browser.submit(await signIn(browser, page), { do: 'allow' })
  return {
    grant_type: 'authorization_code',
    ...application,
    code: back.url.searchParams.get('code') ?? '',
    code_verifier: verifier,
    redirect_uri: redirect,
  }
}

/** The refresh token of a person who let the application in. */
async function letIn(fixture: IdentityFixture, application = publicOne): Promise<string> {
  const answer = await askToken(fixture, await allow(fixture, application))
  return answer.refresh_token ?? ''
}

/** The form that polls with a device code which a person has confirmed. */
async function connectDevice(fixture: IdentityFixture): Promise<Record<string, string>> {
  const response = await fetch(`${fixture.url}/common/oauth2/v2.0/devicecode`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: clientId, scope: `${fixture.url}/.default` }),
  })
  // The library answers flat texts and numbers; the test reads the texts.
  const device = (await response.json()) as Record<string, string>
  const browser = createBrowser(fixture.url)
  const entry = await browser.open('/common/oauth2/deviceauth')
  const confirm = await browser.submit(entry, { user_code: device['user_code'] ?? '' })
  const page = await signIn(browser, await browser.submit(confirm, {}))
  const done = await browser.submit(page, { do: 'allow' })
  assert.match(done.body, /The device is connected/)
  return {
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    client_id: clientId,
    device_code: device['device_code'] ?? '',
  }
}

type Directory = IdentityFixture['identity']['directory']

const endings: readonly (readonly [
  string,
  (directory: Directory, id: string) => Promise<unknown>,
])[] = [
  [
    'deleted, and another one has its client id',
    async (directory, id) => {
      await directory.delete(id)
      await directory.createServicePrincipal({ displayName: 'b', publicClient: { clientId } })
    },
  ],
  [
    'disabled and enabled again',
    async (directory, id) => {
      await directory.update(id, { enabled: false })
      await directory.update(id, { enabled: true })
    },
  ],
  ['revoked', (directory, id) => directory.revoke(id)],
]

/** With a person and a public application that was let in nowhere. */
async function open(): Promise<{ fixture: IdentityFixture; directory: Directory; id: string }> {
  const fixture = await openIdentityFixture()
  const { directory } = fixture.identity
  await addAlice(fixture)
  const { principal } = await directory.createServicePrincipal({
    displayName: 'a',
    publicClient: { clientId },
  })
  return { fixture, directory, id: principal.id }
}

for (const [how, end] of endings) {
  test(`nobody stays signed in by an application that is ${how}`, async () => {
    const { fixture, directory, id } = await open()
    await using _closed = fixture
    const refresh_token = await letIn(fixture)
    const refresh = () =>
      askToken(fixture, { grant_type: 'refresh_token', client_id: clientId, refresh_token })
    assert.notEqual((await refresh()).access_token, undefined)
    await end(directory, id)
    assert.equal((await refresh()).error, 'invalid_grant')
    assert.notEqual(await letIn(fixture), '')
  })

  for (const [what, make] of [
    ['device code', connectDevice],
    ['authorization code', allow],
  ] as const) {
    test(`nobody redeems the ${what} of an application that is ${how}`, async () => {
      const { fixture, directory, id } = await open()
      await using _closed = fixture
      assert.notEqual((await askToken(fixture, await make(fixture))).access_token, undefined)
      const form = await make(fixture)
      await end(directory, id)
      assert.equal((await askToken(fixture, form)).error, 'invalid_grant')
    })
  }
}

test('a refresh token that rests on the session of a browser ends with its application', async () => {
  await using fixture = await openIdentityFixture()
  await addAlice(fixture)
  const { id, ...keys } = await addApplication(fixture, [redirect])
  const application = { client_id: keys.clientId, client_secret: keys.clientSecret }
  const refresh_token = await letIn(fixture, application)
  const refresh = () =>
    askToken(fixture, { grant_type: 'refresh_token', ...application, refresh_token })
  assert.notEqual((await refresh()).access_token, undefined)
  await fixture.identity.directory.revoke(id)
  assert.equal((await refresh()).error, 'invalid_grant')
})

test('a client id in capital letters is the same application: its tokens are taken, and end with it', async () => {
  const { fixture, directory, id } = await open()
  await using _closed = fixture
  const written = { client_id: clientId.toUpperCase() }
  const refresh_token = await letIn(fixture, written)
  const refresh = () =>
    askToken(fixture, { grant_type: 'refresh_token', ...written, refresh_token })
  const { access_token = '' } = await refresh()
  const caller = await fixture.identity.authenticator.authenticate(`Bearer ${access_token}`)
  assert.equal(caller.clientId, clientId)
  await directory.revoke(id)
  assert.equal((await refresh()).error, 'invalid_grant')
})
