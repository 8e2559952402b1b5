/** Whoever writes through a stack is exempt from what it denies, so that takes the right to manage it, whenever it denies. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nobody, owner } from '#plane/testing/start.ts'
import { ownerRoleId } from '../../../authorization/domain/built-in-roles.ts'
import {
  group,
  type Started,
  startDeployments,
  subscription,
  templateFor,
} from '../../testing/start.ts'

const version = { version: '2024-03-01' }
const stack = `${group}/providers/Vendor.Resources/deploymentStacks/s`
const other = `${subscription}/resourceGroups/other`
const contributorRoleId = 'b24988ac-6180-42a0-ab88-20f7382dd24c'
const contributor = { ...nobody, id: '00000000-0000-4000-8000-0000000000c0' }
const refused = { code: 'LinkedAuthorizationFailed', status: 403 }

const vault = (value: string): object => ({
  type: 'Vendor.Secrets/vaults',
  apiVersion: '2026-01-01',
  name: 'kept',
  location: 'local',
  tags: { value },
})

const bodyOf = (mode: string, ...resources: readonly object[]): object => ({
  properties: {
    template: templateFor(resources),
    actionOnUnmanage: { resources: 'detach' },
    denySettings: { mode },
  },
})

function assign(t: Started, { id }: { readonly id: string }, roleId: string): Promise<unknown> {
  const roleDefinitionId = `${subscription}/providers/Vendor.Authorization/roleDefinitions/${roleId}`
  const properties = { principalId: id, roleDefinitionId, principalType: 'User' }
  const path = `${group}/providers/Vendor.Authorization/roleAssignments/${id}`
  return t.call('PUT', path, { properties }, { version: '2022-04-01' })
}

async function put(t: Started, body: object, as = owner): Promise<void> {
  await t.call('PUT', stack, body, { ...version, as })
  await t.settle()
}

async function valueAt(t: Started, scope: string): Promise<unknown> {
  return (await t.plane.reader.get(`${scope}/providers/Vendor.Secrets/vaults/kept`))?.tags?.[
    'value'
  ]
}

for (const [what, before] of [
  ['that denied nothing', bodyOf('none', vault('1'))],
  ['that was not there', undefined],
] as const) {
  test(`a PUT of a stack ${what} when it began does not pass what it denies meanwhile`, async () => {
    await using t = await startDeployments()
    await t.call('PUT', group, { location: 'local' }, { version: '2021-04-01' })
    await assign(t, contributor, contributorRoleId)
    if (before !== undefined) await put(t, before)
    const late = t.call('PUT', stack, bodyOf('none', vault('passed')), {
      ...version,
      as: contributor,
      meanwhile: () => put(t, bodyOf('denyWriteAndDelete', vault('2'))),
    })
    await assert.rejects(late, refused)
    await t.settle()
    assert.equal(await valueAt(t, group), '2')
  })
}

test('what a stack denies is denied to a group that is named like what exempts its own changes', async () => {
  await using t = await startDeployments()
  await t.call('PUT', group, { location: 'local' }, { version: '2021-04-01' })
  await put(t, bodyOf('denyWriteAndDelete', vault('1')))
  const path = `${group}/providers/Vendor.Secrets/vaults/kept`
  const list = `${path}/providers/Vendor.Authorization/denyAssignments`
  const { body } = await t.call('GET', list, undefined, { version: '2022-04-01' })
  const [denial] = JSON.parse(JSON.stringify(body)).value
  const named = denial.properties.excludePrincipals.map((one: { id: string }) => one.id)
  assert.equal(named.length, 1)
  const as = { ...owner, groups: named }
  const gone = t.call('DELETE', path, undefined, { version: '2026-01-01', as })
  await assert.rejects(gone, { code: 'DenyAssignmentAuthorizationFailed' })
  await put(t, bodyOf('denyWriteAndDelete', vault('2')), as)
  assert.equal(await valueAt(t, group), '2')
})

test('a stack whose last request denies nothing may deny still, and takes the right as well', async () => {
  await using t = await startDeployments()
  for (const path of [group, other]) {
    await t.call('PUT', path, { location: 'local' }, { version: '2021-04-01' })
  }
  const inner = (value: string) => ({
    type: 'Vendor.Resources/deployments',
    apiVersion: '2025-03-01',
    name: 'inner',
    resourceGroup: 'other',
    properties: { mode: 'Incremental', template: templateFor([vault(value)]) },
  })
  await put(t, bodyOf('denyWriteAndDelete', inner('1')))
  // Who owns the group of the stack alone takes nothing away elsewhere.
  await assign(t, nobody, ownerRoleId)
  await put(t, bodyOf('none'), nobody)
  await assign(t, contributor, contributorRoleId)
  const late = t.call('PUT', stack, bodyOf('none'), { ...version, as: contributor })
  await assert.rejects(late, refused)
  const gone = t.call('DELETE', stack, undefined, { ...version, as: contributor })
  await assert.rejects(gone, refused)
  assert.equal(await valueAt(t, other), '1')
})
