/** Effects of role assignments: lists with filters and pages, and decisions. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import {
  type AssignmentCalls,
  addMember,
  assertRefused,
  assignmentCalls,
  assignmentPath,
  bodyOf,
  conditionText,
  createApplication,
  createGroup,
  createUser,
  grant,
  roles,
} from './access.ts'
import { type Answer, type Installation, startInstallation } from './installation.ts'

const version = 'api-version=2022-04-01'

let installation: Installation
let put: AssignmentCalls['put']
let get: AssignmentCalls['get']
let created: AssignmentCalls['created']
let subscription: string
let group: string

before(async () => {
  installation = await startInstallation()
  ;({ put, get, created } = assignmentCalls(installation))
  subscription = `/subscriptions/${installation.subscriptionId}`
  group = `${subscription}/resourceGroups/effects`
})

after(() => installation[Symbol.asyncDispose]())

describe('lists', () => {
  let sub: string
  let user: string
  let inner: string
  let outer: string
  const made = new Map<string, string>()

  before(async () => {
    sub = `/subscriptions/${randomUUID()}`
    user = await createUser(installation, `listed-${randomUUID()}`)
    inner = await createGroup(installation, 'inner')
    outer = await createGroup(installation, 'outer')
    await addMember(installation, inner, user)
    await addMember(installation, outer, inner)
    const places = listPlaces(sub)
    for (const [place, scope] of Object.entries(places)) {
      for (const [name, principal] of [
        ['user', user],
        ['inner', inner],
        ['outer', outer],
      ] as const) {
        made.set(await grant(installation, scope, roles.reader, principal), `${name} ${place}`)
      }
    }
  })

  const listPlaces = (s: string) => ({
    root: '',
    sub: s,
    group: `${s}/resourceGroups/g`,
    resource: `${s}/resourceGroups/g/providers/Vendor.X/things/t`,
    nested: `${s}/resourceGroups/g/providers/Vendor.X/things/t/parts/p`,
    beside: `${s}/resourceGroups/g-2`,
  })
  type Place = keyof ReturnType<typeof listPlaces>

  /** Our assignments in a list, over all its pages. */
  async function listed(place: Place, filter?: string, top?: number): Promise<string[]> {
    const query = new URLSearchParams({ 'api-version': '2022-04-01' })
    if (filter !== undefined) query.set('$filter', filter)
    if (top !== undefined) query.set('$top', String(top))
    let next: string | undefined =
      `${listPlaces(sub)[place]}/providers/Vendor.Authorization/roleAssignments?${query}`
    const seen: string[] = []
    while (next !== undefined) {
      const page: Answer = await get(next)
      assert.equal(page.status, 200, page.text)
      const items = page.items()
      if (top !== undefined) assert.ok(items.length <= top)
      seen.push(...items.map((item) => String(item['id'])))
      const link = page.at('nextLink')
      assert.ok(link === undefined || (typeof link === 'string' && link !== ''))
      if (typeof link === 'string') assert.ok(link.startsWith(`${installation.url}/`), link)
      next = link as string | undefined // just asserted
    }
    assert.equal(new Set(seen).size, seen.length, 'nothing comes twice')
    return seen.flatMap((id) => made.get(id) ?? [])
  }

  const expectations: [place: Place, filter: string, expected: readonly string[]][] = []
  const all: readonly Place[] = ['root', 'sub', 'group', 'resource', 'nested', 'beside']
  const under: Readonly<Record<Place, readonly Place[]>> = {
    root: all,
    sub: all,
    group: ['root', 'sub', 'group', 'resource', 'nested'],
    resource: ['root', 'sub', 'group', 'resource', 'nested'],
    nested: ['root', 'sub', 'group', 'resource', 'nested'],
    beside: ['root', 'sub', 'beside'],
  }
  const above: Readonly<Record<Place, readonly Place[]>> = {
    root: ['root'],
    sub: ['root', 'sub'],
    group: ['root', 'sub', 'group'],
    resource: ['root', 'sub', 'group', 'resource'],
    nested: ['root', 'sub', 'group', 'resource', 'nested'],
    beside: ['root', 'sub', 'beside'],
  }
  const both = (names: readonly string[], places: readonly Place[]): string[] =>
    names.flatMap((name) => places.map((place) => `${name} ${place}`))
  for (const place of all) {
    const everyone = ['user', 'inner', 'outer']
    expectations.push(
      [place, '', both(everyone, under[place])],
      [place, 'atScope()', both(everyone, above[place])],
      [place, "principalId eq 'USER'", both(['user'], under[place])],
      [place, "principalId eq 'INNER'", both(['inner'], under[place])],
      [place, "assignedTo('USER')", both(everyone, under[place])],
      [place, "atScope() and assignedTo('USER')", both(everyone, above[place])],
      [place, "assignedTo('USER') and atScope()", both(everyone, above[place])],
      [place, "atScope() and principalId eq 'USER'", both(['user'], above[place])],
    )
  }

  function filled(filter: string): string | undefined {
    if (filter === '') return undefined
    return filter.replace('USER', user).replace('INNER', inner)
  }

  for (const [place, filter, expected] of expectations) {
    test(`of ${place}, ${filter === '' ? 'no filter' : filter}`, async () => {
      assert.deepEqual((await listed(place, filled(filter))).sort(), [...expected].sort())
    })
  }

  test('pages of every size, joined, are the list', async () => {
    const whole = await listed('sub')
    for (const top of [1, 2, 7, 1000]) assert.deepEqual(await listed('sub', undefined, top), whole)
    const filter = `assignedTo('${user}')`
    assert.deepEqual(await listed('group', filter, 2), await listed('group', filter))
  })

  test('nextLink carries the questions of the first call, and fits no other list', async () => {
    const path = `${sub}/providers/Vendor.Authorization/roleAssignments`
    const page = await get(`${path}?${version}&$top=2&$filter=atScope()&tenantId=x`)
    const next = new URL(String(page.at('nextLink')))
    assert.equal(next.pathname, path)
    assert.equal(next.searchParams.get('$filter'), 'atScope()')
    assert.equal(next.searchParams.get('$top'), '2')
    assert.equal(next.searchParams.get('tenantId'), 'x')
    const token = encodeURIComponent(next.searchParams.get('$skipToken') ?? '')
    assert.notEqual(token, '')
    const elsewhere = listPlaces(sub).group
    for (const wrong of [
      `${path}?${version}&$skipToken=${token}`,
      `${elsewhere}/providers/Vendor.Authorization/roleAssignments?${version}&$filter=atScope()&$skipToken=${token}`,
      `${path}?${version}&$skipToken=made-up`,
    ]) {
      assertRefused(await get(wrong), 400, 'InvalidContinuationToken')
    }
  })

  const refused = [
    "roleDefinitionId eq 'x'",
    'atScope() or atScope()',
    'atScope',
    "principalId eq 'ada'",
    "principalId ne 'USER'",
    "assignedTo('INNER')",
    "principalId eq 'USER' and assignedTo('USER')",
    "atScope() and (principalId eq 'USER'",
  ]
  for (const filter of refused) {
    test(`the filter ${filter} is refused`, async () => {
      const given = encodeURIComponent(filled(filter) ?? '')
      const path = `${sub}/providers/Vendor.Authorization/roleAssignments?${version}&$filter=${given}`
      assertRefused(await get(path), 400, 'InvalidFilter')
    })
  }

  for (const top of ['0', '-1', 'x', '']) {
    test(`$top '${top}' is refused`, async () => {
      const path = `${sub}/providers/Vendor.Authorization/roleAssignments?${version}&$top=${top}`
      assertRefused(await get(path), 400, 'InvalidQueryParameter')
    })
  }

  test('an empty list is a list; one of a missing scope is 404', async () => {
    const empty = await created(`/subscriptions/${randomUUID()}/resourceGroups/e`)
    await installation.request('DELETE', empty.path)
    const scope = String(empty.made.at('properties.scope'))
    const path = (at: string) => `${at}/providers/Vendor.Authorization/roleAssignments?${version}`
    const none = await get(`${path(scope)}&$filter=principalId eq '${randomUUID()}'`)
    assert.deepEqual(none.body, { value: [] })
    assertRefused(await get(path(`${sub}/resourceGroups/none`)), 404, 'ResourceGroupNotFound')
    assertRefused(await get(path(`/subscriptions/${randomUUID()}`)), 404, 'SubscriptionNotFound')
  })
})

