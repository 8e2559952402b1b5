/**
 * On PostgreSQL, with two replicas: dry runs that meet existing keys, and deployments that either replica may
 * continue.
 */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import { defaultLimits } from '#kernel/limits.ts'
import { contractWords } from '#kernel/vendor.ts'
import { openPostgres } from '#stores/postgres/open.ts'
import type { Store } from '#stores/store.ts'
import { findPostgres, howToGetPostgres, startPostgres } from '#stores/testing/postgres-server.ts'
import { requireOrSkip } from '../../../../../tests/require.ts'
import { deploymentPath, manyResources, openSeal } from '../../testing/killed.ts'
import { group, startDeployments, subscription, templateFor } from '../../testing/start.ts'

/** Reader, facts 2.6. */
const readerRoleId = 'acdd72a7-3385-48ef-bd42-f606fba81ae7'

test('two replicas deploy; what-if knows of taken keys and of nothing to change', async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using server = await startPostgres({ fsync: false })
  const url = await server.createDatabase()
  const open = (): Promise<Store> =>
    openPostgres({
      url,
      poolSize: 4,
      clock: Date,
      migrations: [],
      words: contractWords,
      transactionRetriesMax: defaultLimits.transactionRetriesMax,
    })
  await using one = await open()
  await using two = await open()
  await using started = await startDeployments({ store: one, seal: openSeal })
  await using replica = await startDeployments({ store: two, seal: openSeal })
  const asked = manyResources(60)
  await started.call('PUT', deploymentPath, asked)
  await replica.settle()
  const { body } = await replica.call('GET', deploymentPath)
  const shown = JSON.parse(JSON.stringify(body))
  assert.equal(shown.properties.provisioningState, 'Succeeded', JSON.stringify(shown.properties))
  assert.equal(shown.properties.outputResources.length, 60)
  const whatIf = await replica.call('POST', `${deploymentPath}/whatIf`, asked)
  assert.equal(JSON.stringify(whatIf.body).split('"NoChange"').length - 1, 60)

  const principalId = randomUUID()
  const roles = `${subscription}/providers/Vendor.Authorization/roleDefinitions`
  const roleDefinitionId = `${roles}/${readerRoleId}`
  const assignment = (): object => ({
    type: 'Vendor.Authorization/roleAssignments',
    apiVersion: '2022-04-01',
    name: randomUUID(),
    properties: { principalId, roleDefinitionId, principalType: 'User' },
  })
  const resources = [assignment(), assignment(), assignment()]
  const twice = { properties: { template: templateFor(resources) } }
  const path = `${group}/providers/Vendor.Resources/deployments/twice`
  await assert.rejects(started.call('PUT', path, twice), (error) => {
    assert.ok(error instanceof ApiError, String(error))
    const codes = error.extra.details?.map((detail) => detail.code)
    assert.deepEqual(codes, ['RoleAssignmentExists', 'RoleAssignmentExists'])
    return true
  })
})
