/** Applications without a secret: who may be one, and what people are asked. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Browser, createBrowser, type Visit } from './testing/browser.ts'
import {
  addAlice,
  askToken,
  authorizeAddress,
  challenge,
  signIn,
  verifier,
} from './testing/flows.ts'
import { openWorld, type World } from './testing/world.ts'

const published = '2f0a4b3e-2c5d-4c0e-9d6a-7d1c1b8f5e21'

async function addPublicClient(world: World): Promise<string> {
  const { principal } = await world.identity.directory.createServicePrincipal({
    displayName: 'Published',
    publicClient: { clientId: published.toUpperCase() },
  })
  return principal.id
}

function ask(browser: Browser, redirect: string): Promise<Visit> {
  return browser.open(
    authorizeAddress({
      response_type: 'code',
      client_id: published,
      redirect_uri: redirect,
      code_challenge: challenge,
      code_challenge_method: 'S256',
      scope: 'openid user_impersonation',
    }),
  )
}

test('a person signs in to a public client at any port, and is asked each time', async () => {
  await using world = await openWorld()
  const id = await addAlice(world)
  await addPublicClient(world)
  const browser = createBrowser(world.url)
  for (const [index, redirect] of ['http://localhost:4711', 'http://127.0.0.1:4712/'].entries()) {
    const page = await ask(browser, redirect)
    const question = index === 0 ? await signIn(browser, page) : page
    assert.match(question.body, /Published/)
    assert.match(question.body, /value="allow"/)
    assert.match(question.body, /if you have just started it yourself/)
    const back = await browser.submit(question, { do: 'allow' })
    assert.equal(back.url.origin, new URL(redirect).origin)
    const answer = await askToken(world, {
      grant_type: 'authorization_code',
      client_id: published,
      code: back.url.searchParams.get('code') ?? '',
      code_verifier: verifier,
      redirect_uri: redirect,
    })
    assert.equal(answer.status, 200, JSON.stringify(answer))
    const principal = await world.identity.authenticator.authenticate(
      `Bearer ${answer.access_token}`,
    )
    assert.deepEqual([principal.id, principal.clientId], [id, published])
  }
  const elsewhere = await ask(browser, 'http://192.0.2.1:80/')
  assert.equal(elsewhere.status, 400)
})

test('it has no secret, gets no token of its own, and its client id is nobody else’s', async () => {
  await using world = await openWorld()
  const { directory } = world.identity
  const user = await addAlice(world)
  await directory.addSecret(user)
  const id = await addPublicClient(world)
  const own = await askToken(world, { grant_type: 'client_credentials', client_id: published })
  assert.notEqual(own.error, undefined)
  await assert.rejects(directory.addSecret(id), { code: 'InvalidPrincipal' })
  for (const [clientId, code] of [
    [published, 'ClientIdExists'],
    [user, 'ClientIdExists'],
    ['no id', 'InvalidPrincipal'],
  ] as const) {
    const made = directory.createServicePrincipal({
      displayName: 'Another',
      publicClient: { clientId },
    })
    await assert.rejects(made, { code })
  }
})
