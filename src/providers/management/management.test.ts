/** Management groups: where scopes lie, that rights are inherited from there only, and who may move what. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { rootId } from '#kernel/resource-id.ts'
import { type PlacedScopes, placesAbove } from '#plane/placed-scopes.ts'
import { owner } from '#plane/testing/start.ts'
import { ownerRoleId } from '../authorization/domain/built-in-roles.ts'
import { group, type Started, startDeployments, subscription } from '../resources/testing/start.ts'

const version = { version: '2020-05-01' }
const groupPath = (name: string): string => `/providers/Vendor.Management/managementGroups/${name}`
const placePath = (name: string): string =>
  `${groupPath(name)}/subscriptions/${subscription.slice(15)}`
const someone = (): typeof owner => ({ ...owner, id: randomUUID() })

// Answers are read as the clients see them.
// biome-ignore lint/suspicious/noExplicitAny: their shape is what is tested.
const json = ({ body }: { readonly body?: unknown }): any => JSON.parse(JSON.stringify(body))

function make(started: Started, name: string, parent?: string, as = owner) {
  const details = parent === undefined ? {} : { details: { parent: { id: groupPath(parent) } } }
  const body = { properties: { displayName: name.toUpperCase(), ...details } }
  return started.call('PUT', groupPath(name), body, { ...version, as })
}

function assign(started: Started, scope: string, to: typeof owner, roleId = ownerRoleId) {
  const roleDefinitionId = `/providers/Vendor.Authorization/roleDefinitions/${roleId}`
  const properties = { principalId: to.id, roleDefinitionId, principalType: 'User' }
  const path = `${scope}/providers/Vendor.Authorization/roleAssignments/${randomUUID()}`
  return started.call('PUT', path, { properties }, { version: '2022-04-01' })
}

const mayWrite = (started: Started, as: typeof owner): Promise<boolean> =>
  started.call('PUT', group, { location: 'local' }, { version: '2021-04-01', as }).then(
    () => true,
    () => false,
  )

/** The answer of `checkAccess`, with its reasons. */
async function decisionOn(started: Started, of: typeof owner): Promise<unknown> {
  const actions = ['Vendor.Resources/subscriptions/resourceGroups/write']
  const path = `${subscription}/providers/Vendor.Authorization/checkAccess`
  const body = { principalId: of.id, actions }
  const answer = json(await started.call('POST', path, body, { version: '2022-04-01' }))
  return answer.value[0].accessDecision
}

test('a name is available as long as no group has it', async () => {
  await using started = await startDeployments()
  await make(started, 'corp')
  const path = '/providers/Vendor.Management/checkNameAvailability'
  const ask = async (name: string) =>
    json(await started.call('POST', path, { name, type: 'any' }, version))
  assert.deepEqual(await ask('fresh'), { nameAvailable: true })
  assert.equal((await ask('CORP')).reason, 'AlreadyExists')
  assert.equal((await ask(owner.tenantId)).reason, 'AlreadyExists')
  assert.equal((await ask('ends.')).reason, 'Invalid')
})

test('a group shows where it lies; the one of the tenant is always there', async () => {
  await using started = await startDeployments()
  await make(started, 'corp')
  await make(started, 'online', 'corp')
  const read = json(await started.call('GET', groupPath('ONLINE'), undefined, version))
  assert.equal(read.properties.displayName, 'ONLINE')
  assert.equal(read.properties.details.parent.name, 'corp')
  // Published clients know no 201 here.
  const { status } = await started.call('PUT', groupPath('fresh'), {}, version)
  assert.equal(status, 200)
  const gone = await started.call('DELETE', groupPath('fresh'), undefined, version)
  assert.equal(gone.status, 202)
  const operation = new URL(gone.operation?.statusPath ?? '', 'http://any')
  assert.equal(
    json(await started.call('GET', operation.pathname, undefined, version)).status,
    'Succeeded',
  )
  const top = json(await started.call('GET', groupPath('corp'), undefined, version))
  assert.equal(top.properties.details.parent.name, owner.tenantId)
  const tenant = json(await started.call('GET', groupPath(owner.tenantId), undefined, version))
  assert.equal(tenant.properties.details.parent, undefined)
  await assert.rejects(make(started, owner.tenantId), { code: 'TenantManagementGroup' })
  await assert.rejects(make(started, 'lost', 'nowhere'), { code: 'ParentManagementGroupNotFound' })
  await assert.rejects(make(started, 'corp', 'online'), { code: 'ManagementGroupCircle' })
  await assert.rejects(started.call('DELETE', groupPath('corp'), undefined, version), {
    code: 'ManagementGroupNotEmpty',
  })
})

