/** The family's directory API, as command lines use it to turn names into object ids and back. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import { directoryRoutes } from './directory-api.ts'
import { graphRoutes } from './graph-api.ts'
import { type IdentityFixture, openIdentityFixture, testIds } from './testing/fixture.ts'

const routes = graphRoutes('Vendor')
const ajv = new Ajv({ allErrors: true })

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely here, and only here.
type Answer = any

/** As the edge does: finds the route, and checks the body. */
async function ask(
  fixture: IdentityFixture,
  address: string,
  {
    body,
    callerId = '',
    method = body === undefined ? 'GET' : 'POST',
  }: { readonly body?: object; readonly callerId?: string; readonly method?: string } = {},
): Promise<Answer> {
  const url = new URL(address, 'http://x')
  for (const route of routes) {
    const pattern = route.path.replaceAll('$', '\\$').replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')
    const match = new RegExp(`^${pattern}$`).exec(url.pathname)
    if (match === null || route.method !== method) continue
    if (route.body !== undefined) assert.ok(ajv.validate(route.body, body), ajv.errorsText())
    const params = Object.fromEntries(
      Object.entries(match.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)]),
    )
    const query = Object.fromEntries(url.searchParams)
    const request = { params, body, query, ...testIds, callerId }
    return route.run(fixture.identity.directory, request)
  }
  return assert.fail(`no route for ${address}`)
}

const filtered = (plural: string, filter: string): string =>
  `/v1.0/${plural}?$count=true&$select=id&$filter=${encodeURIComponent(filter)}`

async function people(fixture: IdentityFixture) {
  const { directory } = fixture.identity
  const user = await directory.createUser({
    displayName: 'Ada Example',
    signInName: 'ada@example.test',
    password: 'correct horse battery',
  })
  const group = await directory.createGroup({ displayName: 'Admins' })
  const { principal: app } = await directory.createServicePrincipal({ displayName: 'pipeline' })
  await directory.addMember(group.id, user.id)
  return { user, group, app }
}

test('an application is made, gets a password, and signs in as its service principal', async () => {
  await using fixture = await openIdentityFixture()
  const { directory } = fixture.identity
  const made = await ask(fixture, '/v1.0/applications', { body: { displayName: 'pipeline' } })
  assert.deepEqual(made.passwordCredentials, [], 'no secret that nobody knows')
  const at = `/v1.0/applications/${made.id}`
  const passwordCredential = { displayName: 'rbac', endDateTime: '2099-01-01T00:00:00Z' }
  const added = await ask(fixture, `${at}/addPassword`, { body: { passwordCredential } })
  assert.equal(added.endDateTime, '2099-01-01T00:00:00.000Z')
  const service = await ask(fixture, '/v1.0/servicePrincipals', { body: { appId: made.appId } })
  assert.deepEqual([service.id, service.appId], [made.id, made.appId])
  assert.ok((await directory.verifySecret(made.id, added.secretText)) !== undefined)
  const shown = await ask(fixture, at)
  assert.deepEqual(shown.passwordCredentials[0].keyId, added.keyId)
  assert.equal('secretText' in shown.passwordCredentials[0], false)
  await ask(fixture, `${at}/removePassword`, { body: { keyId: added.keyId } })
  assert.equal(await directory.verifySecret(made.id, added.secretText), undefined)
  const other = { displayName: 'changed', web: { redirectUris: ['https://app.example/back'] } }
  await ask(fixture, at, { method: 'PATCH', body: other })
  assert.equal((await ask(fixture, at)).web.redirectUris[0], 'https://app.example/back')
  await assert.rejects(ask(fixture, '/v1.0/servicePrincipals', { body: { appId: "none'" } }), {
    code: 'InvalidRequestContent',
  })
  await ask(fixture, at, { method: 'DELETE' })
  assert.equal(await directory.find(made.id), undefined)
})

test('a service principal that is made disabled gets no token, and making it again does not enable it', async () => {
  await using fixture = await openIdentityFixture()
  const { directory } = fixture.identity
  const made = await ask(fixture, '/v1.0/applications', { body: { displayName: 'pipeline' } })
  const path = '/v1.0/servicePrincipals'
  const enabled = { appId: made.appId, accountEnabled: true }
  assert.equal((await ask(fixture, path, { body: enabled })).accountEnabled, true)
  const disabled = { appId: made.appId, accountEnabled: false }
  assert.equal((await ask(fixture, path, { body: disabled })).accountEnabled, false)
  assert.equal(await directory.clientPrincipal(made.appId), undefined)
  assert.equal((await ask(fixture, path, { body: { appId: made.appId } })).accountEnabled, false)
  await assert.rejects(ask(fixture, path, { body: enabled }), {
    code: 'InvalidRequestContent',
    message: /is there and disabled/,
  })
})

