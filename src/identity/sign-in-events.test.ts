/** Every way to sign in records its outcome. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SignInEvent } from './sign-in-events.ts'
import { createBrowser } from './testing/browser.ts'
import { openIdentityFixture } from './testing/fixture.ts'
import {
  addAlice,
  addApplication,
  askToken,
  authorizeAddress,
  challenge,
  signIn,
  verifier,
} from './testing/flows.ts'

const origin = { address: '192.0.2.7', userAgent: 'a test' }

function short({ outcome, grant, principalId, name, error, origin: from }: SignInEvent) {
  assert.deepEqual(from, origin)
  return [outcome, grant, principalId, name, error]
}

test('sign-ins and tokens, good and bad, are recorded with who, how and from where', async () => {
  const told: SignInEvent[] = []
  await using fixture = await openIdentityFixture({
    onSignIn: (event) => told.push(event),
    originOf: () => origin,
    localTokenSecret: 'local',
  })
  const take = () => told.splice(0).map(short)
  const alice = await addAlice(fixture)
  const { id, clientId, clientSecret } = await addApplication(fixture)
  const application = { grant_type: 'client_credentials', client_id: clientId }

  await askToken(fixture, { ...application, client_secret: clientSecret })
  await askToken(fixture, { ...application, client_secret: 'wrong' })
  await askToken(fixture, { ...application, client_id: 'no\nbody', client_secret: 'wrong' })
  assert.deepEqual(take(), [
    ['succeeded', 'client_credentials', id, clientId, undefined],
    ['refused', 'client_credentials', undefined, clientId, 'invalid_client'],
    ['refused', 'client_credentials', undefined, 'no?body', 'invalid_client'],
  ])

  const browser = createBrowser(fixture.url)
  const address = authorizeAddress({
    response_type: 'code',
    client_id: 'armature-cli',
    redirect_uri: 'http://127.0.0.1:1/callback',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    scope: 'openid user_impersonation',
  })
  const again = await signIn(browser, await browser.open(address), {
    signInName: 'alice',
    password: 'not hers',
  })
  const back = await signIn(browser, again)
  const redeemed = await askToken(fixture, {
    grant_type: 'authorization_code',
    client_id: 'armature-cli',
    code: back.url.searchParams.get('code') ?? '',
    code_verifier: verifier,
    redirect_uri: 'http://127.0.0.1:1/callback',
  })
  const refresh = { grant_type: 'refresh_token', client_id: 'armature-cli' }
  await askToken(fixture, { ...refresh, refresh_token: redeemed.refresh_token })
  await askToken(fixture, { ...refresh, refresh_token: 'made up' })
  assert.deepEqual(take(), [
    ['refused', 'password', undefined, 'alice', 'access_denied'],
    ['succeeded', 'password', alice, 'alice', undefined],
    ['succeeded', 'authorization_code', alice, alice, undefined],
    ['succeeded', 'refresh_token', alice, alice, undefined],
    ['refused', 'refresh_token', undefined, 'armature-cli', 'invalid_grant'],
  ])

  const device = await fetch(`${fixture.url}/common/oauth2/devicecode`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: 'armature-cli' }),
  })
  const { device_code: code } = (await device.json()) as { device_code: string }
  await askToken(fixture, {
    grant_type: 'device_code',
    client_id: 'armature-cli',
    device_code: code,
  })
  assert.deepEqual(take(), [], 'waiting for a person is no outcome')

  const owner = await fixture.identity.ensureOwner({ displayName: 'Owner' })
  for (const secret of ['local', 'wrong']) {
    await fetch(`${fixture.url}/common/identity/token?resource=${fixture.url}`, {
      headers: { secret },
    })
  }
  assert.deepEqual(take(), [
    ['succeeded', 'managed_identity', owner.principalId, 'managed identity', undefined],
    ['refused', 'managed_identity', undefined, 'managed identity', 'invalid_client'],
  ])
})
