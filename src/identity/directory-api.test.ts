/** The directory's routes as the edge calls them, with bodies checked by their schemas. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import { directoryRoutes } from './directory-api.ts'
import { createBrowser } from './testing/browser.ts'
import { type IdentityFixture, openIdentityFixture, testIds } from './testing/fixture.ts'
import { addAlice, authorizeAddress, fragmentOf, signIn } from './testing/flows.ts'

const ajv = new Ajv({ allErrors: true })

type Answer = Record<string, unknown>

/** As the edge does: finds the route, checks the body, runs it. */
async function call(
  fixture: IdentityFixture,
  method: string,
  address: string,
  body?: object,
): Promise<Answer> {
  const url = new URL(address, 'http://x')
  for (const route of directoryRoutes) {
    const names: string[] = []
    const pattern = route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
      names.push(name)
      return '([^/]+)'
    })
    const match = new RegExp(`^${pattern}$`).exec(url.pathname)
    if (route.method !== method || match === null) continue
    if (route.body !== undefined) assert.ok(ajv.validate(route.body, body), ajv.errorsText())
    const params = Object.fromEntries(names.map((name, i) => [name, match[i + 1] ?? '']))
    const query = Object.fromEntries(url.searchParams)
    const answer = await route.run(fixture.identity.directory, {
      params,
      body,
      query,
      ...testIds,
      callerId: String(query['as']),
    })
    assert.equal(answer === undefined, route.status === 204)
    return (answer ?? {}) as Answer
  }
  return assert.fail(`no route for ${method} ${address}`)
}

test('users: made with or without a password, read, renamed, disabled, deleted', async () => {
  await using fixture = await openIdentityFixture()
  const made = await call(fixture, 'POST', '/directory/users', {
    displayName: 'U',
    signInName: 'u',
  })
  assert.equal(made['type'], 'User')
  assert.equal(made['id'], made['principalId'])
  const { directory } = fixture.identity
  assert.ok(await directory.verifyPassword('u', String(made['password'])))
  const one = `/directory/users/${made['id']}`
  assert.equal((await call(fixture, 'GET', one))['signInName'], 'u')
  assert.equal('password' in (await call(fixture, 'GET', one)), false)
  const changed = await call(fixture, 'PATCH', one, {
    displayName: 'V',
    enabled: false,
    type: 'Group',
  })
  assert.deepEqual(
    [changed['displayName'], changed['enabled'], changed['type']],
    ['V', false, 'User'],
  )
  await call(fixture, 'PATCH', one, { enabled: true })
  await call(fixture, 'POST', `${one}/setPassword`, { password: 'brand new one' })
  assert.ok(await directory.verifyPassword('u', 'brand new one'))
  await call(fixture, 'DELETE', one)
  await assert.rejects(call(fixture, 'GET', one), { code: 'PrincipalNotFound' })
  const chosen = { displayName: 'W', signInName: 'w', password: 'my own password' }
  assert.equal('password' in (await call(fixture, 'POST', '/directory/users', chosen)), false)
})

test('groups: members are put, listed, removed', async () => {
  await using fixture = await openIdentityFixture()
  const group = await call(fixture, 'POST', '/directory/groups', { displayName: 'G' })
  const user = await call(fixture, 'POST', '/directory/users', {
    displayName: 'U',
    signInName: 'u',
  })
  const members = `/directory/groups/${group['id']}/members`
  await call(fixture, 'PUT', `${members}/${user['id']}`)
  await call(fixture, 'PUT', `${members}/${user['id']}`)
  const { value } = (await call(fixture, 'GET', members)) as { value?: Answer[] }
  assert.deepEqual(
    value?.map(({ id }) => id),
    [user['id']],
  )
  await call(fixture, 'DELETE', `${members}/${user['id']}`)
  await assert.rejects(call(fixture, 'DELETE', `${members}/${user['id']}`), {
    code: 'MemberNotFound',
  })
})

test('service principals: secrets come and go', async () => {
  await using fixture = await openIdentityFixture()
  const { directory } = fixture.identity
  const made = await call(fixture, 'POST', '/directory/servicePrincipals', {
    displayName: 'S',
    redirectUris: ['https://app.example/'],
  })
  assert.ok(await directory.verifySecret(String(made['id']), String(made['clientSecret'])))
  const one = `/directory/servicePrincipals/${made['id']}`
  const secret = await call(fixture, 'POST', `${one}/secrets`, {
    expiresOn: '2999-01-01T00:00:00Z',
  })
  assert.equal(secret['expiresOn'], '2999-01-01T00:00:00.000Z')
  assert.ok(await directory.verifySecret(String(made['id']), String(secret['clientSecret'])))
  await call(fixture, 'DELETE', `${one}/secrets/${secret['id']}`)
  assert.ok(!(await directory.verifySecret(String(made['id']), String(secret['clientSecret']))))
  await assert.rejects(call(fixture, 'POST', `${one}/secrets`, { expiresOn: 'tomorrow' }), {
    code: 'InvalidRequestContent',
  })
  const moved = await call(fixture, 'PATCH', one, { redirectUris: [] })
  assert.deepEqual(moved['redirectUris'], [])
  const user = await directory.createUser({ displayName: 'U', signInName: 'u' })
  await assert.rejects(
    call(fixture, 'POST', `/directory/servicePrincipals/${user.id}/secrets`, {}),
    {
      code: 'PrincipalNotFound',
    },
  )
})

