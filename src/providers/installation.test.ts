/** The two providers together on a real plane, store and authorizer, as a request sees them. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import type { Principal } from '#kernel/principal.ts'
import { nobody, owner } from '#plane/testing/start.ts'
import { ownerRoleId } from './authorization/domain/built-in-roles.ts'
import {
  assignment,
  at,
  authorization,
  group,
  json,
  openInstallation as open,
  refused,
  subscription,
  team,
  version,
} from './testing/installation.ts'

const reader = 'acdd72a7-3385-48ef-bd42-f606fba81ae7'

describe('role assignments', () => {
  test('201, then 200; only description and condition change; what is identical writes nothing', async () => {
    await using t = await open()
    const path = at(group)
    const made = await t.call('PUT', path, assignment(nobody.id, reader))
    assert.equal(made.status, 201)
    assert.equal(json(made).properties.scope, group)
    assert.equal(
      json(made).properties.roleDefinitionId,
      `/${authorization}/roleDefinitions/${reader}`,
    )
    const again = await t.call('PUT', path, assignment(nobody.id, reader))
    assert.equal(again.status, 200)
    assert.deepEqual(json(again), json(made))
    const changed = await t.call('PUT', path, assignment(nobody.id, reader, { description: 'x' }))
    assert.equal(json(changed).properties.description, 'x')
    const other = assignment(nobody.id, ownerRoleId)
    await refused(t.call('PUT', path, other), 'RoleAssignmentUpdateNotPermitted', 400)
    const deleted = await t.call('DELETE', path)
    assert.equal(deleted.status, 200)
    assert.equal(json(deleted).id, path)
    assert.equal((await t.call('DELETE', path)).status, 204)
    await refused(t.call('GET', path), 'RoleAssignmentNotFound', 404)
  })

  test('refuse the same triple under another name, and name the existing one', async () => {
    await using t = await open()
    const path = at(group)
    await t.call('PUT', path, assignment(nobody.id, reader))
    await assert.rejects(t.call('PUT', at(group), assignment(nobody.id, reader)), (error) => {
      assert.ok(error instanceof ApiError)
      assert.equal(error.code, 'RoleAssignmentExists')
      assert.equal(error.status, 409)
      assert.ok(error.message.includes(path), error.message)
      return true
    })
    // Another scope is another triple.
    assert.equal((await t.call('PUT', at(subscription), assignment(nobody.id, reader))).status, 201)
  })

  test('refuse a name that is no GUID, on PUT and on DELETE', async () => {
    await using t = await open()
    const path = at(group, 'reader')
    const body = assignment(nobody.id, reader)
    await refused(t.call('PUT', path, body), 'InvalidRoleAssignmentId', 400)
    await refused(t.call('DELETE', path), 'InvalidRoleAssignmentId', 400)
  })

  test('are enforced at the next request, here and not elsewhere', async () => {
    await using t = await open()
    await t.call('PUT', group, { location: 'local' }, { version: '2021-04-01' })
    const read = () => t.call('GET', group, undefined, { version: '2021-04-01', as: nobody })
    await refused(read(), 'AuthorizationFailed', 403)
    const path = at(group)
    await t.call('PUT', path, assignment(nobody.id, reader))
    assert.equal((await read()).status, 200)
    const stranger = { version: '2021-04-01', as: nobody }
    await refused(t.call('PUT', group, { location: 'local' }, stranger), 'AuthorizationFailed', 403)
    await refused(t.call('GET', `${group}2`, undefined, stranger), 'AuthorizationFailed', 403)
    await t.call('DELETE', path)
    await refused(read(), 'AuthorizationFailed', 403)
    await t.call('PUT', path, assignment(team, reader, { principalType: 'Group' }))
    await refused(read(), 'AuthorizationFailed', 403)
    t.groups.set(nobody.id, [team])
    t.moveDirectory()
    assert.equal((await read()).status, 200)
  })

  test('with a condition grant nothing', async () => {
    await using t = await open()
    await t.call('PUT', group, { location: 'local' }, { version: '2021-04-01' })
    const conditioned = {
      condition: "@Resource[Vendor.X/y:a] StringEquals 'b'",
      conditionVersion: '2.0',
    }
    await t.call('PUT', at(group), assignment(nobody.id, ownerRoleId, conditioned))
    const read = t.call('GET', group, undefined, { version: '2021-04-01', as: nobody })
    await refused(read, 'AuthorizationFailed', 403)
  })
})

describe('principals', () => {
  const body = (principalId: string) => ({
    properties: {
      principalId,
      roleDefinitionId: `/${authorization}/roleDefinitions/${reader}`,
    },
  })

  test('get the type the directory knows', async () => {
    await using t = await open()
    const made = await t.call('PUT', at(group), body(team))
    assert.equal(json(made).properties.principalType, 'Group')
  })

  test('must exist unless their type is given, and the type must be theirs', async () => {
    await using t = await open()
    await refused(t.call('PUT', at(group), body(nobody.id)), 'PrincipalNotFound', 400)
    const both = { properties: { principalId: nobody.id, roleDefinitionId: owner.id } }
    await assert.rejects(t.call('PUT', at(group), both), (error: ApiError) => {
      const codes = (error.extra.details ?? []).map(({ code }) => code)
      assert.deepEqual(codes, ['PrincipalNotFound', 'BadRequestFormat'])
      return true
    })
    await refused(t.call('PUT', at(group), assignment(team, reader)), 'UnmatchedPrincipalType', 400)
    assert.equal((await t.call('PUT', at(group), assignment(nobody.id, reader))).status, 201)
  })
})

describe('role definitions', () => {
  const name = '44444444-4444-4444-8444-444444444444'
  const rolePath = (scope: string, guid = name): string =>
    `${scope}/${authorization}/roleDefinitions/${guid}`
  const definition = (assignableScopes: readonly string[], actions: readonly string[]) => ({
    properties: { roleName: 'Group reader', permissions: [{ actions }], assignableScopes },
  })
  const groupsRead = ['Vendor.Resources/subscriptions/resourceGroups/read']

  test('custom ones grant what they list, change at once, and stay while they are in use', async () => {
    await using t = await open()
    await t.call('PUT', group, { location: 'local' }, { version: '2021-04-01' })
    const made = await t.call('PUT', rolePath(''), definition([group], groupsRead))
    assert.equal(made.status, 201)
    assert.equal(json(made).properties.type, 'CustomRole')
    const path = at(group)
    await t.call('PUT', path, assignment(nobody.id, name))
    const read = () => t.call('GET', group, undefined, { version: '2021-04-01', as: nobody })
    assert.equal((await read()).status, 200)
    await t.call('PUT', rolePath(''), definition([group], ['Vendor.X/things/read']))
    await refused(read(), 'AuthorizationFailed', 403)
    await refused(t.call('DELETE', rolePath('')), 'RoleDefinitionHasAssignments', 400)
    const elsewhere = t.call('PUT', at(subscription), assignment(nobody.id, name))
    await refused(elsewhere, 'ScopeDoesNotMatchRoleDefinition', 400)
    await t.call('DELETE', path)
    assert.equal((await t.call('DELETE', rolePath(''))).status, 200)
    assert.equal((await t.call('DELETE', rolePath(''))).status, 204)
    await refused(t.call('GET', rolePath('')), 'RoleDefinitionDoesNotExist', 404)
  })

  test('two with one name are refused, and so is a name of a built-in one', async () => {
    await using t = await open()
    await t.call('PUT', rolePath(''), definition([group], groupsRead))
    const twin = t.call('PUT', rolePath('', team), definition([group], groupsRead))
    await refused(twin, 'RoleDefinitionWithSameNameExists', 409)
  })

  test('built-in ones are read at any scope and written at none', async () => {
    await using t = await open()
    const shown = await t.call('GET', rolePath(group, reader))
    assert.equal(json(shown).id, rolePath('', reader))
    const change = t.call('PUT', rolePath('', reader), definition(['/'], ['*']))
    await refused(change, 'RoleDefinitionUpdateNotPermitted', 403)
    await refused(t.call('DELETE', rolePath('', reader)), 'RoleDefinitionUpdateNotPermitted', 403)
  })

  test('one row for all scopes; who writes at one scope reaches no role beyond it', async () => {
    await using t = await open()
    const made = await t.call('PUT', rolePath(group), definition([group], groupsRead))
    assert.equal(json(made).id, rolePath(''))
    assert.equal((await t.call('GET', rolePath(''))).status, 200)
    assert.equal((await t.call('GET', rolePath(subscription))).status, 200)
    await refused(t.call('GET', rolePath(`${group}2`)), 'RoleDefinitionDoesNotExist', 404)
    const wider = definition([group, subscription], ['*'])
    await refused(t.call('PUT', rolePath(group), wider), 'RoleDefinitionScopeNotPermitted', 403)
    const other = `${subscription}/resourceGroups/other`
    const foreign = t.call('PUT', rolePath(other), definition([other], ['*']))
    await refused(foreign, 'RoleDefinitionScopeNotPermitted', 403)
    await refused(t.call('DELETE', rolePath(other)), 'RoleDefinitionScopeNotPermitted', 403)
    assert.equal((await t.call('PUT', at(group), assignment(nobody.id, name))).status, 201)
  })
})

describe('subscriptions and groups', () => {
  test('the list of subscriptions holds what the caller may read', async () => {
    await using t = await open()
    await t.call('PUT', subscription, { displayName: 'One' }, { version: '2020-01-01' })
    const list = async (as: Principal) =>
      json(await t.call('GET', '/subscriptions', undefined, { version: '2019-11-01', as })).value
    assert.equal((await list(owner)).length, 1)
    assert.deepEqual(await list(nobody), [])
    await t.call('PUT', at(subscription), assignment(nobody.id, reader))
    assert.equal((await list(nobody))[0].displayName, 'One')
  })

  test('who has a role at one group finds it by the lists, and nothing else; a stranger is refused', async () => {
    await using t = await open()
    await t.call('PUT', subscription, { displayName: 'One' }, { version: '2020-01-01' })
    for (const id of [group, `${group}-other`]) {
      await t.call('PUT', id, { location: 'local' }, { version: '2021-04-01' })
    }
    const groups = `${subscription}/resourceGroups`
    const list = async (path: string, version = '2021-04-01') =>
      json(await t.call('GET', path, undefined, { version, as: nobody })).value
    await refused(list(groups), 'AuthorizationFailed', 403)
    await t.call('PUT', at(group), assignment(nobody.id, reader))
    assert.equal((await list('/subscriptions', '2019-11-01'))[0].displayName, 'One')
    assert.deepEqual(
      (await list(groups)).map(({ id }: { readonly id: string }) => id),
      [group],
    )
    const other = t.call('GET', `${group}-other`, undefined, { version: '2021-04-01', as: nobody })
    await refused(other, 'AuthorizationFailed', 403)
    const itself = t.call('GET', subscription, undefined, { version: '2020-01-01', as: nobody })
    await refused(itself, 'AuthorizationFailed', 403)
  })

  test('a cancelled subscription is read-only until it is enabled', async () => {
    await using t = await open()
    await t.call('PUT', subscription, { displayName: 'One' }, { version: '2020-01-01' })
    const act = (name: string, body?: object) =>
      t.call('POST', `${subscription}/${name}`, body, { version: '2020-01-01' })
    await act('cancel')
    const put = () => t.call('PUT', group, { location: 'local' }, { version: '2021-04-01' })
    await refused(put(), 'ReadOnlyDisabledSubscription', 409)
    await act('rename', { subscriptionName: 'Two' })
    const shown = await t.call('GET', subscription, undefined, { version: '2020-01-01' })
    assert.equal(json(shown).state, 'Disabled')
    assert.equal(json(shown).displayName, 'Two')
    await act('enable')
    assert.equal((await put()).status, 201)
    const patch = { tags: { a: 'b' } }
    const patched = await t.call('PATCH', subscription, patch, { version: '2020-01-01' })
    assert.deepEqual(json(patched).tags, patch.tags)
  })

  test('deleting a group takes what is in it along', async () => {
    await using t = await open()
    const options = { version: '2021-04-01' }
    const put = await t.call('PUT', group, { location: 'West US' }, options)
    assert.equal(put.status, 201)
    assert.equal(put.operation, undefined)
    assert.equal(json(put).type, 'Vendor.Resources/resourceGroups')
    await refused(
      t.call('PUT', group, { location: 'eastus' }, options),
      'InvalidResourceGroupLocation',
      409,
    )
    const names = Array.from({ length: 30 }, () => at(group))
    for (const [index, path] of names.entries()) {
      const principal = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`
      await t.call('PUT', path, assignment(principal, reader))
    }
    const deleted = await t.call('DELETE', group, undefined, options)
    assert.equal(deleted.status, 202)
    await t.settle()
    await refused(t.call('GET', group, undefined, options), 'ResourceGroupNotFound', 404)
    for (const path of names) await refused(t.call('GET', path), 'ResourceGroupNotFound', 404)
  })

  test('computed lists answer', async () => {
    await using t = await open()
    await t.call('PUT', group, { location: 'local' }, { version: '2021-04-01' })
    const count = async (path: string, date: string) =>
      json(await t.call('GET', path, undefined, { version: date })).value.length
    assert.equal(await count('/tenants', '2020-01-01'), 1)
    assert.ok((await count(`${subscription}/locations`, '2022-12-01')) > 5)
    assert.ok((await count('/providers', '2021-04-01')) >= 2)
    assert.ok((await count(`${subscription}/providers`, '2021-04-01')) >= 2)
    assert.equal(await count(`${subscription}/resources`, '2021-04-01'), 0)
    assert.equal(await count(`${group}/resources`, '2021-04-01'), 0)
    assert.equal(await count(`${subscription}/resourcegroups`, '2021-04-01'), 1)
    assert.ok((await count(`${group}/${authorization}/roleDefinitions`, version)) > 20)
    const one = await t.call('GET', '/providers/vendor.authorization', undefined, {
      version: '2021-04-01',
    })
    assert.equal(json(one).namespace, 'Vendor.Authorization')
    const register = `${subscription}/providers/Vendor.Authorization/register`
    const registered = await t.call('POST', register, undefined, { version: '2021-04-01' })
    assert.equal(json(registered).registrationState, 'Registered')
    const missing = '/subscriptions/99999999-9999-4999-8999-999999999999/locations'
    await refused(
      t.call('GET', missing, undefined, { version: '2022-12-01' }),
      'SubscriptionNotFound',
      404,
    )
  })
})

test('lists of what is not here are empty for whoever may read there, and take nothing', async () => {
  await using t = await open()
  await t.call('PUT', group, { location: 'local' }, { version: '2021-04-01' })
  const lists = [
    ...[subscription, group].map((scope) => `${scope}/${authorization}/policyAssignments`),
    `${group}/${authorization}/roleManagementPolicyAssignments`,
    `${subscription}/providers/Vendor.Features/features`,
  ]
  for (const list of lists) {
    const usual = list.includes('Features') ? '2021-07-01' : '2021-06-01'
    const versioned = { version: list.includes('roleManagement') ? '2020-10-01' : usual }
    assert.deepEqual(json(await t.call('GET', list, undefined, versioned)), { value: [] })
    await refused(t.call('GET', `${list}/one`, undefined, versioned), 'ResourceNotFound', 404)
    await refused(t.call('PUT', `${list}/one`, {}, versioned), 'NotImplemented', 501)
    await refused(
      t.call('GET', list, undefined, { ...versioned, as: nobody }),
      'AuthorizationFailed',
      403,
    )
  }
})
