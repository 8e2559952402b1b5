/** Conditions as requests meet them, on a real plane and store: who may assign what, and what else they limit. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import type { Principal } from '#kernel/principal.ts'
import { nobody, owner } from '#plane/testing/start.ts'
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
  team,
} from '../../testing/installation.ts'
import { ownerRoleId } from './built-in-roles.ts'

const reader = 'acdd72a7-3385-48ef-bd42-f606fba81ae7'
const contributor = 'b24988ac-6180-42a0-ab88-20f7382dd24c'
const administrator = 'f58310d9-a9f6-439a-9e8d-f62e7b41a168'
const write = 'Vendor.Authorization/roleAssignments/write'
const remove = 'Vendor.Authorization/roleAssignments/delete'
const delegate: Principal = { ...nobody, id: '00000000-0000-4000-8000-0000000000de' }
const stranger = '00000000-0000-4000-8000-0000000000cc'

/** Only Reader, only to groups: the usual form, an action test joined with an attribute test. */
function onlyReaderToGroups(source: 'Request' | 'Resource', action: string): string {
  const attribute = (name: string): string =>
    `@${source}[Vendor.Authorization/roleAssignments:${name}]`
  return `((!(ActionMatches{'${action}'})) OR (${attribute('RoleDefinitionId')} ForAnyOfAnyValues:GuidEquals {${reader}} AND ${attribute('PrincipalType')} ForAnyOfAnyValues:StringEqualsIgnoreCase {'Group'}))`
}

const condition = `${onlyReaderToGroups('Request', write)} AND ${onlyReaderToGroups('Resource', remove)}`
const conditioned = { condition, conditionVersion: '2.0' }

async function withDelegate(extra: object = conditioned): Promise<{
  t: Installation
  own: string
}> {
  const t = await openInstallation()
  await t.call('PUT', group, { location: 'local' }, { version: '2021-04-01' })
  const own = at(group)
  await t.call('PUT', own, assignment(delegate.id, administrator, extra))
  return { t, own }
}

const toTeam = (extra: object = {}) =>
  assignment(team, reader, { principalType: 'Group', ...extra })
const as = { as: delegate }