describe('enforcement', () => {
  test('an assignment whose condition cannot hold for a request grants nothing', async () => {
    const application = await createApplication(installation, 'conditioned')
    const rg = `${subscription}/resourceGroups/conditioned`
    const read = () =>
      installation.request('GET', `${rg}?api-version=2021-04-01`, { token: application.token })
    const properties = { principalId: application.principalId, principalType: 'ServicePrincipal' }
    const { path, body } = await created(rg, {
      ...properties,
      condition: conditionText,
      conditionVersion: '2.0',
    })
    assertRefused(await read(), 403, 'AuthorizationFailed')
    const without = { ...body.properties, condition: undefined, conditionVersion: undefined }
    assert.equal((await put(path, bodyOf(without))).status, 200)
    assert.equal((await read()).status, 200, 'without its condition it grants on the next request')
    assert.equal((await put(path, body)).status, 200)
    assertRefused(await read(), 403, 'AuthorizationFailed')
  })

  test('a role without roleAssignments/write may not grant, whatever else it may', async () => {
    const application = await createApplication(installation, 'contributor')
    await created(group)
    await grant(installation, group, roles.contributor, application.principalId)
    const answer = await put(assignmentPath(group), bodyOf(), application.token)
    assertRefused(answer, 403, 'AuthorizationFailed')
    const resource = await installation.request('PUT', `${group}?api-version=2021-04-01`, {
      body: { location: 'local' },
      token: application.token,
    })
    assert.equal(resource.status, 200, resource.text)
  })

  test('the decision is the union over principal and groups; a custom role’s notActions take away', async () => {
    const application = await createApplication(installation, 'in groups')
    const team = await createGroup(installation, 'team')
    const rg = `${subscription}/resourceGroups/union`
    await created(rg)
    const role = `/providers/Vendor.Authorization/roleDefinitions/${randomUUID()}`
    const definition = {
      properties: {
        roleName: `No reading ${randomUUID()}`,
        type: 'CustomRole',
        assignableScopes: ['/'],
        permissions: [
          { actions: ['*'], notActions: ['Vendor.Resources/subscriptions/resourceGroups/read'] },
        ],
      },
    }
    assert.equal((await put(`${role}?${version}`, definition)).status, 201)
    await created(rg, {
      principalId: application.principalId,
      principalType: undefined,
      roleDefinitionId: role,
    })
    const ask = (method: string) =>
      installation.request(method, `${rg}?api-version=2021-04-01`, {
        token: application.token,
        ...(method === 'PUT' ? { body: { location: 'local', tags: { a: 'b' } } } : {}),
      })
    assert.equal((await ask('PUT')).status, 200)
    assertRefused(await ask('GET'), 403, 'AuthorizationFailed')
    await addMember(installation, team, application.principalId)
    await grant(installation, subscription, roles.reader, team)
    assert.equal((await ask('GET')).status, 200, 'a second role gives the right back')
  })
})
