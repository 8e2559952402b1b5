/** An assignment that leaves out the type of its principal has the one that is stored, as long as it is stored. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { assignment, at, group, json, openInstallation } from '../../../testing/installation.ts'
import { ownerRoleId } from '../../domain/built-in-roles.ts'

test('an assignment that is deleted while a PUT waits does not come back with another type', async () => {
  await using t = await openInstallation()
  await t.call('PUT', group, { location: 'local' }, { version: '2021-04-01' })
  const path = at(group)
  const given = assignment(randomUUID(), ownerRoleId, { principalType: 'ServicePrincipal' })
  const { principalType: _type, ...properties } = json(await t.call('PUT', path, given)).properties
  const again = await t.call('PUT', path, { properties })
  assert.equal(json(again).properties.principalType, 'ServicePrincipal')
  let isGone = false
  const late = t.call(
    'PUT',
    path,
    { properties },
    {
      async meanwhile() {
        if (!isGone) await t.call('DELETE', path)
        isGone = true
      },
    },
  )
  await assert.rejects(late, { code: 'Conflict', status: 409 })
  await assert.rejects(t.call('GET', path), { status: 404 })
})
