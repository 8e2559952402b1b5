import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contractWords } from '#kernel/vendor.ts'
import type { Resource } from '#plane/declare/resource.ts'
import type { RuleContext } from '#plane/declare/stored.ts'
import {
  askedAt,
  createMemoryReader,
  idOf,
  type MemoryReader,
  sampleContext,
} from '../../../testing/memory-reader.ts'
import { builtInRoles, ownerRoleId } from '../../domain/built-in-roles.ts'
import { createGrantIndex } from '../../domain/grant-index.ts'
import { defaultAuthorizationLimits } from '../../domain/limits.ts'
import { roleDefinitionSource } from './list.ts'
import { type RoleDefinition, sizeOfRole, subscriptionOfRole } from './model.ts'
import { isActionPattern, roleDefinitionRules, roleDeletionRules } from './rules.ts'
import { v2022_04_01 } from './versions/2022-04-01.ts'

const sub = '/subscriptions/11111111-1111-4111-8111-111111111111'
const other = '/subscriptions/22222222-2222-4222-8222-222222222222'
const name = '44444444-4444-4444-8444-444444444444'
const builtIns = builtInRoles(contractWords)
const rolePath = (guid: string, scope = ''): string =>
  `${scope}/providers/Vendor.Authorization/roleDefinitions/${guid}`

function role(properties: Partial<RoleDefinition> = {}): RoleDefinition {
  const permission = { actions: ['*/read'], notActions: [], dataActions: [], notDataActions: [] }
  return {
    roleName: 'Restarter',
    description: '',
    kind: 'CustomRole',
    assignableScopes: [sub],
    permissions: [permission],
    ...properties,
  }
}

function problems(
  desired: RoleDefinition,
  options: {
    requested?: string
    guid?: string
    previous?: RoleDefinition
    reader?: MemoryReader
    customRolesMax?: number
    /** Of all other roles, and of those of the subscription. */
    sizeOfOthers?: readonly [all: number, ofSubscription: number]
    /** What contains a scope by placement. */
    places?: readonly string[]
  } = {},
) {
  const { places = [] } = options
  const reader = options.reader ?? createMemoryReader()
  const guid = options.guid ?? name
  const context: RuleContext<RoleDefinition> = {
    ...sampleContext(reader),
    ...{ id: idOf(rolePath(guid)), requested: idOf(rolePath(guid, options.requested ?? sub)) },
    desired,
    previous: options.previous,
    location: undefined,
    tags: undefined,
  }
  const { customRolesMax = 5000 } = options
  const limits = { ...defaultAuthorizationLimits, customRolesMax }
  return roleDefinitionRules(context, {
    builtIns,
    limits,
    placesAbove: () => places,
    assignmentsOf: () =>
      options.sizeOfOthers === undefined
        ? undefined
        : {
            keys: new Set(),
            position: 1,
            sizeOfOthers: (subscription) =>
              options.sizeOfOthers?.[subscription === undefined ? 0 : 1] ?? 0,
          },
  })
}

const permit = (...actions: string[]): Pick<RoleDefinition, 'permissions'> => ({
  permissions: [{ actions, notActions: [], dataActions: [], notDataActions: [] }],
})

const cases: readonly [title: string, desired: RoleDefinition, paths: readonly string[]][] = [
  ['a plain one', role(), []],
  ['assignable in a group below', role({ assignableScopes: [`${sub}/resourceGroups/a`] }), []],
  ['no assignable scope', role({ assignableScopes: [] }), ['properties.assignableScopes']],
  [
    'a malformed scope',
    role({ assignableScopes: ['x', `${sub}/`] }),
    ['properties.assignableScopes[0]', 'properties.assignableScopes[1]'],
  ],
  ['the name of a built-in role', role({ roleName: 'OWNER' }), ['properties.roleName']],
  ['a blank name', role({ roleName: '  ' }), ['properties.roleName']],
  [
    'a malformed action',
    role(permit('V.X/things/read', 'read things')),
    ['properties.permissions[0].actions[1]'],
  ],
  [
    'more malformed actions than a role has',
    role(permit(...Array.from({ length: 2_049 }, () => 'a'))),
    ['properties.permissions'],
  ],
  [
    'more permissions than a role has actions, with nothing in them',
    role({ permissions: Array.from({ length: 2_049 }, () => permit().permissions).flat() }),
    ['properties.permissions'],
  ],
]
for (const [title, desired, paths] of cases) {
  test(`a custom role: ${title}`, async () => {
    assert.deepEqual(
      (await problems(desired)).map((problem) => problem.path),
      paths,
    )
  })
}

