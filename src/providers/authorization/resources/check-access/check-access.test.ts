import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nobody } from '#plane/testing/start.ts'
import {
  assignment,
  at,
  authorization,
  group,
  type Installation,
  json,
  openInstallation,
  refused,
  subscription,
} from '../../../testing/installation.ts'

const reader = 'acdd72a7-3385-48ef-bd42-f606fba81ae7'
const contributor = 'b24988ac-6180-42a0-ab88-20f7382dd24c'
const administrator = 'f58310d9-a9f6-439a-9e8d-f62e7b41a168'
const write = 'Vendor.Authorization/roleAssignments/write'
const groupsRead = 'Vendor.Resources/subscriptions/resourceGroups/read'
const groupsWrite = 'Vendor.Resources/subscriptions/resourceGroups/write'
const role = 'Vendor.Authorization/roleAssignments:RoleDefinitionId'

async function ask(t: Installation, scope: string, body: object, options: object = {}) {
  const path = `${scope}/${authorization}/checkAccess`
  return json(await t.call('POST', path, body, options)).value
}

test('says by which assignment, or which came nearest and what was missing', async () => {
  await using t = await openInstallation()
  await t.call(
    'PUT',
    group,
    { location: 'local', tags: { env: 'prod' } },
    { version: '2021-04-01' },
  )
  const path = at(subscription)
  await t.call('PUT', path, assignment(nobody.id, reader))
  const elsewhere = at(`${group}2`)
  await t.call('PUT', elsewhere, assignment(nobody.id, contributor))
  const tagged = at(group)
  await t.call(
    'PUT',
    tagged,
    assignment(nobody.id, contributor, {
      condition: `!(ActionMatches{'${groupsWrite}'}) OR (@Resource[Vendor.Resources/resourceGroups/tags:env] StringEquals 'dev' AND 1 NumericEquals 1)`,
      conditionVersion: '2.0',
    }),
  )
  const actions = [groupsRead, groupsWrite, write]
  const [read, update, assign] = await ask(t, group, { principalId: nobody.id, actions })
  assert.equal(read.accessDecision, 'Allowed')
  assert.ok([path, tagged].includes(read.roleAssignment.roleAssignmentId))
  assert.equal(update.accessDecision, 'NotAllowed')
  assert.equal(update.nearest[0].roleAssignmentId, tagged)
  assert.equal(update.nearest[0].reason, 'ConditionFalse')
  assert.equal(
    update.nearest[0].detail,
    "not true: @Resource[Vendor.Resources/resourceGroups/tags:env] StringEquals 'dev'",
  )
  assert.equal(update.nearest[1].reason, 'OtherScope')
  assert.equal(update.nearest[1].roleAssignmentId, elsewhere)
  assert.equal(update.nearest[2].reason, 'ActionNotGranted')
  assert.equal(assign.accessDecision, 'NotAllowed')
  assert.equal(assign.nearest[0].reason, 'NotActions')
  const resource = { 'Vendor.Resources/resourceGroups/tags:env': 'dev' }
  const [tried] = await ask(t, group, { principalId: nobody.id, actions: [groupsWrite], resource })
  assert.equal(tried.accessDecision, 'Allowed')
})

test('what depends on the body is conditional until the body is known', async () => {
  await using t = await openInstallation()
  await t.call('PUT', group, { location: 'local' }, { version: '2021-04-01' })
  const extra = { condition: `@Request[${role}] GuidEquals '${reader}'`, conditionVersion: '2.0' }
  await t.call('PUT', at(group), assignment(nobody.id, administrator, extra))
  const as = { as: nobody }
  const decisionOf = async (request?: object) => {
    const body = { actions: [write], ...(request === undefined ? {} : { request }) }
    const [one] = await ask(t, group, body, as)
    return [one.accessDecision, one.nearest?.[0]?.reason]
  }
  assert.deepEqual(await decisionOf(), ['Conditional', 'ConditionUndecided'])
  assert.deepEqual(await decisionOf({ [role]: reader }), ['Allowed', undefined])
  assert.deepEqual(await decisionOf({ [role]: contributor }), ['NotAllowed', 'ConditionFalse'])
  const own = {
    [role]: administrator,
    'Vendor.Authorization/roleAssignments:PrincipalId': nobody.id,
  }
  assert.deepEqual(await decisionOf(own), ['NotAllowed', 'OwnAssignment'])
})

test('anybody may ask about themselves; about others only who may', async () => {
  await using t = await openInstallation()
  const body = { actions: [groupsRead] }
  const [own] = await ask(t, '', body, { as: nobody })
  assert.deepEqual([own.accessDecision, own.nearest], ['NotAllowed', []])
  const path = `/${authorization}/checkAccess`
  const other = { ...body, principalId: '00000000-0000-4000-8000-000000000001' }
  await refused(t.call('POST', path, other, { as: nobody }), 'AuthorizationFailed', 403)
  assert.equal((await t.call('POST', path, other)).status, 200)
  const wild = { actions: ['*/read'] }
  await refused(t.call('POST', path, wild), 'InvalidRequestContent', 400)
})

