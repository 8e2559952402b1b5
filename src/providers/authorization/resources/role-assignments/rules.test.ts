import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contractWords } from '#kernel/vendor.ts'
import type { RuleContext } from '#plane/declare/stored.ts'
import {
  askedAt,
  createMemoryReader,
  type MemoryReader,
  sampleContext,
} from '../../../testing/memory-reader.ts'
import { builtInRoles } from '../../domain/built-in-roles.ts'
import { defaultAuthorizationLimits } from '../../domain/limits.ts'
import type { RoleDefinition } from '../role-definitions/model.ts'
import type { RoleAssignment } from './model.ts'
import { roleAssignmentRules } from './rules.ts'
import { v2022_04_01 } from './versions/2022-04-01.ts'

const sub = '/subscriptions/11111111-1111-4111-8111-111111111111'
const group = `${sub}/resourceGroups/rg`
const name = '22222222-2222-4222-8222-222222222222'
const principalId = '33333333-3333-4333-8333-333333333333'
const custom = '44444444-4444-4444-8444-444444444444'
const readerRole = 'acdd72a7-3385-48ef-bd42-f606fba81ae7'
const rolePath = (guid: string): string => `/providers/Vendor.Authorization/roleDefinitions/${guid}`
const builtIns = builtInRoles(contractWords)

const customRole: RoleDefinition = {
  roleName: 'Restarter',
  description: '',
  kind: 'CustomRole',
  assignableScopes: [group],
  permissions: [],
}

async function codes(
  properties: object,
  options: {
    scope?: string
    previous?: RoleAssignment
    reader?: MemoryReader
    limits?: Partial<typeof defaultAuthorizationLimits>
  } = {},
): Promise<readonly (string | undefined)[]> {
  const reader = options.reader ?? createMemoryReader()
  reader.put(rolePath(custom), customRole)
  const base = sampleContext(reader)
  const body = {
    properties: { principalId, roleDefinitionId: rolePath(readerRole), ...properties },
  }
  const context: RuleContext<RoleAssignment> = {
    ...base,
    ...askedAt(`${options.scope ?? group}/providers/Vendor.Authorization/roleAssignments/${name}`),
    // The table below contains bodies that the schema accepts.
    desired: v2022_04_01.toModel(body as never, options.previous, base),
    previous: options.previous,
    location: undefined,
    tags: undefined,
  }
  const problems = await roleAssignmentRules(context, {
    builtIns,
    placesAbove: () => [],
    limits: { ...defaultAuthorizationLimits, ...options.limits },
  })
  return problems.map((problem) => problem.code)
}

const condition = "@Resource[Vendor.X/things:size] StringEquals 'y'"
const created: readonly [
  title: string,
  properties: object,
  expected: readonly (string | undefined)[],
][] = [
  ['a plain one', {}, []],
  [
    'the role with a subscription in front',
    { roleDefinitionId: `${sub}${rolePath(readerRole)}` },
    [],
  ],
  ['the role in any case', { roleDefinitionId: rolePath(readerRole).toUpperCase() }, []],
  ['a custom role at its scope', { roleDefinitionId: rolePath(custom) }, []],
  ['an unknown role', { roleDefinitionId: rolePath(name) }, ['RoleDefinitionDoesNotExist']],
  ['a bare GUID as role', { roleDefinitionId: readerRole }, ['BadRequestFormat']],
  ['another type as role', { roleDefinitionId: `${sub}` }, ['InvalidRoleDefinitionId']],
  ['a role that is no GUID', { roleDefinitionId: rolePath('reader') }, ['InvalidRoleDefinitionId']],
  [
    'a role of another namespace',
    { roleDefinitionId: `/providers/Other.Authorization/roleDefinitions/${readerRole}` },
    ['InvalidRoleDefinitionId'],
  ],
  ['a principal that is no GUID', { principalId: 'ann@example' }, ['InvalidPrincipalId']],
  ['a condition with its version', { condition, conditionVersion: '2.0' }, []],
  ['a condition alone', { condition }, ['InvalidRoleAssignmentCondition']],
  ['a version alone', { conditionVersion: '2.0' }, ['InvalidRoleAssignmentCondition']],
  ['version 1.0', { condition, conditionVersion: '1.0' }, ['InvalidRoleAssignmentCondition']],
  [
    'an empty condition',
    { condition: ' ', conditionVersion: '2.0' },
    ['InvalidRoleAssignmentCondition'],
  ],
  [
    'a condition of 8193 characters',
    { condition: 'x'.repeat(8193), conditionVersion: '2.0' },
    ['InvalidRoleAssignmentCondition'],
  ],
  ['a description of 1024 characters', { description: 'x'.repeat(1024) }, []],
  ['a description of 1025 characters', { description: 'x'.repeat(1025) }, [undefined]],
  [
    'everything wrong, reported at once',
    { principalId: 'x', roleDefinitionId: 'y', condition: 'z' },
    ['InvalidPrincipalId', 'BadRequestFormat', 'InvalidRoleAssignmentCondition'],
  ],
]