const patterns: readonly [text: string, valid: boolean][] = [
  ['*', true],
  ['*/read', true],
  ['Vendor.X/*', true],
  ['Vendor.X/things/read', true],
  ['Vendor.X/register/action', true],
  ['Vendor.X/things/parts/*/write', true],
  ['Vendor.X/thing*/read', true],
  ['', false],
  ['read', false],
  ['Vendor.X/read', false],
  ['Vendor.X/things/frobnicate', false],
  ['Vendor.X//read', false],
  ['/Vendor.X/things/read', false],
  ['Vendor.X/things/read ', false],
]
for (const [text, valid] of patterns) {
  test(`'${text}' is ${valid ? 'an' : 'no'} action`, () => {
    assert.equal(isActionPattern(text), valid)
  })
}

const sourceOf = (limits: typeof defaultAuthorizationLimits) =>
  roleDefinitionSource({ builtIns, limits, placesAbove: () => [] })

test('a role is written only at a scope that contains all it reaches, now and before', async () => {
  const reaching = role({ assignableScopes: [sub, other] })
  const refusal = { code: 'RoleDefinitionScopeNotPermitted', status: 403 }
  await assert.rejects(problems(reaching, { requested: sub }), refusal)
  await assert.rejects(problems(role(), { requested: sub, previous: reaching }), refusal)
  assert.deepEqual(await problems(reaching, { requested: '' }), [])
})

test('a built-in role is neither changed nor deleted', async () => {
  const refusal = { code: 'RoleDefinitionUpdateNotPermitted' }
  await assert.rejects(problems(role(), { guid: ownerRoleId.toUpperCase() }), refusal)
  const id = idOf(rolePath(ownerRoleId))
  const context = { ...sampleContext(createMemoryReader()), id, resource: undefined }
  await assert.rejects(
    roleDeletionRules(context, { builtIns, assignmentsOf: () => undefined }),
    refusal,
  )
})

test('so many custom roles and no more; changing one is not adding one', async () => {
  const reader = createMemoryReader()
  reader.put(rolePath(name), role())
  const full = await problems(role(), { reader, customRolesMax: 1 })
  assert.deepEqual(
    full.map((problem) => problem.code),
    ['RoleDefinitionLimitExceeded'],
  )
  assert.deepEqual(await problems(role(), { reader, customRolesMax: 1, previous: role() }), [])
})

test('a role in use is not deleted, whether an index or the rows know it', async () => {
  const reader = createMemoryReader()
  // The row was just created with this model.
  const resource = reader.put(rolePath(name), role()) as Resource<RoleDefinition>
  const context = { ...sampleContext(reader), resource, requested: idOf(rolePath(name, sub)) }
  const refusal = { code: 'RoleDefinitionHasAssignments', status: 400 }
  const assignment = `${sub}/providers/Vendor.Authorization/roleAssignments/${name}`
  const unknown = { builtIns, assignmentsOf: () => undefined }
  const knows = (keys: readonly string[], position = reader.feed.position()) => ({
    builtIns,
    assignmentsOf: () => ({ keys: new Set(keys), position, sizeOfOthers: () => 0 }),
  })
  await roleDeletionRules(context, unknown)
  reader.put(assignment, { roleId: name })
  const { rowsRead } = reader
  await assert.rejects(roleDeletionRules(context, knows([assignment.toLowerCase()])), refusal)
  // An index that has seen everything is believed, and no assignment is read.
  await roleDeletionRules(context, knows([]))
  await roleDeletionRules(context, knows([`${assignment.toLowerCase()}0`]))
  assert.equal(reader.rowsRead, rowsRead)
  // One that lags behind is not.
  for (const index of [unknown, knows([], reader.feed.position() - 1)]) {
    await assert.rejects(roleDeletionRules(context, index), refusal)
  }
  const elsewhere = { ...context, requested: idOf(rolePath(name, other)) }
  await assert.rejects(roleDeletionRules(elsewhere, unknown), {
    code: 'RoleDefinitionScopeNotPermitted',
  })
})

