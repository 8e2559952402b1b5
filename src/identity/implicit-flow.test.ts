/** The contract's own flow, as an application and a browser see it, over a real listener. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBrowser } from './testing/browser.ts'
import { type IdentityFixture, openIdentityFixture, testTenant } from './testing/fixture.ts'
import {
  addAlice,
  addApplication,
  alice,
  authorizeAddress,
  claimsOf,
  fragmentOf,
  signIn,
} from './testing/flows.ts'

const callback = 'https://app.example/callback'

function bare(
  fixture: IdentityFixture,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return {
    response_type: 'token',
    client_id: 'armature-portal',
    redirect_uri: `${fixture.url}/signed-in`,
    scope: 'user_impersonation',
    ...more,
  }
}

test('the bare form gives a person an access token in the fragment, and nothing else', async () => {
  await using fixture = await openIdentityFixture()
  const id = await addAlice(fixture)
  const browser = createBrowser(fixture.url)
  const page = await browser.open(authorizeAddress(bare(fixture, { state: 'a b&c' })))
  const end = await signIn(browser, page)
  assert.equal(end.url.pathname, '/signed-in')
  const given = fragmentOf(end)
  assert.equal(given.get('state'), 'a b&c')
  assert.equal(given.get('token_type'), 'Bearer')
  assert.equal(given.get('expires_in'), '3600')
  assert.equal(given.get('scope'), 'user_impersonation')
  assert.equal(given.has('id_token'), false)
  assert.equal(given.has('code'), false)
  const token = given.get('access_token') ?? ''
  const claims = claimsOf(token)
  assert.equal(claims['oid'], id)
  assert.equal(claims['tid'], testTenant)
  assert.equal(claims['aud'], fixture.url)
  assert.equal(claims['iss'], fixture.url)
  assert.equal(claims['scope'], 'user_impersonation')
  assert.equal(claims['upn'], 'alice')
  assert.equal(claims['name'], 'Alice <A>')
  assert.deepEqual(await fixture.identity.authenticator.authenticate(`Bearer ${token}`), {
    id,
    type: 'User',
    tenantId: testTenant,
    displayName: 'alice',
    clientId: 'armature-portal',
    groups: [],
    generation: (await fixture.identity.directory.record(id))?.generation,
  })
})

test('a resource in any known spelling is the audience; another is refused', async () => {
  await using fixture = await openIdentityFixture()
  await addAlice(fixture)
  const browser = createBrowser(fixture.url)
  await signIn(browser, await browser.open(authorizeAddress(bare(fixture))))
  for (const more of [
    { resource: `${fixture.url}/` },
    { resource: fixture.url },
    { scope: `${fixture.url}/.default` },
    { scope: `${fixture.url}//user_impersonation` },
  ]) {
    const end = await browser.open(authorizeAddress(bare(fixture, more)))
    const token = fragmentOf(end).get('access_token')
    assert.ok(token, JSON.stringify(more))
    assert.equal(claimsOf(token)['aud'], fixture.url)
  }
  const refused = await browser.open(
    authorizeAddress(bare(fixture, { resource: 'https://other/' })),
  )
  assert.equal(fragmentOf(refused).get('error'), 'invalid_target')
  assert.equal(fragmentOf(refused).has('access_token'), false)
})

test('the standard form gives an id token as well, with the nonce', async () => {
  await using fixture = await openIdentityFixture()
  const id = await addAlice(fixture)
  const browser = createBrowser(fixture.url)
  const page = await browser.open(
    authorizeAddress(
      bare(fixture, {
        response_type: 'id_token token',
        scope: 'openid profile user_impersonation',
        nonce: 'n-1',
      }),
    ),
  )
  const given = fragmentOf(await signIn(browser, page))
  const claims = claimsOf(given.get('id_token') ?? '')
  assert.equal(claims['nonce'], 'n-1')
  assert.equal(claims['oid'], id)
  assert.equal(claims['upn'], 'alice')
  assert.ok(given.get('access_token'))
  // An id token is no access token, whoever signed it.
  const header = `Bearer ${given.get('id_token')}`
  await assert.rejects(async () => fixture.identity.authenticator.authenticate(header), {
    code: 'InvalidAuthenticationToken',
  })
})

test('the second sign-in asks nothing; prompt=none without a session is an error for the application', async () => {
  await using fixture = await openIdentityFixture()
  await addAlice(fixture)
  const browser = createBrowser(fixture.url)
  const stranger = await browser.open(
    authorizeAddress(bare(fixture, { prompt: 'none', state: 's' })),
  )
  assert.equal(fragmentOf(stranger).get('error'), 'login_required')
  assert.equal(fragmentOf(stranger).get('state'), 's')
  await signIn(browser, await browser.open(authorizeAddress(bare(fixture))))
  const silent = await browser.open(authorizeAddress(bare(fixture, { prompt: 'none' })))
  assert.ok(fragmentOf(silent).get('access_token'))
})

test('wrong password and unknown name get the same answer, and the page can be used again', async () => {
  await using fixture = await openIdentityFixture()
  await addAlice(fixture)
  const browser = createBrowser(fixture.url)
  const page = await browser.open(authorizeAddress(bare(fixture, { login_hint: 'alice' })))
  assert.match(page.body, /value="alice"/)
  const wrong = await signIn(browser, page, { signInName: 'alice', password: 'no' })
  const unknown = await signIn(browser, page, { signInName: '"><script>', password: 'no' })
  assert.equal(wrong.status, 400)
  assert.equal(unknown.status, 400)
  const alert = (body: string): string => /role="alert"[^>]*>([^<]*)</.exec(body)?.[1] ?? ''
  assert.equal(alert(wrong.body), alert(unknown.body))
  assert.notEqual(alert(wrong.body), '')
  assert.ok(!unknown.body.includes('"><script>'))
  assert.ok(!wrong.body.includes('value="no"'))
  const end = await signIn(browser, wrong, alice)
  assert.ok(fragmentOf(end).get('access_token'))
})

test('cancelling the sign-in tells the application', async () => {
  await using fixture = await openIdentityFixture()
  const browser = createBrowser(fixture.url)
  const page = await browser.open(authorizeAddress(bare(fixture, { state: 'q' })))
  const end = await browser.submit(page, { do: 'cancel' })
  assert.equal(fragmentOf(end).get('error'), 'access_denied')
  assert.equal(fragmentOf(end).get('state'), 'q')
})

test('an application that is not ours needs consent; denial reaches it; consent is remembered', async () => {
  await using fixture = await openIdentityFixture()
  await addAlice(fixture)
  const { clientId } = await addApplication(fixture, [callback])
  const address = authorizeAddress(bare(fixture, { client_id: clientId, redirect_uri: callback }))

  const browser = createBrowser(fixture.url)
  const consent = await signIn(browser, await browser.open(address))
  assert.match(consent.body, /Allow Sample application\?/)
  assert.match(consent.body, /Manage resources here as you/)
  assert.match(consent.body, /app\.example/)
  const denied = await browser.submit(consent, { do: 'cancel' })
  assert.equal(denied.url.origin, 'https://app.example')
  assert.equal(fragmentOf(denied).get('error'), 'access_denied')

  const again = await browser.open(address)
  assert.match(again.body, /Allow Sample application\?/)
  const allowed = await browser.submit(again, { do: 'allow' })
  assert.ok(fragmentOf(allowed).get('access_token'))

  const elsewhere = createBrowser(fixture.url)
  const remembered = await signIn(elsewhere, await elsewhere.open(address))
  assert.equal(remembered.url.origin, 'https://app.example', 'another browser, the same person')
  assert.ok(fragmentOf(remembered).get('access_token'))
  const asked = await elsewhere.open(`${address}&prompt=consent`)
  assert.match(asked.body, /Manage resources here as you/, 'asked again, in full')
})

test('nobody is sent to an address that was not registered exactly', async () => {
  await using fixture = await openIdentityFixture()
  await addAlice(fixture)
  const { clientId } = await addApplication(fixture, [callback, 'http://localhost:3000/cb'])
  const browser = createBrowser(fixture.url)
  for (const address of [
    'https://evil.example/',
    `${callback}/`,
    `${callback}?x=1`,
    'https://app.example',
    'https://app.example.evil.example/callback',
    'https://app.example@evil.example/callback',
    'http://localhost:4000/cb',
    'javascript:alert(1)',
  ]) {
    for (const prompt of ['', 'none']) {
      const page = await browser.open(
        authorizeAddress(
          bare(fixture, {
            client_id: clientId,
            redirect_uri: address,
            ...(prompt === '' ? {} : { prompt }),
          }),
        ),
      )
      assert.equal(page.status, 400, address)
      assert.equal(page.headers.get('location'), null)
      assert.match(page.body, /invalid_redirect_uri/)
    }
  }
})

test('the pages forbid frames, foreign resources and sniffing, and carry no inline script', async () => {
  await using fixture = await openIdentityFixture()
  const browser = createBrowser(fixture.url)
  const page = await browser.open(authorizeAddress(bare(fixture)))
  const policy = page.headers.get('content-security-policy') ?? ''
  assert.match(policy, /default-src 'none'/)
  assert.match(policy, /frame-ancestors 'none'/)
  assert.ok(!policy.includes('unsafe'))
  assert.equal(page.headers.get('x-frame-options'), 'DENY')
  assert.equal(page.headers.get('x-content-type-options'), 'nosniff')
  assert.equal(page.headers.get('cache-control'), 'no-store')
  assert.ok(!page.body.includes('<script'))
  assert.ok(!/(?:src|href)="(?:https?:)?\/\//.test(page.body))
  const end = await browser.open('/signed-in')
  const nonce = /script-src 'nonce-([^']+)'/.exec(end.headers.get('content-security-policy') ?? '')
  assert.ok(nonce?.[1] !== undefined && end.body.includes(`<script nonce="${nonce[1]}">`))
  const [, signOut = ''] = /href="([^"]+)">Sign out</.exec(end.body) ?? []
  assert.match((await browser.open(signOut)).body, /oauth2\/logout\/confirm/)
})

test('a form is good only with its token, its cookie and at its own step', async () => {
  await using fixture = await openIdentityFixture()
  await addAlice(fixture)
  const browser = createBrowser(fixture.url)
  const page = await browser.open(authorizeAddress(bare(fixture)))
  const fields = { name: alice.signInName, password: alice.password, do: 'sign-in' }
  const forged = await browser.submit(page, { ...fields, form: 'x' })
  assert.equal(forged.status, 400)
  const other = createBrowser(fixture.url)
  const stolen = await other.submit(page, fields)
  assert.equal(stolen.status, 400)
  assert.match(stolen.body, /another browser/)
  const own = await other.open(authorizeAddress(bare(fixture)))
  const crossed = await other.submit({ ...own, fields: page.fields }, fields)
  assert.equal(crossed.status, 400)
})

test('signing out ends the session', async () => {
  await using fixture = await openIdentityFixture()
  await addAlice(fixture)
  const browser = createBrowser(fixture.url)
  await signIn(browser, await browser.open(authorizeAddress(bare(fixture))))
  const question = await browser.open('/common/oauth2/logout')
  assert.match(question.body, /Sign out\?/)
  const done = await browser.submit(question, { logout: 'yes' })
  assert.match(done.body, /You are signed out/)
  const after = await browser.open(authorizeAddress(bare(fixture, { prompt: 'none' })))
  assert.equal(fragmentOf(after).get('error'), 'login_required')
})

test('a disabled account cannot go on with its session, nor after a password change', async () => {
  await using fixture = await openIdentityFixture()
  const id = await addAlice(fixture)
  const browser = createBrowser(fixture.url)
  const silent = authorizeAddress(bare(fixture, { prompt: 'none' }))
  await signIn(browser, await browser.open(authorizeAddress(bare(fixture))))
  await fixture.identity.directory.setPassword(id, 'another password')
  assert.equal(fragmentOf(await browser.open(silent)).get('error'), 'login_required')
  const renewed = { signInName: 'alice', password: 'another password' }
  await signIn(browser, await browser.open(authorizeAddress(bare(fixture))), renewed)
  assert.ok(fragmentOf(await browser.open(silent)).get('access_token'))
  await fixture.identity.directory.update(id, { enabled: false })
  assert.equal(fragmentOf(await browser.open(silent)).get('error'), 'login_required')
  const refused = await signIn(
    browser,
    await browser.open(authorizeAddress(bare(fixture))),
    renewed,
  )
  assert.equal(refused.status, 400)
})
