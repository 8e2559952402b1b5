/** What a deployment writes behind others is written by the rights that its principal has when it is its turn. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore, nobody } from '#plane/testing/start.ts'
import type { Store } from '#stores/store.ts'
import { ownerRoleId } from '../../../authorization/domain/built-in-roles.ts'
import {
  assignment,
  at,
  group,
  json,
  openInstallation,
  team,
} from '../../../testing/installation.ts'

const deployment = `${group}/providers/Vendor.Resources/deployments/late`
const version = { version: '2025-03-01' }

test('a role assignment that waits behind the revocation of the deployer is not written', async () => {
  const inner = await memoryStore()
  let meanwhile: (() => Promise<unknown>) | undefined
  const transact: Store['transact'] = async (work, mode) => {
    const isOfRights =
      (typeof mode === 'object' && 'name' in mode ? mode.name : mode) === 'authorization'
    const first = isOfRights ? meanwhile : undefined
    if (first !== undefined) {
      meanwhile = undefined
      await first()
    }
    return inner.transact(work, mode)
  }
  const store = new Proxy(inner, {
    get(target, member) {
      if (member === 'transact') return transact
      const value = Reflect.get(target, member)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  await using t = await openInstallation('implicit', store)
  await t.call('PUT', group, { location: 'local' }, { version: '2021-04-01' })
  const mine = at(group)
  await t.call('PUT', mine, assignment(nobody.id, ownerRoleId))
  const left = at(group)
  const template = {
    $schema: 'https://schema.example/2019-04-01/deploymentTemplate.json#',
    contentVersion: '1.0.0.0',
    resources: [
      {
        type: 'Vendor.Authorization/roleAssignments',
        apiVersion: '2022-04-01',
        name: left.split('/').at(-1),
        ...assignment(team, ownerRoleId, { principalType: 'Group' }),
      },
    ],
  }
  meanwhile = () => t.call('DELETE', mine)
  const properties = { mode: 'Incremental', template }
  await t.call('PUT', deployment, { properties }, { ...version, as: nobody })
  await t.settle()
  const ended = json(await t.call('GET', deployment, undefined, version)).properties
  assert.equal(meanwhile, undefined)
  assert.equal(ended.provisioningState, 'Failed')
  assert.match(JSON.stringify(ended.error), /AuthorizationFailed/)
  await assert.rejects(t.call('GET', left), { status: 404 })
})
