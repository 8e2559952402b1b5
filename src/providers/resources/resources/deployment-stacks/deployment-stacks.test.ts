/** Stacks on a real plane: what they manage, detach, delete and protect. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import { isTerminalState } from '#kernel/operation.ts'
import { nobody, owner } from '#plane/testing/start.ts'
import { until } from '../../../../../tests/until.ts'
import { ownerRoleId } from '../../../authorization/domain/built-in-roles.ts'
import {
  group,
  type Started,
  startDeployments,
  subscription,
  templateFor,
} from '../../testing/start.ts'

const version = { version: '2024-03-01' }
const groups = { version: '2021-04-01' }
const vaults = { version: '2026-01-01' }
const stack = `${group}/providers/Vendor.Resources/deploymentStacks/s`

const vault = (name: string, more: object = {}): object => ({
  type: 'Vendor.Secrets/vaults',
  apiVersion: '2026-01-01',
  name,
  location: 'local',
  ...more,
})

const vaultAt = (name: string, scope = group): string =>
  `${scope}/providers/Vendor.Secrets/vaults/${name}`

interface Wanted {
  readonly resources: readonly object[]
  readonly action?: 'delete' | 'detach'
  readonly groups?: 'delete' | 'detach'
  readonly deny?: object
  readonly properties?: object
  readonly location?: string
  readonly schema?: string
}

function bodyOf({
  resources,
  action = 'delete',
  deny = { mode: 'none' },
  ...more
}: Wanted): object {
  const schema = more.schema === undefined ? {} : { $schema: more.schema }
  return {
    ...(more.location === undefined ? {} : { location: more.location }),
    properties: {
      template: templateFor(resources, schema),
      actionOnUnmanage: { resources: action, resourceGroups: more.groups ?? 'detach' },
      denySettings: deny,
      ...more.properties,
    },
  }
}

interface Shown {
  readonly properties: {
    readonly provisioningState: string
    readonly resources: readonly { id: string; status: string; denyStatus: string }[]
    readonly deletedResources: readonly { id: string }[]
    readonly detachedResources: readonly { id: string }[]
    readonly failedResources: readonly { id: string; error: { code: string } }[]
    readonly error?: { code: string; details?: readonly { code: string }[] }
    readonly outputs?: Record<string, unknown>
    readonly deploymentId: string
  }
}

async function ended(t: Started, path = stack): Promise<Shown['properties']> {
  await until(async () => {
    await t.plane.reconciler.idle()
    const row = await t.plane.reader.get(path)
    return row === undefined || isTerminalState(row.state)
  })
  const { body } = await t.call('GET', path, undefined, version)
  return (JSON.parse(JSON.stringify(body)) as Shown).properties
}

async function put(t: Started, wanted: Wanted, path = stack): Promise<Shown['properties']> {
  await t.call('PUT', path, bodyOf(wanted), version)
  return ended(t, path)
}

async function gone(t: Started, path = stack): Promise<void> {
  for (let round = 0; round < 200; round++) {
    if ((await t.plane.reader.get(path)) === undefined) return
    await t.plane.reconciler.idle()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  assert.fail('the stack is still there')
}

const isThere = async (t: Started, path: string): Promise<boolean> =>
  (await t.plane.reader.get(path)) !== undefined

function refused(work: Promise<unknown>, code: string, status: number): Promise<void> {
  return assert.rejects(work, (error) => {
    assert.ok(error instanceof ApiError, String(error))
    const codes = [error.code, ...(error.extra.details ?? []).map((one) => one.code)]
    assert.ok(codes.includes(code), `${codes.join()} ${error.message}`)
    assert.equal(error.status, status)
    return true
  })
}

test('a stack makes its resources, and deletes or lets go what its template no longer has', async () => {
  await using t = await startDeployments()
  const first = await put(t, { resources: [vault('a'), vault('b'), vault('c')] })
  assert.equal(first.provisioningState, 'succeeded', JSON.stringify(first))
  assert.deepEqual(
    first.resources.map(({ id, status, denyStatus }) => [id, status, denyStatus]),
    ['a', 'b', 'c'].map((name) => [vaultAt(name), 'managed', 'none']),
  )
  const second = await put(t, { resources: [vault('a'), vault('b')] })
  assert.deepEqual(second.deletedResources, [{ id: vaultAt('c') }])
  assert.equal(await isThere(t, vaultAt('c')), false)
  const third = await put(t, { resources: [vault('a')], action: 'detach' })
  assert.deepEqual(third.detachedResources, [{ id: vaultAt('b') }])
  assert.deepEqual(third.deletedResources, [])
  assert.equal(await isThere(t, vaultAt('b')), true)
  assert.deepEqual(
    third.resources.map(({ id }) => id),
    [vaultAt('a')],
  )
  const exported = await t.call('POST', `${stack}/exportTemplate`, undefined, version)
  const { template } = JSON.parse(JSON.stringify(exported.body))
  assert.equal(template.resources[0].name, 'a')
  await t.call('DELETE', `${stack}?unmanageAction.Resources=delete`, undefined, version)
  await gone(t)
  assert.equal(await isThere(t, vaultAt('a')), false)
  assert.equal(await isThere(t, vaultAt('b')), true)
  await refused(t.call('GET', stack, undefined, version), 'DeploymentStackNotFound', 404)
})

test('what nested deployments make is managed; without an action a DELETE lets everything go', async () => {
  await using t = await startDeployments()
  const nested = {
    type: 'Vendor.Resources/deployments',
    apiVersion: '2025-03-01',
    name: 'inner',
    properties: { mode: 'Incremental', template: templateFor([vault('deep')]) },
  }
  const shown = await put(t, { resources: [vault('a'), nested] })
  assert.deepEqual(shown.resources.map(({ id }) => id).sort(), [vaultAt('a'), vaultAt('deep')])
  await t.call('DELETE', stack, undefined, version)
  await gone(t)
  assert.equal(await isThere(t, vaultAt('a')), true)
  assert.equal(await isThere(t, vaultAt('deep')), true)
})

test('what is denied is refused to owners, and done through the stack; settings come and go', async () => {
  await using t = await startDeployments()
  const deny = { mode: 'denyWriteAndDelete', excludedActions: ['Vendor.Secrets/vaults/write'] }
  const first = await put(t, { resources: [vault('a'), vault('b')], deny })
  assert.equal(first.provisioningState, 'succeeded', JSON.stringify(first))
  assert.deepEqual(
    first.resources.map(({ denyStatus }) => denyStatus),
    ['denyWriteAndDelete', 'denyWriteAndDelete'],
  )
  const denied = 'DenyAssignmentAuthorizationFailed'
  await refused(t.call('DELETE', vaultAt('a'), undefined, vaults), denied, 403)
  await refused(t.call('DELETE', group, undefined, groups), denied, 403)
  await t.call('PUT', vaultAt('a'), { location: 'local', tags: { x: '1' } }, vaults)
  const strict = { mode: 'denyWriteAndDelete' }
  await put(t, { resources: [vault('a', { tags: { x: '2' } }), vault('b')], deny: strict })
  const write = t.call('PUT', vaultAt('a'), { location: 'local', tags: { x: '3' } }, vaults)
  await refused(write, denied, 403)
  // Its tags are the resource's own, though their address is below it.
  const tags = `${vaultAt('a')}/providers/Vendor.Resources/tags/default`
  const wanted = { properties: { tags: { x: '3' } } }
  const oneTag = { operation: 'Merge', ...wanted }
  await refused(t.call('PUT', tags, wanted, groups), denied, 403)
  await refused(t.call('PATCH', tags, oneTag, groups), denied, 403)
  await refused(t.call('DELETE', tags, undefined, groups), denied, 403)
  // A template outside of any stack meets it in its preflight.
  const plain = `${group}/providers/Vendor.Resources/deployments/d`
  const template = templateFor([vault('a', { tags: { x: '4' } })])
  await refused(t.call('PUT', plain, { properties: { template } }), denied, 400)
  const third = await put(t, { resources: [vault('a', { tags: { x: '5' } })], deny: strict })
  assert.equal(third.provisioningState, 'succeeded', JSON.stringify(third))
  assert.deepEqual(third.deletedResources, [{ id: vaultAt('b') }])
  const excluded = { mode: 'denyDelete', excludedPrincipals: [owner.id] }
  await put(t, { resources: [vault('a')], deny: excluded })
  assert.equal((await t.call('DELETE', vaultAt('a'), undefined, vaults)).status, 200)
  await put(t, { resources: [vault('a')], deny: strict })
  await t.call('DELETE', `${stack}?unmanageAction.resources=detach`, undefined, version)
  await gone(t)
  assert.equal((await t.call('DELETE', vaultAt('a'), undefined, vaults)).status, 200)
})

test('what was deleted and made anew is denied again when the stack is deployed again', async () => {
  await using t = await startDeployments()
  const deny = { mode: 'denyWriteAndDelete', excludedActions: ['Vendor.Secrets/vaults/delete'] }
  await put(t, { resources: [vault('a')], deny })
  await t.call('DELETE', vaultAt('a'), undefined, vaults)
  await t.call('PUT', vaultAt('a'), { location: 'local' }, vaults)
  const again = await put(t, { resources: [vault('a')], deny })
  assert.equal(again.provisioningState, 'succeeded', JSON.stringify(again))
  assert.deepEqual(again.resources[0]?.denyStatus, 'denyWriteAndDelete')
  const write = t.call('PUT', vaultAt('a'), { location: 'local', tags: { x: '1' } }, vaults)
  await refused(write, 'DenyAssignmentAuthorizationFailed', 403)
})

test('who may not manage deny settings at a resource does not take them away through the stack', async () => {
  await using t = await startDeployments()
  const other = `${subscription}/resourceGroups/other`
  await t.call('PUT', other, { location: 'local' }, groups)
  const inner = {
    type: 'Vendor.Resources/deployments',
    apiVersion: '2025-03-01',
    name: 'inner',
    resourceGroup: 'other',
    properties: { mode: 'Incremental', template: templateFor([vault('there')]) },
  }
  const deny = { mode: 'denyWriteAndDelete' }
  const made = await put(t, { resources: [inner], deny })
  assert.equal(made.provisioningState, 'succeeded', JSON.stringify(made))
  const role = `${subscription}/providers/Vendor.Authorization/roleDefinitions/${ownerRoleId}`
  const properties = { principalId: nobody.id, roleDefinitionId: role, principalType: 'User' }
  const assignment = `${group}/providers/Vendor.Authorization/roleAssignments/${nobody.id}`
  await t.call('PUT', assignment, { properties }, { version: '2022-04-01' })
  const there = vaultAt('there', other)
  for (const action of ['detach', 'delete'] as const) {
    const as = { ...version, as: nobody }
    await t.call('PUT', stack, bodyOf({ resources: [], deny, action }), as)
    const kept = await ended(t)
    assert.equal(kept.provisioningState, 'failed')
    const [one] = kept.resources.filter(({ id }) => id === there)
    assert.deepEqual(one, { id: there, status: 'managed', denyStatus: 'denyWriteAndDelete' })
    assert.deepEqual(
      kept.failedResources.map(({ id, error }) => [id, error.code]),
      [[there, 'LinkedAuthorizationFailed']],
    )
  }
  await t.call('DELETE', `${stack}?unmanageAction.resources=detach`, undefined, {
    ...version,
    as: nobody,
  })
  assert.equal((await ended(t)).resources.length, 1)
  // Nor with the group that the stack is in, by whoever owns that group alone.
  await refused(
    t.call('DELETE', group, undefined, { ...groups, as: nobody }),
    'AuthorizationFailed',
    403,
  )
  assert.equal(await isThere(t, stack), true)
  const denied = 'DenyAssignmentAuthorizationFailed'
  await refused(t.call('DELETE', there, undefined, vaults), denied, 403)
  const freed = await put(t, { resources: [], deny, action: 'detach' })
  assert.equal(freed.provisioningState, 'succeeded', JSON.stringify(freed))
  assert.equal((await t.call('DELETE', there, undefined, vaults)).status, 200)
})

test('who may not manage the deny settings of a stack does not end them with the scope that holds it', async () => {
  await using t = await startDeployments()
  const other = `${subscription}/resourceGroups/other`
  await t.call('PUT', other, { location: 'local' }, groups)
  const inner = {
    type: 'Vendor.Resources/deployments',
    apiVersion: '2025-03-01',
    name: 'inner',
    resourceGroup: 'other',
    properties: { mode: 'Incremental', template: templateFor([vault('there')]) },
  }
  const made = await put(t, { resources: [inner], deny: { mode: 'denyDelete' } })
  assert.equal(made.provisioningState, 'succeeded', JSON.stringify(made))
  const role = `${subscription}/providers/Vendor.Authorization/roleDefinitions/b24988ac-6180-42a0-ab88-20f7382dd24c`
  const properties = { principalId: nobody.id, roleDefinitionId: role, principalType: 'User' }
  const assignment = `${subscription}/providers/Vendor.Authorization/roleAssignments/${nobody.id}`
  await t.call('PUT', assignment, { properties }, { version: '2022-04-01' })
  const as = { as: nobody }
  await refused(
    t.call('DELETE', group, undefined, { ...groups, ...as }),
    'AuthorizationFailed',
    403,
  )
  const denied = 'DenyAssignmentAuthorizationFailed'
  await refused(t.call('DELETE', vaultAt('there', other), undefined, vaults), denied, 403)
  // Who may manage them ends them so.
  assert.equal((await t.call('DELETE', group, undefined, groups)).status, 202)
  await gone(t, group)
  assert.equal((await t.call('DELETE', vaultAt('there', other), undefined, vaults)).status, 200)
  // A stack that denies nothing goes with its scope as anything else does.
  await t.call('PUT', group, { location: 'local' }, groups)
  await put(t, { resources: [] })
  assert.equal((await t.call('DELETE', group, undefined, { ...groups, ...as })).status, 202)
})

test('at a subscription: groups go with what the stack made in them, and stay where others are in them', async () => {
  await using t = await startDeployments()
  const path = `${subscription}/providers/Vendor.Resources/deploymentStacks/s`
  const schema = 'subscriptionDeploymentTemplate.json#'
  const made = (name: string): readonly object[] => [
    {
      type: 'Vendor.Resources/resourceGroups',
      apiVersion: '2021-04-01',
      name,
      location: 'local',
    },
    {
      type: 'Vendor.Resources/deployments',
      apiVersion: '2025-03-01',
      name: `in-${name}`,
      resourceGroup: name,
      dependsOn: [name],
      properties: { mode: 'Incremental', template: templateFor([vault(`of-${name}`)]) },
    },
  ]
  const wanted = { location: 'local', schema, groups: 'delete' } as const
  const first = await put(t, { ...wanted, resources: [...made('one'), ...made('two')] }, path)
  assert.equal(first.provisioningState, 'succeeded', JSON.stringify(first))
  assert.equal(first.resources.length, 4)
  const two = `${subscription}/resourceGroups/two`
  await t.call('PUT', vaultAt('other', two), { location: 'local' }, vaults)
  const kept = await put(t, { ...wanted, resources: made('one') }, path)
  assert.equal(kept.provisioningState, 'failed')
  assert.equal(kept.error?.code, 'DeploymentStackDeleteResourcesFailed')
  assert.deepEqual(
    kept.failedResources.map(({ id, error }) => [id, error.code]),
    [[two, 'DeploymentStackResourceGroupNotEmpty']],
  )
  assert.equal(await isThere(t, vaultAt('of-two', two)), false)
  assert.equal(await isThere(t, vaultAt('other', two)), true)
  await t.call('DELETE', vaultAt('other', two), undefined, vaults)
  const again = await put(t, { ...wanted, resources: made('one') }, path)
  assert.equal(again.provisioningState, 'succeeded', JSON.stringify(again))
  assert.equal(await isThere(t, two), false)
  const query = 'unmanageAction.Resources=delete&unmanageAction.ResourceGroups=delete'
  await t.call('DELETE', `${path}?${query}`, undefined, version)
  await gone(t, path)
  assert.equal(await isThere(t, `${subscription}/resourceGroups/one`), false)
})

test('at a management group: it deploys to a subscription, or there', async () => {
  await using t = await startDeployments()
  const above = '/providers/Vendor.Management/managementGroups/top'
  await t.call('PUT', above, {}, { version: '2020-05-01' })
  const path = `${above}/providers/Vendor.Resources/deploymentStacks/s`
  const schema = 'subscriptionDeploymentTemplate.json#'
  const resources = [
    {
      type: 'Vendor.Resources/resourceGroups',
      apiVersion: '2021-04-01',
      name: 'm',
      location: 'local',
    },
  ]
  const wanted = { resources, location: 'local', schema, deny: { mode: 'denyDelete' } }
  const body = { ...wanted, properties: { deploymentScope: subscription } }
  const shown = await put(t, body, path)
  assert.equal(shown.provisioningState, 'succeeded', JSON.stringify(shown))
  assert.ok(shown.deploymentId.startsWith(`${subscription}/providers/`))
  const made = `${subscription}/resourceGroups/m`
  await refused(t.call('DELETE', made, undefined, groups), 'DenyAssignmentAuthorizationFailed', 403)
  const below = {
    resources: [
      {
        type: 'Vendor.Management/managementGroups',
        apiVersion: '2020-05-01',
        name: 'low',
        scope: '/',
      },
    ],
    location: 'local',
    schema: 'managementGroupDeploymentTemplate.json#',
  }
  const own = `${above}/providers/Vendor.Resources/deploymentStacks/own`
  const second = await put(t, below, own)
  assert.equal(second.provisioningState, 'succeeded', JSON.stringify(second))
  await t.call('DELETE', `${own}?unmanageAction.ManagementGroups=delete`, undefined, version)
  await gone(t, own)
  assert.equal(await isThere(t, '/providers/Vendor.Management/managementGroups/low'), false)
})

test('what-if and validate say what would become of what is managed, and change nothing', async () => {
  await using t = await startDeployments()
  await put(t, { resources: [vault('a'), vault('b')], deny: { mode: 'denyDelete' } })
  const wanted = bodyOf({ resources: [vault('a'), vault('c')] })
  const { body } = await t.call('POST', `${stack}/whatIf`, wanted, version)
  const { properties } = JSON.parse(JSON.stringify(body))
  const changes = properties.changes.map((one: { resourceId: string; changeType: string }) => [
    one.resourceId,
    one.changeType,
  ])
  assert.deepEqual(changes, [
    [vaultAt('a'), 'NoChange'],
    [vaultAt('c'), 'Create'],
    [vaultAt('b'), 'Delete'],
  ])
  assert.deepEqual(properties.denySettingsChange, {
    before: { mode: 'denyDelete' },
    after: { mode: 'none' },
  })
  const checked = await t.call('POST', `${stack}/validate`, wanted, version)
  const { properties: valid } = JSON.parse(JSON.stringify(checked.body))
  assert.equal(valid.validatedResources.length, 2)
  assert.equal(await isThere(t, vaultAt('c')), false)
  assert.equal((await ended(t)).resources.length, 2)
})

test('a deployment that fails leaves everything managed, and nothing is removed', async () => {
  await using t = await startDeployments()
  await put(t, { resources: [vault('a'), vault('b')] })
  const failing = vault('d', { tags: { x: "[reference('c', '2026-01-01', 'Full').none]" } })
  const shown = await put(t, { resources: [vault('c'), { ...failing, dependsOn: ['c'] }] })
  assert.equal(shown.provisioningState, 'failed')
  assert.equal(shown.error?.code, 'DeploymentStackDeploymentFailed')
  assert.deepEqual(shown.resources.map(({ id }) => id).sort(), [
    vaultAt('a'),
    vaultAt('b'),
    vaultAt('c'),
  ])
  assert.deepEqual(shown.deletedResources, [])
  const mended = await put(t, { resources: [vault('c')] })
  assert.deepEqual(mended.deletedResources.map(({ id }) => id).sort(), [vaultAt('a'), vaultAt('b')])
})

test('what cannot be is refused before anything is made', async () => {
  await using t = await startDeployments()
  const wanted = { resources: [vault('a')] }
  const tenant = '/providers/Vendor.Resources/deploymentStacks/s'
  const body = bodyOf({ ...wanted, location: 'local' })
  await refused(t.call('PUT', tenant, body, version), 'InvalidDeploymentStackScope', 400)
  const outside = bodyOf({ ...wanted, properties: { deploymentScope: subscription } })
  await refused(t.call('PUT', stack, outside, version), 'InvalidDeploymentStackScope', 400)
  const contributor = { ...owner, id: '44444444-2222-4333-8444-555555555555' }
  const role = 'b24988ac-6180-42a0-ab88-20f7382dd24c'
  const assignment = `${subscription}/providers/Vendor.Authorization/roleAssignments/${contributor.id}`
  const properties = {
    principalId: contributor.id,
    roleDefinitionId: `${subscription}/providers/Vendor.Authorization/roleDefinitions/${role}`,
    principalType: 'User',
  }
  await t.call('PUT', assignment, { properties }, { version: '2022-04-01' })
  await t.call('PUT', group, { location: 'local' }, groups)
  const denying = bodyOf({ ...wanted, deny: { mode: 'denyDelete' } })
  const as = { ...version, as: contributor }
  await refused(t.call('PUT', stack, denying, as), 'LinkedAuthorizationFailed', 403)
  assert.equal((await t.call('PUT', stack, bodyOf(wanted), as)).status, 201)
  await ended(t)
  await put(t, { ...wanted, deny: { mode: 'denyDelete' } })
  // Whoever may not manage it can neither detach nor delete it.
  await refused(t.call('PUT', stack, bodyOf(wanted), as), 'LinkedAuthorizationFailed', 403)
  await refused(t.call('DELETE', stack, undefined, as), 'LinkedAuthorizationFailed', 403)
  const bad = t.call('DELETE', `${stack}?unmanageAction.Resources=burn`, undefined, version)
  await refused(bad, 'InvalidQueryParameter', 400)
})