test('a later word on whether an application is a public client is refused where it is the other', async () => {
  await using fixture = await openIdentityFixture()
  for (const isPublic of [true, false]) {
    const made = await ask(fixture, '/v1.0/applications', {
      body: { displayName: 'app', isFallbackPublicClient: isPublic },
    })
    const change = (isFallbackPublicClient: boolean | null): Promise<Answer> =>
      ask(fixture, `/v1.0/applications/${made.id}`, {
        method: 'PATCH',
        body: { displayName: 'renamed', isFallbackPublicClient },
      })
    await change(isPublic)
    await change(null)
    await assert.rejects(change(!isPublic), {
      code: 'InvalidRequestContent',
      message: /is said when it is made/,
    })
  }
})

test('people and groups are made, changed, joined and deleted', async () => {
  await using fixture = await openIdentityFixture()
  const { directory } = fixture.identity
  const password = 'correct horse battery'
  const user = await ask(fixture, '/v1.0/users', {
    body: {
      accountEnabled: true,
      displayName: 'Grace',
      mailNickname: 'grace',
      userPrincipalName: 'grace@example.test',
      passwordProfile: { password, forceChangePasswordNextSignIn: false },
    },
  })
  assert.equal(user.userPrincipalName, 'grace@example.test')
  assert.ok((await directory.verifyPassword('grace@example.test', password)) !== undefined)
  const group = await ask(fixture, '/v1.0/groups', {
    body: { displayName: 'Team', mailNickname: 'team', mailEnabled: false, securityEnabled: true },
  })
  const again = filtered('groups', "displayName eq 'Team' and mailNickname eq 'team'")
  assert.equal((await ask(fixture, again)).value[0].id, group.id)
  const members = `/v1.0/groups/${group.id}/members`
  const idsOfMembers = async (): Promise<readonly string[]> =>
    (await ask(fixture, members)).value.map(({ id }: { readonly id: string }) => id)
  const reference = { '@odata.id': `https://directory.example/v1.0/directoryObjects/${user.id}` }
  await ask(fixture, `${members}/$ref`, { body: reference })
  assert.deepEqual(await idsOfMembers(), [user.id])
  await ask(fixture, `${members}/${user.id}/$ref`, { method: 'DELETE' })
  assert.deepEqual(await idsOfMembers(), [])

  const change = { accountEnabled: false, displayName: 'Grace H.' }
  await ask(fixture, '/v1.0/users/grace@example.test', { method: 'PATCH', body: change })
  const changed = await ask(fixture, `/v1.0/users/${user.id}`)
  assert.deepEqual([changed.displayName, changed.accountEnabled], ['Grace H.', false])
  await ask(fixture, `/v1.0/groups/${group.id}`, {
    method: 'PATCH',
    body: { displayName: 'Crew' },
  })
  assert.equal((await ask(fixture, `/v1.0/groups/${group.id}`)).displayName, 'Crew')
  await ask(fixture, '/v1.0/users/grace@example.test', { method: 'DELETE' })
  await ask(fixture, `/v1.0/groups/${group.id}`, { method: 'DELETE' })
  assert.deepEqual(await directory.records([user.id, group.id]), [])
})

test('whatever reads many principals is answered a few times at once for a caller', () => {
  const ofOne = /\{\w+\}$|\/(owners|secrets|sessions|federatedIdentityCredentials)$/
  const many = [...directoryRoutes, ...routes].filter(
    ({ method, path, action }) => method === 'GET' && action !== undefined && !ofOne.test(path),
  )
  assert.ok(many.length >= 10, `${many.length}`)
  for (const { path, readsMany } of many) assert.equal(readsMany, true, path)
})

test('a service principal is found by its client id without a look at the others', async () => {
  await using fixture = await openIdentityFixture()
  const { app } = await people(fixture)
  const { directory } = fixture.identity
  assert.equal((await directory.byClientId(String(app.clientId).toUpperCase()))?.id, app.id)
  assert.equal(await directory.byClientId('nobody'), undefined)
})

test('what people and groups cannot have here is refused, and so is a change of a password without its right', () => {
  const isTaken = (route: string, body: object): boolean => {
    const found = routes.find(({ method, path }) => `${method} ${path}` === route)
    assert.ok(found?.body !== undefined, route)
    return ajv.validate(found.body, body)
  }
  const passwordProfile = { password: 'correct horse battery' }
  const user = { displayName: 'a', userPrincipalName: 'a@x.test', passwordProfile }
  assert.ok(isTaken('POST /v1.0/users', user))
  const mustChange = { ...passwordProfile, forceChangePasswordNextSignIn: true }
  assert.ok(!isTaken('POST /v1.0/users', { ...user, passwordProfile: mustChange }))
  assert.ok(!isTaken('POST /v1.0/users', { ...user, accountEnabled: false }))
  assert.ok(!isTaken('PATCH /v1.0/users/{id}', { passwordProfile }))
  const group = { displayName: 'a', mailNickname: 'a' }
  assert.ok(isTaken('POST /v1.0/groups', group))
  for (const more of [{ description: 'x' }, { mailEnabled: true }, { groupTypes: ['Unified'] }]) {
    assert.ok(!isTaken('POST /v1.0/groups', { ...group, ...more }), JSON.stringify(more))
  }
  assert.ok(!isTaken('POST /v1.0/groups/{id}/members/$ref', { '@odata.id': 'x' }))
})

