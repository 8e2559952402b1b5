/** An identity has its ids for life, and what is made anew under its name is another one. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { group, json, openInstallation } from '../testing/installation.ts'

const version = '2023-01-31'
const path = `${group}/providers/Vendor.ManagedIdentity/userAssignedIdentities/worker`
const body = { location: 'local' }

test('a PUT that began before a deletion does not bring the principal back', async () => {
  await using t = await openInstallation()
  const first = json(await t.call('PUT', path, body, { version }))
  await t.settle()
  const again = await t.call('PUT', path, body, {
    version,
    async meanwhile() {
      await t.call('DELETE', path, undefined, { version })
      await t.settle()
    },
  })
  assert.equal(again.status, 201)
  for (const id of ['principalId', 'clientId']) {
    assert.notEqual(json(again).properties[id], first.properties[id])
  }
})

test('of two first PUTs at once both answer the same principal', async () => {
  await using t = await openInstallation()
  let first: unknown
  const second = await t.call('PUT', path, body, {
    version,
    async meanwhile() {
      first = json(await t.call('PUT', path, body, { version })).properties
      await t.settle()
    },
  })
  assert.equal(second.status, 200)
  assert.deepEqual(json(second).properties, first)
})