test('a role keeps assignable what it is assigned at, and is not changed while it is assigned elsewhere', async () => {
  const reader = createMemoryReader()
  const both = role({ assignableScopes: [sub, other] })
  const narrow = role({ assignableScopes: [sub] })
  reader.put(`${other}/providers/Vendor.Authorization/roleAssignments/${name}`, { roleId: name })
  assert.deepEqual(await problems(both, { reader, requested: '', previous: both }), [])
  const refusal = { code: 'RoleDefinitionHasAssignments', status: 400 }
  await assert.rejects(problems(narrow, { reader, requested: '', previous: both }), refusal)
  // A management group contains the other by placement, until it is moved.
  const group = '/providers/Vendor.Management/managementGroups/g'
  const of = role({ assignableScopes: [group] })
  const above = { reader, requested: group, previous: of }
  assert.deepEqual(await problems(of, { ...above, places: [group.toLowerCase()] }), [])
  await assert.rejects(problems(of, above), refusal)
  // Narrowed by an earlier version: whoever may write it at its scope would change what it gives elsewhere.
  await assert.rejects(problems(narrow, { reader, requested: sub, previous: narrow }), refusal)
})

interface Shown {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly properties: { readonly roleName: string; readonly type: string }
}

async function list(reader: MemoryReader, parent: string, filter = '', limit = 7) {
  const source = sourceOf({ ...defaultAuthorizationLimits, scanRowsMax: 3 })
  const found: Shown[] = []
  let cursor: string | undefined
  do {
    const page = await source.list?.({
      ...sampleContext(reader),
      parent: idOf(parent),
      query: new URLSearchParams(filter === '' ? {} : { $filter: filter }),
      limit,
      cursor,
    })
    assert.ok(page !== undefined && page.items.length <= limit)
    // The source shows only role definitions.
    found.push(...(page.items as Shown[]))
    cursor = page.next
  } while (cursor !== undefined)
  return found
}

function custom(reader: MemoryReader): string[] {
  return [sub, `${sub}/resourceGroups/a`, other, sub, sub].map((scope, at) => {
    const guid = `44444444-4444-4444-8444-00000000000${at}`
    reader.put(rolePath(guid), role({ roleName: `Custom ${at}`, assignableScopes: [scope] }))
    return `Custom ${at}`
  })
}

test('pages of any size, joined, are the built-in roles and the custom ones of the scope', async () => {
  const reader = createMemoryReader()
  const [first, below, , fourth, fifth] = custom(reader)
  const expected = [...[...builtIns.values()].map((one) => one.roleName), first, fourth, fifth]
  for (const limit of [1, 2, 3, 5, builtIns.size - 1, builtIns.size, builtIns.size + 1, 100]) {
    const found = await list(reader, sub, '', limit)
    assert.deepEqual(
      found.map((one) => one.properties.roleName),
      expected,
      `page size ${limit}`,
    )
  }
  const names = (found: readonly Shown[]) => found.map((one) => one.properties.roleName)
  const customOnly = "type eq 'CustomRole'"
  assert.deepEqual(names(await list(reader, sub, customOnly)), [first, fourth, fifth])
  assert.deepEqual(names(await list(reader, sub, `atScopeAndBelow() and ${customOnly}`)), [
    first,
    below,
    fourth,
    fifth,
  ])
  assert.deepEqual(names(await list(reader, '/', customOnly)), [])
  assert.deepEqual(names(await list(reader, sub, "roleName eq 'reader'")), ['Reader'])
  assert.deepEqual(names(await list(reader, sub, "roleName eq 'custom 3'")), ['Custom 3'])
  await assert.rejects(list(reader, sub, "description eq 'x'"), { code: 'InvalidFilter' })
})

test('built-in roles are found at any scope, by an id in any case, under the one id they have', async () => {
  const source = sourceOf(defaultAuthorizationLimits)
  for (const scope of ['', sub, `${sub}/resourceGroups/a`]) {
    const shown = await source.get?.({
      ...sampleContext(createMemoryReader()),
      ...askedAt(rolePath(ownerRoleId.toUpperCase(), scope)),
      query: new URLSearchParams(),
    })
    assert.equal((shown as Shown).id, rolePath(ownerRoleId))
    assert.equal((shown as Shown).properties.type, 'BuiltInRole')
  }
})