test('what an application cannot have here is refused', () => {
  const body = routes.find(
    ({ method, path }) => `${method} ${path}` === 'POST /v1.0/applications',
  )?.body
  assert.ok(body !== undefined)
  const takes = (given: object): boolean => ajv.validate(body, { displayName: 'a', ...given })
  assert.ok(takes({ keyCredentials: [], signInAudience: 'AzureADMyOrg' }))
  for (const given of [{ keyCredentials: [{}] }, { identifierUris: ['api://a'] }, { oauth: 1 }]) {
    assert.equal(takes(given), false, JSON.stringify(given))
  }
})

test('names lead to ids: users by name, applications by their client id', async () => {
  await using fixture = await openIdentityFixture()
  const { user, group, app } = await people(fixture)
  const idsOf = async (plural: string, filter: string): Promise<unknown> =>
    (await ask(fixture, filtered(plural, filter))).value.map(({ id }: Answer) => id)
  assert.deepEqual(await idsOf('users', "userPrincipalName eq 'ADA@example.test'"), [user.id])
  assert.deepEqual(await idsOf('users', "startswith(displayName,'Ada')"), [user.id])
  assert.deepEqual(await idsOf('users', "userPrincipalName eq 'none'"), [])
  assert.deepEqual(await idsOf('groups', "displayName eq 'Admins'"), [group.id])
  const byName = `servicePrincipalNames/any(c:c eq '${app.clientId}')`
  assert.deepEqual(await idsOf('servicePrincipals', byName), [app.id])
  assert.deepEqual(await idsOf('applications', `appId eq '${app.clientId}'`), [app.id])
  assert.equal((await ask(fixture, '/v1.0/users/ada@example.test')).id, user.id)
  await assert.rejects(ask(fixture, filtered('users', 'shoeSize eq 42')), { status: 400 })
  await assert.rejects(ask(fixture, `/v1.0/users/${group.id}`), { status: 404 })
  await assert.rejects(ask(fixture, '/v1.0/users?$top=0'), { status: 400 })
})

test('ids lead to names, many at once; unknown ones are left out', async () => {
  await using fixture = await openIdentityFixture()
  const { user, group, app } = await people(fixture)
  const ids = [app.id, '99999999-2222-4333-8444-555555555555', user.id, group.id, 'no id']
  const all = await ask(fixture, '/v1.0/directoryObjects/getByIds', { body: { ids } })
  assert.deepEqual(
    all.value.map((one: Answer) => [one['@odata.type'], one.id]),
    [
      ['#vendor.graph.servicePrincipal', app.id],
      ['#vendor.graph.user', user.id],
      ['#vendor.graph.group', group.id],
    ],
  )
  const types = ['user', 'group']
  const some = await ask(fixture, '/v1.0/directoryObjects/getByIds', { body: { ids, types } })
  assert.equal(some.value.length, 2)
  assert.equal((await ask(fixture, '/v1.0/me', { callerId: user.id })).displayName, 'Ada Example')
  const members = await ask(fixture, `/v1.0/groups/${group.id}/members`)
  assert.deepEqual(
    members.value.map(({ id }: Answer) => id),
    [user.id],
  )
  assert.ok(!JSON.stringify([all, members]).includes('correct horse'))
})

test('a thousand ids are a few statements, also of those that nobody has', async () => {
  await using fixture = await openIdentityFixture()
  const { user, group } = await people(fixture)
  const { sql } = fixture.store
  const { all } = sql
  let statements = 0
  sql.all = (...statement) => {
    statements++
    return all(...statement)
  }
  const ids = Array.from({ length: 998 }, () => randomUUID())
  const body = { ids: [user.id, ...ids, group.id] }
  const found = await ask(fixture, '/v1.0/directoryObjects/getByIds', { body })
  assert.deepEqual(
    found.value.map(({ id }: Answer) => id),
    [user.id, group.id],
  )
  assert.ok(statements <= 20, `${statements}`)
})