test('there is a number of groups, and those that are there may change', async () => {
  await using started = await startDeployments()
  await make(started, 'g0')
  const first = await started.store.get(groupPath('g0').toLowerCase())
  assert.ok(first !== undefined)
  await started.store.transact(async (tx) => {
    for (let at = 1; at < 10_000; at++) {
      const named = (text: string): string => text.replaceAll('/g0', `/g${at}`)
      const { key, id, document } = first
      await tx.insert({ ...first, key: named(key), id: named(id), document: named(document) })
    }
  })
  await assert.rejects(make(started, 'more'), { code: 'ManagementGroupQuotaExceeded' })
  const body = { properties: { displayName: 'changed' } }
  assert.equal((await started.call('PUT', groupPath('g0'), body, version)).status, 200)
})

test('groups and subscriptions are listed together, each with what it lies in', async () => {
  await using started = await startDeployments()
  await make(started, 'corp')
  await make(started, 'online', 'corp')
  await started.call('PUT', subscription, { displayName: 's' }, { version: '2022-12-01' })
  await started.call('PUT', placePath('online'), undefined, version)
  const path = '/providers/Vendor.Management/getEntities'
  const { value } = json(await started.call('POST', path, undefined, version))
  const places = value.map((one: { name: string; properties: { parent: { id: string } } }) => [
    one.name,
    one.properties.parent.id.split('/').at(-1),
  ])
  assert.deepEqual(places, [
    ['corp', owner.tenantId],
    ['online', 'corp'],
    [subscription.split('/').at(-1), 'online'],
  ])
})

test('what lies in a group is listed at any depth, over pages, and shown below it', async () => {
  await using started = await startDeployments()
  await make(started, 'corp')
  await make(started, 'online', 'corp')
  await make(started, 'other')
  await started.call('PUT', subscription, { displayName: 's' }, { version: '2022-12-01' })
  await started.call('PUT', placePath('online'), undefined, version)
  const names = (value: readonly { name: string }[]) => value.map(({ name }) => name)
  const within = async (name: string) => {
    const path = `${groupPath(name)}/descendants`
    return json(await started.call('GET', path, undefined, version)).value
  }
  const own = subscription.split('/').at(-1)
  assert.deepEqual(names(await within('corp')), ['online', own])
  assert.deepEqual((await within('CORP'))[1].properties, {
    displayName: 's',
    parent: { id: groupPath('online') },
  })
  assert.deepEqual(names(await within(owner.tenantId)), ['corp', 'other', 'online', own])
  assert.deepEqual(await within('other'), [])
  const placed = `${groupPath(owner.tenantId)}/subscriptions`
  assert.deepEqual(json(await started.call('GET', placed, undefined, version)).value, [])
  await assert.rejects(within('nowhere'), { code: 'ResourceNotFound' })
  const asSomeone = { ...version, as: someone() }
  await assert.rejects(
    started.call('GET', `${groupPath('corp')}/descendants`, undefined, asSomeone),
    { code: 'AuthorizationFailed' },
  )

  const expanded = async (name: string, more = '') => {
    const path = `${groupPath(name)}?$expand=children${more}`
    return json(await started.call('GET', path, undefined, version)).properties
  }
  const [online] = (await expanded('corp')).children
  assert.deepEqual([online.name, online.children], ['online', undefined])
  const deep = (await expanded(owner.tenantId, '&$recurse=true')).children
  assert.deepEqual(names(deep), ['corp', 'other'])
  assert.deepEqual(names(deep[0].children[0].children), [own])
  assert.equal((await expanded('corp')).details.parent.name, owner.tenantId)
  const plain = json(await started.call('GET', groupPath('corp'), undefined, version)).properties
  assert.equal(plain.children, undefined)
})

test('a group takes what lies in it along, and nothing comes to lie too deep', async () => {
  await using started = await startDeployments()
  const chain = async (prefix: string, length: number): Promise<void> => {
    for (let level = 1; level <= length; level++) {
      await make(started, `${prefix}${level}`, level === 1 ? undefined : `${prefix}${level - 1}`)
    }
  }
  await chain('p', 3)
  await chain('q', 4)
  await assert.rejects(make(started, 'p1', 'q4'), { code: 'ManagementGroupDepth' })
  await make(started, 'p1', 'q3')
  await assert.rejects(make(started, 'p4', 'p3'), { code: 'ManagementGroupDepth' })
  // Only the name of a group is one, although there is a row with that id.
  await started.call('PUT', subscription, { displayName: 's' }, { version: '2022-12-01' })
  await started.call('PUT', placePath('q1'), undefined, version)
  const details = { parent: { id: `q1/subscriptions/${subscription.slice(15)}` } }
  await assert.rejects(started.call('PUT', groupPath('w'), { properties: { details } }, version), {
    code: 'ParentManagementGroupNotFound',
  })
})