test('lists page by token, and refuse what they did not hand out', async () => {
  await using fixture = await openIdentityFixture()
  for (const displayName of ['a', 'b', 'c']) {
    await call(fixture, 'POST', '/directory/groups', { displayName })
  }
  const first = await call(fixture, 'GET', '/directory/groups?$top=2')
  assert.equal((first['value'] as unknown[]).length, 2)
  const rest = await call(
    fixture,
    'GET',
    `/directory/groups?$top=2&$skipToken=${first['nextSkipToken']}`,
  )
  assert.equal((rest['value'] as unknown[]).length, 1)
  assert.equal('nextSkipToken' in rest, false)
  await assert.rejects(call(fixture, 'GET', '/directory/groups?$skipToken=x%00'), {
    code: 'InvalidContinuationToken',
  })
  for (const top of ['0', '-1', '1e3', 'x', '']) {
    await assert.rejects(call(fixture, 'GET', `/directory/groups?$top=${top}`), {
      code: 'InvalidQueryParameter',
    })
  }
})

test('every route names an action of its collection, and writing ones are not reads', () => {
  for (const { method, path, action, body } of directoryRoutes) {
    const collection = path.split('/')[2]
    // Without an action it must concern only the caller.
    assert.equal(action === undefined, collection === 'me', path)
    if (action !== undefined) {
      assert.ok(action.startsWith(`Directory/${collection}/`), `${method} ${path}`)
      assert.equal(action.endsWith('/read'), method === 'GET')
    }
    const hasBody = (method === 'POST' && !path.endsWith('/revoke')) || method === 'PATCH'
    assert.equal(body !== undefined, hasBody, `${method} ${path}`)
  }
})

test('sessions: one’s own and others’ are listed and ended; nobody reaches those of another by me', async () => {
  await using fixture = await openIdentityFixture({
    originOf: () => ({ address: '192.0.2.9', userAgent: 'a browser' }),
  })
  const id = await addAlice(fixture)
  const other = await call(fixture, 'POST', '/directory/users', {
    displayName: 'U',
    signInName: 'u',
  })
  const signInAsAlice = async (): Promise<string> => {
    const browser = createBrowser(fixture.url)
    const page = await browser.open(
      authorizeAddress({
        response_type: 'token',
        client_id: 'armature-portal',
        redirect_uri: `${fixture.url}/signed-in`,
      }),
    )
    return fragmentOf(await signIn(browser, page)).get('access_token') ?? ''
  }
  const tokens = [await signInAsAlice(), await signInAsAlice()]
  const mine = await call(fixture, 'GET', `/directory/me/sessions?as=${id}`)
  assert.deepEqual(mine, await call(fixture, 'GET', `/directory/users/${id}/sessions`))
  const [first, second] = mine['value'] as { id: string; address: string; userAgent: string }[]
  assert.deepEqual([first?.address, first?.userAgent], ['192.0.2.9', 'a browser'])
  assert.equal(first !== undefined && 'clientId' in first, false)
  const foreign = `/directory/me/sessions/${first?.id}?as=${String(other['id'])}`
  await assert.rejects(call(fixture, 'DELETE', foreign), { code: 'SessionNotFound' })
  await call(fixture, 'DELETE', `/directory/me/sessions/${first?.id}?as=${id}`)
  await call(fixture, 'DELETE', `/directory/users/${id}/sessions/${second?.id}`)
  for (const token of tokens) {
    await assert.rejects(async () => fixture.identity.authenticator.authenticate(`Bearer ${token}`))
  }
  assert.deepEqual(await call(fixture, 'GET', `/directory/me/sessions?as=${id}`), { value: [] })
  await call(fixture, 'POST', `/directory/users/${id}/revoke`)
  await call(fixture, 'POST', `/directory/me/revoke?as=${id}`)
  const wrongKind = `/directory/servicePrincipals/${id}/revoke`
  await assert.rejects(call(fixture, 'POST', wrongKind), { code: 'PrincipalNotFound' })
})