for (const [title, properties, expected] of created) {
  test(`creating: ${title}`, async () => {
    assert.deepEqual(await codes(properties), expected)
  })
}

test('a custom role cannot be assigned outside its assignable scopes', async () => {
  const properties = { roleDefinitionId: rolePath(custom) }
  assert.deepEqual(await codes(properties, { scope: sub }), ['ScopeDoesNotMatchRoleDefinition'])
  assert.deepEqual(await codes(properties, { scope: `${group}2` }), [
    'ScopeDoesNotMatchRoleDefinition',
  ])
})

test('nobody is given a right over a role by a path that does not end with it', async () => {
  const role = { roleDefinitionId: rolePath(readerRole) }
  for (const above of [sub, group, '/providers/Vendor.Management/managementGroups/m']) {
    const scope = `${above}${rolePath(custom).toUpperCase()}`
    assert.deepEqual(await codes(role, { scope }), ['ScopeDoesNotMatchRoleDefinition'])
  }
  assert.deepEqual(await codes(role, { scope: rolePath(custom) }), [])
})

const stored: RoleAssignment = { principalId, roleId: readerRole, principalType: 'User' }
const notPermitted = ['RoleAssignmentUpdateNotPermitted']
const updated: readonly [title: string, properties: object, expected: readonly string[]][] = [
  ['nothing', {}, []],
  ['the description', { description: 'new' }, []],
  ['the condition', { condition, conditionVersion: '2.0' }, []],
  ['the principal', { principalId: name }, notPermitted],
  ['the role', { roleDefinitionId: rolePath(custom) }, notPermitted],
  ['the principal type', { principalType: 'Group' }, notPermitted],
  ['the delegated identity', { delegatedManagedIdentityResourceId: '/x' }, notPermitted],
  [
    'principal and role: one problem',
    { principalId: name, roleDefinitionId: rolePath(custom) },
    notPermitted,
  ],
]

for (const [title, properties, expected] of updated) {
  test(`changing: ${title}`, async () => {
    assert.deepEqual(await codes(properties, { previous: stored }), expected)
  })
}

test('a subscription holds so many assignments, all of its resources counted', async () => {
  const reader = createMemoryReader()
  reader.put(`${group}/providers/Vendor.Authorization/roleAssignments/${principalId}`, stored)
  const limits = { assignmentsPerSubscriptionMax: 2 }
  assert.deepEqual(await codes({}, { reader, limits, scope: sub }), [])
  reader.put(`${sub}/providers/Vendor.Authorization/roleAssignments/${custom}`, stored)
  assert.deepEqual(await codes({}, { reader, limits, scope: `${sub}/resourceGroups/other` }), [
    'RoleAssignmentLimitExceeded',
  ])
  assert.deepEqual(await codes({ description: 'x' }, { reader, limits, previous: stored }), [])
})

test('a management group holds so many, other scopes not counted', async () => {
  const reader = createMemoryReader()
  const scope = '/providers/Vendor.Management/managementGroups/top'
  reader.put(`${sub}/providers/Vendor.Authorization/roleAssignments/${custom}`, stored)
  const limits = { assignmentsPerManagementGroupMax: 1 }
  assert.deepEqual(await codes({}, { reader, limits, scope }), [])
  reader.put(`${scope}/providers/Vendor.Authorization/roleAssignments/${custom}`, stored)
  assert.deepEqual(await codes({}, { reader, limits, scope }), ['RoleAssignmentLimitExceeded'])
})