test('a PATCH that would move a group says so, in either of its shapes; a name is taken from both', async () => {
  await using started = await startDeployments()
  await make(started, 'corp')
  await make(started, 'online', 'corp')
  await make(started, 'apart')
  const patch = (body: object) => started.call('PATCH', groupPath('online'), body, version)
  const elsewhere = groupPath('apart')
  for (const body of [
    { parentGroupId: elsewhere },
    { properties: { details: { parent: { id: elsewhere } } } },
  ]) {
    await assert.rejects(patch(body), { code: 'ManagementGroupMoved' }, JSON.stringify(body))
  }
  for (const body of [{ displayName: 'A' }, { properties: { displayName: 'A' } }]) {
    assert.equal(json(await patch(body)).properties.displayName, 'A')
    assert.equal(json(await patch({ displayName: 'B' })).properties.displayName, 'B')
  }
})

test('what is forbidden at the outermost holds however deep a store has it', () => {
  const within = (scope: string): string | undefined =>
    scope === '/g/99' ? undefined : `/g/${Number(scope.slice(3)) + 1}`
  const scopes: PlacedScopes = {
    types: [],
    outermost: '/g/top',
    placementOf: () => undefined,
    headOf: () => '/g/1',
  }
  const above = placesAbove(scopes, within, rootId)
  assert.deepEqual([above.length, above[0], above[1]], [99, '/g/top', '/g/99'])
  const circle = placesAbove(scopes, (scope) => (scope === '/g/2' ? '/g/1' : '/g/2'), rootId)
  assert.deepEqual(circle, ['/g/top', '/g/1', '/g/2'])
})

test('rights come down to the subscriptions in it, while they are in it', async () => {
  await using started = await startDeployments()
  await started.call('PUT', subscription, { displayName: 's' }, { version: '2022-12-01' })
  await make(started, 'corp')
  await make(started, 'online', 'corp')
  await make(started, 'apart')
  const [above, aside, top] = [someone(), someone(), someone()]
  await assign(started, groupPath('corp'), above)
  await assign(started, groupPath('apart'), aside)
  await assign(started, groupPath(owner.tenantId), top)
  assert.equal(await mayWrite(started, above), false, 'nothing is given before it lies there')
  assert.equal(await mayWrite(started, top), true, 'everything lies in the group of the tenant')
  await started.call('PUT', placePath('online'), undefined, version)
  assert.equal(await mayWrite(started, above), true)
  assert.equal(await mayWrite(started, aside), false)
  const listed = json(
    await started.call(
      'GET',
      `${group}/providers/Vendor.Authorization/roleAssignments`,
      undefined,
      { version: '2022-04-01' },
    ),
  )
  const principals = listed.value.map(
    (one: { properties: { principalId: string } }) => one.properties.principalId,
  )
  assert.ok(principals.includes(above.id) && !principals.includes(aside.id))
  assert.deepEqual(
    [await decisionOn(started, above), await decisionOn(started, aside)],
    ['Allowed', 'NotAllowed'],
  )
  await make(started, 'online', 'apart')
  assert.equal(await mayWrite(started, above), false, 'it was moved away')
  assert.equal(await mayWrite(started, aside), true)
  await assert.rejects(started.call('PUT', placePath('corp'), undefined, version), {
    code: 'SubscriptionPlacedElsewhere',
  })
  await started.call('DELETE', placePath('online'), undefined, version)
  assert.equal(await mayWrite(started, aside), false)
})

test('a role of a group may be given, and is seen, in the subscriptions of the group', async () => {
  await using started = await startDeployments()
  await make(started, 'corp')
  await make(started, 'online', 'corp')
  await started.call('PUT', subscription, { displayName: 's' }, { version: '2022-12-01' })
  const roleId = randomUUID()
  const roleAt = (scope: string): string =>
    `${scope}/providers/Vendor.Authorization/roleDefinitions/${roleId}`
  const properties = {
    roleName: 'Of the group',
    permissions: [{ actions: ['*/read'] }],
    assignableScopes: [groupPath('corp')],
  }
  const roles = { version: '2022-04-01' }
  await started.call('PUT', roleAt(groupPath('corp')), { properties }, roles)
  await assert.rejects(assign(started, subscription, someone(), roleId), {
    code: 'ScopeDoesNotMatchRoleDefinition',
  })
  await assert.rejects(started.call('GET', roleAt(subscription), undefined, roles), {
    code: 'RoleDefinitionDoesNotExist',
  })
  await started.call('PUT', placePath('online'), undefined, version)
  await assign(started, subscription, someone(), roleId)
  await assign(started, group, someone(), roleId)
  const seen = json(await started.call('GET', roleAt(subscription), undefined, roles))
  assert.equal(seen.properties.roleName, 'Of the group')
})

