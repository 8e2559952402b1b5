/** Applications without a secret: who may be one, and what people are asked. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Browser, createBrowser, type Visit } from './testing/browser.ts'
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

const published = '2f0a4b3e-2c5d-4c0e-9d6a-7d1c1b8f5e21'

async function addPublicClient(fixture: IdentityFixture): Promise<string> {
  const { principal } = await fixture.identity.directory.createServicePrincipal({
    displayName: 'Published',
    publicClient: { clientId: published.toUpperCase() },
  })
  return principal.id
}

function ask(browser: Browser, redirect: string, more = ''): Promise<Visit> {
  return browser.open(
    authorizeAddress({
      response_type: 'code',
      client_id: published,
      redirect_uri: redirect,
      code_challenge: challenge,
      code_challenge_method: 'S256',
      scope: `openid user_impersonation${more}`,
    }),
  )
}

test('a person signs in to a public client at any port, and is asked each time', async () => {
  await using fixture = await openIdentityFixture()
  const id = await addAlice(fixture)
  await addPublicClient(fixture)
  const browser = createBrowser(fixture.url)
  for (const [index, redirect] of ['http://localhost:4711', 'http://127.0.0.1:4712/'].entries()) {
    const page = await ask(browser, redirect)
    const question = index === 0 ? await signIn(browser, page) : page
    assert.match(question.body, /Published/)
    assert.match(question.body, /value="allow"/)
    assert.match(question.body, /if you have just started it yourself/)
    const back = await browser.submit(question, { do: 'allow' })
    assert.equal(back.url.origin, new URL(redirect).origin)
    const answer = await askToken(fixture, {
      grant_type: 'authorization_code',
      client_id: published,
      code: back.url.searchParams.get('code') ?? '',
      code_verifier: verifier,
      redirect_uri: redirect,
    })
    assert.equal(answer.status, 200, JSON.stringify(answer))
    const principal = await fixture.identity.authenticator.authenticate(
      `Bearer ${answer.access_token}`,
    )
    assert.deepEqual([principal.id, principal.clientId], [id, published])
  }
  // Each consent is recorded in the audit trail.
  const records = await fixture.store.sql.all(
    `select key, principal_id, detail from events where action like '%/users/consents/write' order by number`,
  )
  assert.deepEqual(
    records.map((row) => [row['key'], row['principal_id']]),
    Array.from({ length: 2 }, () => [`/directory/users/${id}/consents/${published}`, id]),
  )
  assert.match(String(records[0]?.['detail']), /user_impersonation/)
  assert.match(String(records[0]?.['detail']), /127\.0\.0\.1/)
  const elsewhere = await ask(browser, 'http://192.0.2.1:80/')
  assert.equal(elsewhere.status, 400)
})

test('words that are no scopes are neither shown nor kept, also of those that were kept before', async () => {
  await using fixture = await openIdentityFixture()
  const id = await addAlice(fixture)
  await addPublicClient(fixture)
  const { sql } = fixture.store
  const kept = async () =>
    (await sql.all('select scope from identity_consents')).map(({ scope }) => scope)
  const browser = createBrowser(fixture.url)
  const allow = async (words: string): Promise<void> => {
    const page = await ask(browser, 'http://localhost:4711', ` ${words}`)
    const question = page.body.includes('<h1>Sign in</h1>') ? await signIn(browser, page) : page
    assert.match(question.body, /Know who you are/)
    assert.ok(!question.body.includes(words))
    await browser.submit(question, { do: 'allow' })
  }
  await allow('all-is-well')
  assert.deepEqual(await kept(), ['openid user_impersonation'])
  await sql.transact((tx) =>
    tx.run("update identity_consents set scope = 'openid made-up' where principal_id = ?", id),
  )
  await allow('another-word')
  assert.deepEqual(await kept(), ['openid user_impersonation'])
})

test('a client id in capitals is the same one in a form, and none in a header', async () => {
  await using fixture = await openIdentityFixture()
  const application = await addApplication(fixture)
  const clientId = application.clientId.toUpperCase()
  const secret = application.clientSecret
  const wanted = { grant_type: 'client_credentials', scope: 'user_impersonation' }
  const given = await askToken(fixture, { ...wanted, client_id: clientId, client_secret: secret })
  const caller = await fixture.identity.authenticator.authenticate(`Bearer ${given.access_token}`)
  assert.equal(caller.clientId, application.clientId)
  const basic = Buffer.from(`${clientId}:${secret}`).toString('base64')
  const refused = await askToken(fixture, wanted, { authorization: `Basic ${basic}` })
  assert.equal(refused.error, 'invalid_client')
})

test('it has no secret, gets no token of its own, and its client id is nobody else’s', async () => {
  await using fixture = await openIdentityFixture()
  const { directory } = fixture.identity
  const user = await addAlice(fixture)
  await directory.addSecret(user)
  const id = await addPublicClient(fixture)
  const own = await askToken(fixture, { grant_type: 'client_credentials', client_id: published })
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
