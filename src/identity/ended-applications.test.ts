/** What people allowed to an application ends with it, whoever has its client id later. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBrowser } from './testing/browser.ts'
import { type IdentityFixture, openIdentityFixture } from './testing/fixture.ts'
import {
  addAlice,
  askToken,
  authorizeAddress,
  challenge,
  signIn,
  verifier,
} from './testing/flows.ts'

const clientId = 'c0ffee00-1111-4222-8333-444455556666'
const redirect = 'http://127.0.0.1:1/callback'

/** The refresh token of a person who let the application in. */
async function letIn(fixture: IdentityFixture): Promise<string> {
  const browser = createBrowser(fixture.url)
  const page = await browser.open(
    authorizeAddress({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirect,
      code_challenge: challenge,
      code_challenge_method: 'S256',
      scope: 'openid user_impersonation',
    }),
  )
  const back = await browser.submit(await signIn(browser, page), { do: 'allow' })
  const answer = await askToken(fixture, {
    grant_type: 'authorization_code',
    client_id: clientId,
    code: back.url.searchParams.get('code') ?? '',
    code_verifier: verifier,
    redirect_uri: redirect,
  })
  return answer.refresh_token ?? ''
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

for (const [how, end] of endings) {
  test(`nobody stays signed in by an application that is ${how}`, async () => {
    await using fixture = await openIdentityFixture()
    const { directory } = fixture.identity
    await addAlice(fixture)
    const { principal } = await directory.createServicePrincipal({
      displayName: 'a',
      publicClient: { clientId },
    })
    const refresh_token = await letIn(fixture)
    const refresh = () =>
      askToken(fixture, { grant_type: 'refresh_token', client_id: clientId, refresh_token })
    assert.notEqual((await refresh()).access_token, undefined)
    await end(directory, principal.id)
    assert.equal((await refresh()).error, 'invalid_grant')
    assert.notEqual(await letIn(fixture), '')
  })
}