test('a custom role is out of sight where it can be assigned neither there nor below', async () => {
  const reader = createMemoryReader()
  reader.put(rolePath(name), role({ assignableScopes: [`${sub}/resourceGroups/a`] }))
  const source = sourceOf(defaultAuthorizationLimits)
  const get = async (scope: string) =>
    source.get?.({
      ...sampleContext(reader),
      id: idOf(rolePath(name)),
      ...{ requested: idOf(rolePath(name, scope)) },
      query: new URLSearchParams(),
    })
  // Left to the store, which shows it.
  assert.equal(await get(''), undefined)
  assert.equal(await get(sub), undefined)
  assert.equal(await get(`${sub}/resourceGroups/a`), undefined)
  await assert.rejects(get(other), { code: 'RoleDefinitionDoesNotExist', status: 404 })
})

test('every built-in role is well-formed, and its lists carry the vendor word', () => {
  const names = new Set<string>()
  for (const [guid, { roleName, permissions }] of builtIns) {
    assert.match(guid, /^[0-9a-f-]{36}$/)
    names.add(roleName.toLowerCase())
    for (const { actions, notActions, dataActions } of permissions) {
      assert.ok(actions.length + dataActions.length > 0)
      for (const action of [...actions, ...notActions, ...dataActions]) {
        assert.ok(isActionPattern(action), action)
        assert.ok(action.startsWith('*') || action.startsWith('Vendor.'), action)
      }
    }
  }
  assert.equal(names.size, builtIns.size)
})

test('what is left out of a permission is an empty list', () => {
  const body = { properties: { roleName: 'x', permissions: [{}], assignableScopes: ['/'] } }
  // The body is valid, and this version's `toModel` needs no context.
  const model = v2022_04_01.toModel(body as never, undefined, undefined as never)
  assert.deepEqual(model.permissions, [
    { actions: [], notActions: [], dataActions: [], notDataActions: [] },
  ])
  assert.equal(model.kind, 'CustomRole')
})

test('all custom roles together have a size, since every process keeps them in memory', async () => {
  const { customRolesSizeMax: max, customRolesSizePerSubscriptionMax: ofOne } =
    defaultAuthorizationLimits
  const action = 'Vendor.X/things/read'
  const own = sizeOfRole(role(permit(action)))
  assert.equal(own, sub.length + action.length + 128)
  const pathsBeside = async (all: number, ofSubscription: number): Promise<readonly string[]> =>
    (await problems(role(permit(action)), { sizeOfOthers: [all, ofSubscription] })).map(
      ({ path }) => path,
    )
  assert.deepEqual(await pathsBeside(max - own, 0), [])
  assert.deepEqual(await pathsBeside(max - own + 1, 0), ['properties.permissions'])
  // No subscription takes what others may have.
  assert.deepEqual(await pathsBeside(ofOne, ofOne - own), [])
  assert.deepEqual(await pathsBeside(ofOne, ofOne - own + 1), ['properties.permissions'])
})

test('the index knows the sizes of custom roles, as they are', () => {
  const index = createGrantIndex(builtIns, () => undefined)
  const id = idOf(rolePath(name))
  const put = (...actions: string[]): number => {
    const model = role(permit(...actions))
    index.putRole({ ...createMemoryReader().put(rolePath(name), model), model })
    return sizeOfRole(model)
  }
  put('Vendor.X/things/read', 'Vendor.X/things/write')
  const size = put('Vendor.X/things/read')
  const own = subscriptionOfRole(role())
  assert.notEqual(own, '')
  for (const subscription of [undefined, own]) {
    assert.equal(index.sizeOfOthers('another', subscription), size)
    assert.equal(index.sizeOfOthers(name, subscription), 0)
  }
  assert.equal(index.sizeOfOthers('another', 'of-another'), 0)
  index.remove(id.key)
  assert.equal(index.sizeOfOthers('another'), 0)
  assert.equal(index.sizeOfOthers('another', own), 0)
})
