import assert from 'node:assert/strict'
import { test } from 'node:test'
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
} from '../../../testing/installation.ts'
import { everybody } from './model.ts'

const contributor = 'b24988ac-6180-42a0-ab88-20f7382dd24c'
const version = '2022-04-01'
const groups = { version: '2021-04-01' }
const identities = { version: '2023-01-31' }
const name = 'dddddddd-0000-4000-8000-000000000001'
const denied = 'DenyAssignmentAuthorizationFailed'

const identity = `${group}/providers/Vendor.ManagedIdentity/userAssignedIdentities/worker`

function denialAt(scope: string): string {
  return `${scope}/${authorization}/denyAssignments/${name}`
}

function denial(actions: readonly string[], extra: object = {}): object {
  return {
    properties: {
      denyAssignmentName: 'held by a stack',
      permissions: [{ actions }],
      principals: [{ id: everybody, type: 'SystemDefined' }],
      ...extra,
    },
  }
}

async function open(): Promise<Installation> {
  const t = await openInstallation()
  await t.call('PUT', group, { location: 'local' }, groups)
  await t.call('PUT', identity, { location: 'local' }, identities)
  await t.settle()
  return t
}

test('what is denied is refused to owners, whatever leads to it; the rest goes on', async () => {
  await using t = await open()
  const { storeAsSystem } = t.plane.services
  await storeAsSystem(denialAt(identity), version, denial(['*/delete']))
  await refused(t.call('DELETE', identity, undefined, identities), denied, 403)
  // Together with the resource that contains it.
  await refused(t.call('DELETE', group, undefined, groups), denied, 403)
  assert.equal((await t.call('PATCH', identity, { tags: { a: 'b' } }, identities)).status, 200)
  await storeAsSystem(denialAt(identity), version, denial(['*/write', '*/delete']))
  const patch = t.call('PATCH', identity, { tags: { a: 'c' } }, identities)
  await assert.rejects(patch, /held by a stack/)
  // Whoever has no right at all learns nothing.
  const stranger = t.call('DELETE', identity, undefined, { ...identities, as: nobody })
  await refused(stranger, 'AuthorizationFailed', 403)
  await storeAsSystem(denialAt(identity), version, undefined)
  await storeAsSystem(denialAt(identity), version, undefined)
  assert.equal((await t.call('DELETE', group, undefined, groups)).status, 202)
})

test('one for its scope alone reaches nothing below; excluded principals and groups are let through', async () => {
  await using t = await open()
  const { storeAsSystem } = t.plane.services
  const only = denial(['*/write'], { doNotApplyToChildScopes: true })
  await storeAsSystem(denialAt(group), version, only)
  await refused(t.call('PATCH', group, { tags: { a: 'b' } }, groups), denied, 403)
  assert.equal((await t.call('PATCH', identity, { tags: { a: 'b' } }, identities)).status, 200)
  const without = { excludePrincipals: [{ id: team, type: 'Group' }] }
  await storeAsSystem(denialAt(group), version, denial(['*/write'], without))
  await refused(t.call('PATCH', identity, { tags: { a: 'c' } }, identities), denied, 403)
  t.groups.set(owner.id, [team])
  t.moveDirectory()
  assert.equal((await t.call('PATCH', identity, { tags: { a: 'c' } }, identities)).status, 200)
})

test('callers read, list and filter them, and neither write nor remove them', async () => {
  await using t = await open()
  await t.plane.services.storeAsSystem(denialAt(group), version, denial(['*/delete']))
  const shown = json(await t.call('GET', denialAt(group)))
  assert.equal(shown.type, 'Vendor.Authorization/denyAssignments')
  assert.equal(shown.properties.scope, group)
  assert.equal(shown.properties.isSystemProtected, true)
  assert.deepEqual(shown.properties.principals, [
    { id: everybody, type: 'SystemDefined', displayName: 'All Principals' },
  ])
  const list = async (scope: string, filter = '') =>
    json(
      await t.call(
        'GET',
        `${scope}/${authorization}/denyAssignments?$filter=${encodeURIComponent(filter)}`,
      ),
    ).value.length
  assert.equal(await list(subscription), 1)
  assert.equal(await list(subscription, 'atScope()'), 0)
  assert.equal(await list(identity, 'atScope()'), 1)
  assert.equal(await list(group, "denyAssignmentName eq 'Held by a stack'"), 1)
  assert.equal(await list(group, `principalId eq '${owner.id}'`), 0)
  assert.equal(await list(group, `assignedTo('${owner.id}')`), 1)
  await refused(t.call('PUT', denialAt(group), denial(['*/delete'])), 'MethodNotAllowed', 405)
  await refused(t.call('DELETE', denialAt(group)), 'MethodNotAllowed', 405)
})

test('checkAccess says which one denies, and what would have allowed it', async () => {
  await using t = await open()
  await t.plane.services.storeAsSystem(denialAt(group), version, denial(['*/delete']))
  const action = 'Vendor.ManagedIdentity/userAssignedIdentities/delete'
  const body = { principalId: nobody.id, actions: [action] }
  const path = `${identity}/${authorization}/checkAccess`
  const own = async () =>
    json(await t.call('POST', path, { actions: [action] }, { as: nobody })).value[0]
  // To oneself it is told only with a role there: it names what is protected, and by what.
  assert.deepEqual(await own(), { action, accessDecision: 'NotAllowed', nearest: [] })
  await t.call('PUT', at(group), assignment(nobody.id, contributor))
  assert.equal((await own()).denyAssignment.denyAssignmentName, 'held by a stack')
  const [one] = json(await t.call('POST', path, body)).value
  assert.equal(one.accessDecision, 'NotAllowed')
  assert.equal(one.denyAssignment.denyAssignmentName, 'held by a stack')
  assert.equal(one.nearest[0].reason, 'Granted')
})

test('a page of large ones ends with its bytes, and goes on behind it', async () => {
  await using t = await open()
  const notActions = Array.from({ length: 200 }, (_, at) => `${at}/`.padEnd(512, 'x'))
  const names = ['a', 'b', 'c', 'd'].map((one) => name.replace('dddddddd', one.repeat(8)))
  for (const scope of [group, identity, subscription, group, identity]) {
    for (const one of names) {
      const path = `${scope}/${authorization}/denyAssignments/${one}`
      const permissions = Array.from({ length: 3 }, () => ({ actions: ['*/delete'], notActions }))
      await t.plane.services.storeAsSystem(path, version, denial([], { permissions }))
    }
  }
  const shown: string[] = []
  let token: string | undefined = ''
  let pages = 0
  do {
    const query = token === '' ? '' : `&$skiptoken=${encodeURIComponent(token)}`
    const path = `${subscription}/${authorization}/denyAssignments?$top=1000${query}`
    const { body, nextToken } = await t.call('GET', path)
    const text = JSON.stringify(body)
    assert.ok(text.length < 3 * 1024 * 1024, `${text.length} characters in one page`)
    for (const { id } of JSON.parse(text).value) shown.push(id)
    token = nextToken
    pages++
  } while (token !== undefined)
  assert.equal(new Set(shown).size, 12)
  assert.equal(shown.length, 12)
  assert.ok(pages > 1)
})
