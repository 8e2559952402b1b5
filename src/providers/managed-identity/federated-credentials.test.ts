/**
 * Whoever may sign in as an identity may act as it: that takes the right to lend it, whatever else a role allows.
 */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { nobody } from '#plane/testing/start.ts'
import {
  assignment,
  at,
  authorization,
  group,
  openInstallation,
  refused,
} from '../testing/installation.ts'

const version = { version: '2023-01-31' }
const identity = `${group}/providers/Vendor.ManagedIdentity/userAssignedIdentities/worker`
const credential = `${identity}/federatedIdentityCredentials/mine`

test('a federated credential takes the right to lend its identity', async () => {
  await using t = await openInstallation()
  await t.call('PUT', identity, { location: 'local' }, version)
  await t.settle()
  const name = randomUUID()
  const all = ['Vendor.ManagedIdentity/*']
  const allow = async (notActions: readonly string[]): Promise<void> => {
    const permissions = [{ actions: all, notActions }]
    const properties = { roleName: 'r', assignableScopes: [group], permissions }
    await t.call('PUT', `${group}/${authorization}/roleDefinitions/${name}`, { properties })
  }
  const write = (subject: string) => {
    const audiences = ['api://token-exchange']
    const properties = { issuer: 'https://issuer.example', subject, audiences }
    return t.call('PUT', credential, { properties }, { ...version, as: nobody })
  }
  await allow(['Vendor.ManagedIdentity/userAssignedIdentities/assign/action'])
  await t.call('PUT', at(group), assignment(nobody.id, name))
  await refused(write('one'), 'AuthorizationFailed', 403)
  await allow([])
  assert.equal((await write('one')).status, 201)
  // Also for changing an existing one.
  await allow(['*/assign/action'])
  await refused(write('two'), 'AuthorizationFailed', 403)
})
