import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import { contractWords } from '#kernel/vendor.ts'
import { idOf, sampleSystemData } from '../../../../testing/memory-reader.ts'
import { v2022_04_01 } from './2022-04-01.ts'

const reader = 'acdd72a7-3385-48ef-bd42-f606fba81ae7'
const principalId = '33333333-3333-4333-8333-333333333333'
const scope = '/subscriptions/11111111-1111-4111-8111-111111111111/resourceGroups/Rg'
const validate = new Ajv({ strict: false }).compile(v2022_04_01.body)

function show(scopePath: string, properties: object): unknown {
  const body = { properties: { principalId, roleDefinitionId: '', ...properties } }
  const id = idOf(`${scopePath}/providers/Vendor.Authorization/roleAssignments/${principalId}`)
  // The bodies below are valid.
  const model = v2022_04_01.toModel(body as never, undefined, { words: contractWords } as never)
  return v2022_04_01.fromModel(model, {
    id,
    systemData: sampleSystemData,
    state: 'Succeeded',
    observed: undefined,
    etag: 'tag',
    words: contractWords,
  })['properties']
}

const forms = [
  `/providers/Vendor.Authorization/roleDefinitions/${reader}`,
  `/subscriptions/11111111-1111-4111-8111-111111111111/providers/Vendor.Authorization/roleDefinitions/${reader}`,
  `${scope}/providers/vendor.authorization/ROLEDEFINITIONS/${reader.toUpperCase()}`,
]
for (const roleDefinitionId of forms) {
  test(`the role is shown in the tenant's form, given as ${roleDefinitionId}`, () => {
    assert.deepEqual(show(scope, { roleDefinitionId }), {
      roleDefinitionId: forms[0],
      principalId,
      principalType: 'User',
      scope,
      createdOn: sampleSystemData.createdAt,
      updatedOn: sampleSystemData.lastModifiedAt,
      createdBy: sampleSystemData.createdBy,
      updatedBy: sampleSystemData.lastModifiedBy,
    })
  })
}

test('the scope of an assignment at the root is /', () => {
  const shown = show('', { roleDefinitionId: forms[0] }) as { readonly scope: string }
  assert.equal(shown.scope, '/')
})

test('returned-only fields in a body are ignored whatever they hold', () => {
  const foreign = { scope: 7, createdOn: {}, updatedOn: [], createdBy: null, updatedBy: true }
  const properties = { principalId, roleDefinitionId: forms[0], ...foreign }
  assert.equal(validate({ properties }), true)
  const shown = show(scope, properties) as { readonly scope: string; readonly createdBy: string }
  assert.equal(shown.scope, scope)
  assert.equal(shown.createdBy, sampleSystemData.createdBy)
})

const refused: readonly object[] = [
  {},
  { properties: {} },
  { properties: { principalId } },
  { properties: { principalId: 5, roleDefinitionId: forms[0] } },
  { properties: { principalId, roleDefinitionId: forms[0], principalType: 'Robot' } },
  { properties: { principalId, roleDefinitionId: forms[0], description: {} } },
]
for (const body of refused) {
  test(`the schema refuses ${JSON.stringify(body)}`, () => {
    assert.equal(validate(body), false)
  })
}

test('all writable fields come back as they went in', () => {
  const optional = {
    principalType: 'Group',
    condition: 'x',
    conditionVersion: '2.0',
    delegatedManagedIdentityResourceId: '/y',
    description: 'z',
  }
  const shown = show(scope, { roleDefinitionId: forms[0], ...optional }) as Record<string, unknown>
  for (const [key, value] of Object.entries(optional)) assert.equal(shown[key], value)
})
