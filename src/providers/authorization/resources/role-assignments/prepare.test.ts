import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PrincipalType } from '#kernel/principal.ts'
import { createMemoryReader, idOf } from '../../../testing/memory-reader.ts'
import { askDirectory } from './prepare.ts'
import type { RoleAssignmentBody } from './versions/2022-04-01.ts'

const known = '33333333-3333-4333-8333-333333333333'
const unknown = '55555555-5555-4555-8555-555555555555'
const id = idOf(`/providers/Vendor.Authorization/roleAssignments/${unknown}`)
const directory = {
  find: (one: string) =>
    Promise.resolve(
      one === known ? { type: 'Group' as const, displayName: 'the group' } : undefined,
    ),
}

function ask(
  principalId: string,
  principalType?: PrincipalType,
  stored?: object,
  takesUnknownPrincipals = false,
) {
  const reader = createMemoryReader()
  if (stored !== undefined) reader.put(id.text, stored)
  const body: RoleAssignmentBody = {
    properties: {
      principalId,
      roleDefinitionId: '',
      ...(principalType === undefined ? {} : { principalType }),
    },
  }
  return askDirectory({ directory, takesUnknownPrincipals }, { reader, id }, body)
}

test('the type is the one the directory knows', async () => {
  assert.equal((await ask(known.toUpperCase())).properties.principalType, 'Group')
})

test('an unknown principal without a type is left to the rules, and accepted with one', async () => {
  assert.equal((await ask(unknown)).missing, 'principal')
  assert.equal((await ask(unknown, 'User')).properties.principalType, 'User')
})

test('where unknown principals are taken, one without a type is a service principal, unverified', async () => {
  const taken = await ask(unknown, undefined, undefined, true)
  assert.equal(taken.properties.principalType, 'ServicePrincipal')
  assert.equal(taken.typeIsUnverified, true)
  const known_ = await ask(known, undefined, undefined, true)
  assert.equal(known_.properties.principalType, 'Group')
})

test('a type that contradicts the directory is refused', async () => {
  await assert.rejects(ask(known, 'User'), { code: 'UnmatchedPrincipalType', status: 400 })
  assert.equal((await ask(known, 'Group')).properties.principalType, 'Group')
})

test('what is no GUID is left to the rules', async () => {
  assert.equal((await ask('ann')).properties.principalId, 'ann')
})

test('an existing assignment can be written again after its principal is gone', async () => {
  const body = await ask(unknown, undefined, { principalId: unknown, principalType: 'User' })
  assert.equal(body.properties.principalType, undefined)
})