test('the groups that somebody is in, by id and by name, are answered in every form', async () => {
  await using fixture = await openIdentityFixture()
  const { user, group, app } = await people(fixture)
  const above = await fixture.identity.directory.createGroup({ displayName: 'All' })
  await fixture.identity.directory.addMember(above.id, group.id)
  const both = [above.id, group.id].toSorted()
  for (const at of ['users/ada@example.test', `directoryObjects/${user.id}`]) {
    const options = { body: { securityEnabledOnly: false } }
    const all = await ask(fixture, `/v1.0/${at}/getMemberGroups`, options)
    assert.deepEqual(all.value.toSorted(), both)
  }
  const own = await ask(fixture, '/v1.0/me/transitiveMemberOf', { callerId: user.id })
  assert.equal(own.value.length, 2)
  const groupIds = [above.id, app.id]
  const check = `/v1.0/directoryObjects/${user.id}/checkMemberGroups`
  assert.deepEqual((await ask(fixture, check, { body: { groupIds } })).value, [above.id])
  const shown = await ask(fixture, `/v1.0/groups/${group.id}/transitiveMemberOf`)
  assert.deepEqual(
    shown.value.map(({ displayName }: Answer) => displayName),
    ['All'],
  )
  assert.deepEqual((await ask(fixture, `/v1.0/applications/${app.id}/owners`)).value, [])
  await assert.rejects(ask(fixture, `/v1.0/groups/${user.id}/owners`), { status: 404 })
  const byUri = filtered('applications', "identifierUris/any(s:s eq 'api://x')")
  assert.deepEqual((await ask(fixture, byUri)).value, [])
})

test('a federated credential takes no id from its body, and removes none of another principal', async () => {
  await using fixture = await openIdentityFixture()
  const { directory } = fixture.identity
  const { app: victim } = await people(fixture)
  const { principal: app } = await directory.createServicePrincipal({ displayName: 'mine' })
  const { id: stolen } = await directory.addSecret(victim.id)
  const collection = `/v1.0/applications/${app.id}/federatedIdentityCredentials`
  const trust = { issuer: 'https://issuer.test', subject: 'one', audiences: ['a'] }
  const more = { id: stolen, kind: 'secret', note: 'x' }
  const made = await ask(fixture, collection, { body: { name: 'fed', ...trust, ...more } })
  const expected = { id: made.id, name: 'fed', ...trust, description: '' }
  assert.deepEqual(made, expected)
  assert.notEqual(made.id, stolen)
  const one = `${collection}/fed`
  await ask(fixture, one, { method: 'PATCH', body: { description: 'changed', ...more } })
  const changed = { ...expected, description: 'changed' }
  assert.deepEqual(await ask(fixture, one), changed)
  // A row from the time when the whole body was kept.
  await fixture.store.sql.transact((tx) =>
    tx.run(
      'update identity_credentials set hash = ? where id = ?',
      JSON.stringify({ ...trust, description: 'changed', name: 'other', ...more }),
      made.id,
    ),
  )
  assert.deepEqual((await ask(fixture, collection)).value, [changed])
  await ask(fixture, one, { method: 'DELETE' })
  assert.deepEqual((await ask(fixture, collection)).value, [])
  await assert.rejects(ask(fixture, one, { method: 'DELETE' }), { status: 404 })
  const lost = directory.changeFederated(app.id, stolen, trust)
  await assert.rejects(lost, { status: 404 })
  const kept = await directory.secrets(victim.id)
  assert.ok(kept.some(({ id }) => id === stolen))
})

test('changes of a federated credential at the same moment are all kept', async () => {
  await using fixture = await openIdentityFixture()
  const { app } = await people(fixture)
  const collection = `/v1.0/applications/${app.id}/federatedIdentityCredentials`
  const trust = { issuer: 'https://issuer.test', subject: 'one', audiences: ['a'] }
  await ask(fixture, collection, { body: { name: 'fed', ...trust } })
  const one = `${collection}/fed`
  const changes = { subject: 'two', description: 'd', audiences: ['b'] }
  await Promise.all(
    Object.entries(changes).map(([name, value]) =>
      ask(fixture, one, { method: 'PATCH', body: { [name]: value } }),
    ),
  )
  const { id: _id, name: _name, ...kept } = await ask(fixture, one)
  assert.deepEqual(kept, { issuer: trust.issuer, ...changes })
})

test('oneself needs no right; every other question asks for one', () => {
  for (const { method, path, action } of routes) {
    assert.equal(action === undefined, /^\/v1\.0\/me(?:\/|$)/.test(path), path)
    const isRead =
      method === 'GET' || /\/(?:getByIds|getMemberGroups|checkMemberGroups)$/.test(path)
    const form = isRead ? /^Directory\/\w+\/read$/ : /^Directory\/\w+(?:\/\w+)?\/(?:write|delete)$/
    if (action !== undefined) assert.match(action, form)
  }
})