test('of others, what is assigned elsewhere is shown to whoever may read it there', async () => {
  await using t = await openInstallation()
  const other = 'eeeeeeee-0000-4000-8000-000000000002'
  for (const one of [group, `${group}2`]) {
    await t.call('PUT', one, { location: 'local' }, { version: '2021-04-01' })
  }
  const away = Array.from({ length: 8 }, (_, n) => at(`${group}2/${authorization}/locks/${n}`))
  for (const path of away) await t.call('PUT', path, assignment(other, contributor))
  const above = at(subscription)
  await t.call('PUT', above, assignment(other, reader))
  await t.call('PUT', at(group), assignment(nobody.id, contributor))
  const body = { principalId: other, actions: [groupsWrite, write] }
  const idsOf = async (options: object) =>
    (await ask(t, group, body, options)).map(({ nearest }: { nearest: object[] }) =>
      nearest.map((one) => (one as { roleAssignmentId: string }).roleAssignmentId),
    )
  assert.deepEqual(await idsOf({ as: nobody }), [[above], [above]])
  for (const shown of await idsOf({})) {
    assert.equal(shown.length, 5)
    assert.ok(shown.every((id: string) => away.includes(id)))
  }
  await t.call('PUT', at(`${group}2`), assignment(nobody.id, reader))
  assert.equal((await idsOf({ as: nobody }))[0].length, 5)
})

test('of others, the hundred nearest scopes are looked at, however many have assignments', async () => {
  await using t = await openInstallation()
  const other = 'eeeeeeee-0000-4000-8000-000000000005'
  const far = subscription.replace('1', '2')
  await t.call('PUT', at(far), assignment(other, contributor))
  await t.call('PUT', at(far), assignment(nobody.id, reader))
  await t.call('PUT', at(group), assignment(nobody.id, contributor))
  const shown = async () =>
    (await ask(t, group, { principalId: other, actions: [write] }, { as: nobody }))[0].nearest
  const add = (n: number) => t.call('PUT', at(`${group}${n}`), assignment(other, contributor))
  for (let n = 1; n < 100; n++) await add(n)
  assert.equal((await shown()).length, 1)
  await add(100)
  assert.deepEqual(await shown(), [])
})

test('data actions are asked of what roles list for data, and of nothing else', async () => {
  await using t = await openInstallation()
  const read = 'Vendor.Storage/storageAccounts/blobServices/containers/blobs/read'
  const blobReader = '2a2b9908-6ea1-4ae2-8e65-a410df84e7d1'
  const decide = async (body: object) =>
    (await ask(t, subscription, { principalId: nobody.id, ...body })).map(
      ({ action, isDataAction, accessDecision }: Record<string, unknown>) => [
        action,
        isDataAction,
        accessDecision,
      ],
    )
  await t.call('PUT', at(subscription), assignment(nobody.id, contributor))
  assert.deepEqual(await decide({ actions: [read], dataActions: [read] }), [
    [read, undefined, 'Allowed'],
    [read, true, 'NotAllowed'],
  ])
  await t.call('PUT', at(''), assignment(nobody.id, blobReader))
  assert.deepEqual(await decide({ dataActions: [read] }), [[read, true, 'Allowed']])
})

test('permissions are those of the roles that reach the scope', async () => {
  await using t = await openInstallation()
  await t.call('PUT', at(subscription), assignment(nobody.id, reader))
  const list = async (scope: string) =>
    json(await t.call('GET', `${scope}/${authorization}/permissions`, undefined, { as: nobody }))
      .value
  assert.deepEqual(await list(''), [])
  const expected = { actions: ['*/read'], notActions: [], dataActions: [], notDataActions: [] }
  assert.deepEqual(await list(subscription), [expected])
})

test('groups that a token asserts have the roles of groups, and nobody else’s', async () => {
  await using t = await openInstallation()
  await t.call('PUT', group, { location: 'local' }, { version: '2021-04-01' })
  const somebody = 'eeeeeeee-0000-4000-8000-000000000003'
  const team = 'eeeeeeee-0000-4000-8000-000000000004'
  await t.call('PUT', at(group), assignment(somebody, contributor))
  await t.call('PUT', at(group), assignment(team, reader, { principalType: 'Group' }))
  const rights = async (groups: readonly string[], id = nobody.id) => {
    const as = { ...nobody, id, groups }
    const answers = await ask(t, group, { actions: [groupsRead, groupsWrite] }, { as })
    const path = `${group}/${authorization}/permissions`
    return [
      ...answers.map(({ accessDecision }: { accessDecision: string }) => accessDecision),
      json(await t.call('GET', path, undefined, { as })).value.length,
    ]
  }
  assert.deepEqual(await rights([somebody]), ['NotAllowed', 'NotAllowed', 0])
  assert.deepEqual(await rights([somebody, team]), ['Allowed', 'NotAllowed', 1])
  assert.deepEqual(await rights([somebody], somebody), ['Allowed', 'Allowed', 1])
  const patch = t.call(
    'PATCH',
    group,
    { tags: { a: 'b' } },
    {
      version: '2021-04-01',
      as: { ...nobody, groups: [somebody] },
    },
  )
  await refused(patch, 'AuthorizationFailed', 403)
})

test('permissions tell nobody without a role which groups exist', async () => {
  await using t = await openInstallation()
  await t.call('PUT', group, { location: 'local' }, { version: '2021-04-01' })
  const other = subscription.replace('1', '2')
  const list = (scope: string, options: object) =>
    t.call('GET', `${scope}/${authorization}/permissions`, undefined, options)
  for (const scope of [group, `${group}2`]) {
    assert.deepEqual(json(await list(scope, { as: nobody })).value, [], scope)
  }
  await refused(list(`${group}2`, {}), 'ResourceGroupNotFound', 404)
  // As any other request tells everybody.
  for (const options of [{}, { as: nobody }]) {
    await refused(list(other, options), 'SubscriptionNotFound', 404)
    await refused(list(`${other}/resourceGroups/rg`, options), 'SubscriptionNotFound', 404)
  }
})