describe('a delegate', () => {
  test('assigns and removes what the condition names, and sees what the role shows', async () => {
    const { t } = await withDelegate()
    await using _ = t
    const path = at(group)
    assert.equal((await t.call('PUT', path, toTeam(), as)).status, 201)
    assert.equal((await t.call('PUT', path, toTeam({ description: 'x' }), as)).status, 200)
    assert.equal((await t.call('GET', path, undefined, as)).status, 200)
    const list = await t.call('GET', `${group}/${authorization}/roleAssignments`, undefined, as)
    assert.equal(json(list).value.length, 3)
    assert.equal((await t.call('DELETE', path, undefined, as)).status, 200)
  })

  const forbidden: readonly (readonly [title: string, body: object])[] = [
    ['another role', assignment(team, contributor, { principalType: 'Group' })],
    ['Owner', assignment(team, ownerRoleId, { principalType: 'Group' })],
    ['another kind of principal', assignment(nobody.id, reader)],
    [
      'a kind that only the caller vouches for',
      assignment(stranger, reader, { principalType: 'Group' }),
    ],
    ['their own role to themselves', assignment(delegate.id, administrator)],
  ]
  for (const [title, body] of forbidden) {
    test(`is refused ${title}, as anybody is who may nothing, and nothing is written`, async () => {
      const { t } = await withDelegate()
      await using _ = t
      const path = at(group)
      await assert.rejects(t.call('PUT', path, body, as), (error) => {
        assert.ok(error instanceof ApiError)
        assert.equal(`${error.status} ${error.code}`, '403 AuthorizationFailed')
        assert.ok(error.message.includes(write) && error.message.includes(path))
        return true
      })
      await refused(t.call('GET', path), 'RoleAssignmentNotFound', 404)
    })
  }

  test('cannot change or remove an assignment that they could not have made', async () => {
    const { t, own } = await withDelegate()
    await using _ = t
    const owners = at(group)
    await t.call('PUT', owners, assignment(nobody.id, contributor))
    for (const path of [own, owners]) {
      // Requested as something allowed, and in its real form.
      await refused(t.call('PUT', path, toTeam(), as), 'AuthorizationFailed', 403)
      await refused(t.call('DELETE', path, undefined, as), 'AuthorizationFailed', 403)
    }
    const bare = assignment(delegate.id, administrator)
    await refused(t.call('PUT', own, bare, as), 'AuthorizationFailed', 403)
    assert.equal(json(await t.call('GET', own)).properties.condition, condition)
  })

  test('cannot act elsewhere, nor define roles', async () => {
    const { t } = await withDelegate()
    await using _ = t
    await refused(t.call('PUT', at(subscription), toTeam(), as), 'AuthorizationFailed', 403)
    const role = `${group}/${authorization}/roleDefinitions/${randomUUID()}`
    const body = {
      properties: {
        roleName: 'mine',
        permissions: [{ actions: ['*'] }],
        assignableScopes: [group],
      },
    }
    await refused(t.call('PUT', role, body, as), 'AuthorizationFailed', 403)
  })

  test('whose condition says nothing of roles still cannot take it off', async () => {
    const any = "@Request[Vendor.Authorization/roleAssignments:PrincipalType] StringNotEquals 'X'"
    const { t, own } = await withDelegate({
      condition: `!(ActionMatches{'${write}'}) OR Exists @Resource[Vendor.Authorization/roleAssignments:PrincipalId] OR ${any} OR 1 NumericEquals 1`,
      conditionVersion: '2.0',
    })
    await using _ = t
    const bare = assignment(delegate.id, administrator)
    await refused(t.call('PUT', own, bare, as), 'AuthorizationFailed', 403)
    await refused(
      t.call('PUT', at(group), assignment(delegate.id, ownerRoleId), as),
      'AuthorizationFailed',
      403,
    )
    t.groups.set(delegate.id, [team])
    t.moveDirectory()
    const toOwnGroup = assignment(team, ownerRoleId, { principalType: 'Group' })
    await refused(t.call('PUT', at(group), toOwnGroup, as), 'AuthorizationFailed', 403)
    assert.equal((await t.call('PUT', at(group), toTeam(), as)).status, 201)
  })

  test('passes no condition on a name by another spelling of it', async () => {
    const name = '5eed0000-0000-4000-8000-00000000abcd'
    const other = `@Resource[Vendor.Resources/resources:name] StringNotEquals '${name}'`
    const { t } = await withDelegate({ condition: other, conditionVersion: '2.0' })
    await using _ = t
    const path = `${group}/${authorization}/roleAssignments/`
    await t.call('PUT', `${path}${name}`, toTeam())
    for (const spelled of [name, name.toUpperCase()]) {
      const changed = toTeam({ description: spelled })
      await refused(t.call('PUT', `${path}${spelled}`, changed, as), 'AuthorizationFailed', 403)
      const removed = t.call('DELETE', `${path}${spelled}`, undefined, as)
      await refused(removed, 'AuthorizationFailed', 403)
    }
  })

  test('is unbound by another assignment that has no condition', async () => {
    const { t } = await withDelegate()
    await using _ = t
    await t.call('PUT', at(subscription), assignment(delegate.id, ownerRoleId))
    const path = at(group)
    const body = assignment(nobody.id, contributor)
    assert.equal((await t.call('PUT', path, body, as)).status, 201)
  })
})