test('nobody gains rights by a move: it takes the right to give rights to what is moved', async () => {
  await using started = await startDeployments()
  await started.call('PUT', subscription, { displayName: 's' }, { version: '2022-12-01' })
  await make(started, 'mine')
  await make(started, 'theirs')
  const me = someone()
  await assign(started, groupPath('mine'), me)
  const as = { ...version, as: me }
  const denied = { code: 'AuthorizationFailed' }
  await assert.rejects(started.call('PUT', placePath('mine'), undefined, as), denied)
  await assert.rejects(make(started, 'theirs', 'mine', me), denied)
  await assert.rejects(make(started, 'mine', 'theirs', me), denied)
  await assert.rejects(make(started, 'new', 'mine', someone()), denied)
  // A contributor may write everything there, but assigns no roles.
  const contributor = someone()
  const contributorRole = 'b24988ac-6180-42a0-ab88-20f7382dd24c'
  await assign(started, groupPath('mine'), contributor, contributorRole)
  await assign(started, subscription, contributor, contributorRole)
  const asContributor = { ...version, as: contributor }
  await assert.rejects(started.call('PUT', placePath('mine'), undefined, asContributor), denied)
  assert.equal(await mayWrite(started, me), false)
  // Nor does such a caller take a subscription out, and with it the rights of those above.
  await started.call('PUT', placePath('theirs'), undefined, version)
  const low = someone()
  await assign(started, groupPath('theirs'), low, contributorRole)
  const asLow = { ...version, as: low }
  await assert.rejects(started.call('DELETE', placePath('theirs'), undefined, asLow), denied)
  const above = someone()
  await assign(started, groupPath('theirs'), above)
  const asAbove = { ...version, as: above }
  assert.equal((await started.call('DELETE', placePath('theirs'), undefined, asAbove)).status, 200)
})

test('a right that came by a placement does not bring the placement back', async () => {
  await using started = await startDeployments()
  await started.call('PUT', subscription, { displayName: 's' }, { version: '2022-12-01' })
  await make(started, 'mine')
  const me = someone()
  await assign(started, groupPath('mine'), me)
  const as = { ...version, as: me }
  await started.call('PUT', placePath('mine'), undefined, version)
  assert.equal((await started.call('PUT', placePath('mine'), undefined, as)).status, 200)
  const body = { mayPlace: true }
  // The PUT is prepared while the placement exists, and written after its deletion: as many turns after its beginning as that takes.
  for (let turns = 0, code = ''; code !== 'Conflict'; turns++) {
    assert.ok(turns < 50, `${code}: the PUT never came between`)
    await started.call('PUT', placePath('mine'), undefined, version)
    const gone = started.call('DELETE', placePath('mine'), undefined, version)
    for (let turn = 0; turn < turns; turn++) await setImmediate()
    const back = started.call('PUT', placePath('mine'), body, as)
    const [put] = await Promise.allSettled([back, gone])
    code = put.status === 'rejected' ? put.reason.code : ''
  }
  assert.equal(await mayWrite(started, me), false)
  const denied = { code: 'AuthorizationFailed' }
  await assert.rejects(started.call('PUT', placePath('mine'), body, as), denied)
})

test('a right that is lost while a PUT waits places nothing', async () => {
  await using started = await startDeployments()
  await started.call('PUT', subscription, { displayName: 's' }, { version: '2022-12-01' })
  await make(started, 'mine')
  await make(started, 'theirs')
  const me = someone()
  await assign(started, groupPath('mine'), me)
  for (const [scope, put] of [
    [subscription, [placePath('mine'), undefined]],
    [groupPath('theirs'), [groupPath('theirs'), movedTo('mine')]],
  ] as const) {
    const given = await assign(started, scope, me)
    const { id } = json(given)
    // What waits is authorized again when it is prepared, and when it is its turn.
    let isTaken = false
    const late = started.call('PUT', put[0], put[1], {
      ...version,
      as: me,
      async meanwhile() {
        if (isTaken) return
        isTaken = true
        await started.call('DELETE', id, undefined, { version: '2022-04-01' })
      },
    })
    await assert.rejects(late, { code: 'AuthorizationFailed' })
  }
  assert.equal(await mayWrite(started, me), false)
  const { properties } = json(await started.call('GET', groupPath('theirs'), undefined, version))
  assert.equal(properties.details.parent.name, owner.tenantId)
})

function movedTo(parent: string): object {
  return { properties: { details: { parent: { id: groupPath(parent) } } } }
}