describe('a condition', () => {
  test('that cannot be read is refused, with its place as data', async () => {
    await using t = await openInstallation()
    const body = assignment(nobody.id, reader, {
      condition: 'ActionMatches{\n  read}',
      conditionVersion: '2.0',
    })
    await assert.rejects(t.call('PUT', at(group), body), (error) => {
      assert.ok(error instanceof ApiError)
      assert.equal(`${error.status} ${error.code}`, '400 InvalidRoleAssignmentCondition')
      assert.match(error.message, /line 2, column 3: expected an action in quotes/)
      const [info] = error.extra.additionalInfo ?? []
      assert.deepEqual(info?.info, {
        line: 2,
        column: 3,
        position: 17,
        expected: 'an action in quotes',
        found: '"read"',
      })
      return true
    })
  })

  async function tagged(text: string, role: string): Promise<Installation> {
    const t = await openInstallation()
    for (const [name, env] of [
      ['dev', 'dev'],
      ['prod', 'prod'],
    ]) {
      const body = { location: 'West US', tags: { Env: env } }
      await t.call('PUT', `${subscription}/resourceGroups/${name}`, body, { version: '2021-04-01' })
    }
    const extra = { condition: text, conditionVersion: '2.0' }
    await t.call('PUT', at(subscription), assignment(nobody.id, role, extra))
    return t
  }
  const groups = 'Vendor.Resources/resourceGroups'
  const stranger = { as: nobody, version: '2021-04-01' }
  const dev = `${subscription}/resourceGroups/dev`
  const prod = `${subscription}/resourceGroups/prod`

  test('on tags of what is stored binds reads, and lists show nothing on its ground', async () => {
    await using t = await tagged(`@Resource[${groups}/tags:env] StringEquals 'dev'`, reader)
    assert.equal((await t.call('GET', dev, undefined, stranger)).status, 200)
    assert.equal((await t.call('HEAD', dev, undefined, stranger)).status, 204)
    await refused(t.call('GET', prod, undefined, stranger), 'AuthorizationFailed', 403)
    await refused(t.call('HEAD', prod, undefined, stranger), 'AuthorizationFailed', 403)
    const missing = `${subscription}/resourceGroups/none`
    await refused(t.call('GET', missing, undefined, stranger), 'AuthorizationFailed', 403)
    const list = `${subscription}/resourceGroups`
    await refused(t.call('GET', list, undefined, stranger), 'AuthorizationFailed', 403)
  })

  test('that excludes something shows no list either: what is listed might be excluded', async () => {
    await using t = await tagged(`!(@Resource[${groups}/tags:env] StringEquals 'prod')`, reader)
    assert.equal((await t.call('GET', dev, undefined, stranger)).status, 200)
    await refused(t.call('GET', prod, undefined, stranger), 'AuthorizationFailed', 403)
    const list = `${subscription}/resourceGroups`
    await refused(t.call('GET', list, undefined, stranger), 'AuthorizationFailed', 403)
  })

  test('on what is asked for binds PUT and PATCH, before and after', async () => {
    const only = `@Request[${groups}/tags:env] StringEquals 'dev' AND @Request[Vendor.Resources/resources:location] StringEquals 'westus'`
    await using t = await tagged(`!(ActionMatches{'*/write'}) OR (${only})`, contributor)
    const put = (name: string, body: object) =>
      t.call('PUT', `${subscription}/resourceGroups/${name}`, body, stranger)
    const tags = { env: 'dev' }
    assert.equal((await put('new', { location: 'west us', tags })).status, 201)
    await refused(put('other', { location: 'eastus', tags }), 'AuthorizationFailed', 403)
    await refused(put('other', { location: 'westus' }), 'AuthorizationFailed', 403)
    await refused(put('prod', { location: 'westus', tags }), 'AuthorizationFailed', 403)
    const patch = (path: string, body: object) => t.call('PATCH', path, body, stranger)
    assert.equal((await patch(dev, { tags: { env: 'dev', a: 'b' } })).status, 200)
    await refused(patch(dev, { tags: { env: 'prod' } }), 'AuthorizationFailed', 403)
    await refused(patch(prod, { tags }), 'AuthorizationFailed', 403)
    // The message about a wrong body reveals nothing of the existing resource.
    const wrong = { tags, location: 'elsewhere', properties: { provisioningState: 'x' } }
    await refused(patch(prod, wrong), 'AuthorizationFailed', 403)
    await refused(put('prod', wrong), 'AuthorizationFailed', 403)
    // An action that the condition does not mention is allowed, including lists.
    assert.equal((await t.call('GET', prod, undefined, stranger)).status, 200)
    const list = await t.call('GET', `${subscription}/resourceGroups`, undefined, stranger)
    assert.equal(json(list).value.length, 3)
  })

  test('binds DELETE and POST, and preconditions tell nothing ahead of it', async () => {
    const text = `@Resource[${groups}/tags:env] StringEquals 'dev'`
    await using t = await tagged(text, contributor)
    const stale = { ...stranger, ifMatch: '"stale"' }
    await refused(t.call('DELETE', prod, undefined, stale), 'AuthorizationFailed', 403)
    await refused(t.call('DELETE', dev, undefined, stale), 'PreconditionFailed', 412)
    assert.equal((await t.call('DELETE', dev, undefined, stranger)).status, 202)
    const rename = t.call(
      'POST',
      `${subscription}/rename`,
      { subscriptionName: 'x' },
      { as: nobody, version: '2020-01-01' },
    )
    await refused(rename, 'AuthorizationFailed', 403)
  })

  test('on the time holds while it lasts', async () => {
    const past = "@Environment[UtcNow] DateTimeLessThan '2020-01-01T00:00:00.0Z'"
    await using t = await tagged(past, reader)
    await refused(t.call('GET', dev, undefined, stranger), 'AuthorizationFailed', 403)
    await using later = await tagged(`!(${past})`, reader)
    assert.equal((await later.call('GET', dev, undefined, stranger)).status, 200)
    const list = `${subscription}/resourceGroups`
    assert.equal((await later.call('GET', list, undefined, stranger)).status, 200)
    assert.equal((await later.call('GET', list, undefined, { ...stranger, as: owner })).status, 200)
  })
})
