/**
 * A resource that is created while its parent is being deleted is deleted with it, or refused, and never stays
 * alone.
 */

import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { findPostgres, howToGetPostgres, startPostgres } from '#stores/testing/postgres-server.ts'
import { requireOrSkip } from '../../../../../tests/require.ts'
import { group, openInstallation } from '../../../testing/installation.ts'
import { openPostgresStore } from '../../../testing/postgres-store.ts'

const version = { version: '2024-05-01' }
const service = `${group}/providers/Vendor.ApiManagement/service/svc`
const workspace = `${service}/workspaces/one`
const api = `${workspace}/apis/pets`

test('nothing is left of what is made two levels below a DELETE (PostgreSQL)', async (context) => {
  if (!requireOrSkip(context, findPostgres() !== undefined, howToGetPostgres)) return
  await using server = await startPostgres({ fsync: false })
  const store = await openPostgresStore(server, 4)
  await using t = await openInstallation('implicit', store)
  const sku = { name: 'Developer', capacity: 1 }
  const properties = { publisherName: 'p', publisherEmail: 'p@example.com' }
  await t.call('PUT', service, { location: 'local', sku, properties }, version)
  await t.settle()
  await t.call('PUT', workspace, { properties: { displayName: 'w' } }, version)
  const pets = { displayName: 'Pets', path: 'pets', protocols: ['https'] }
  await t.call('PUT', api, { properties: pets }, version)
  const operation = `${api}/operations/one`
  const properties_ = { displayName: 'One', method: 'GET', urlTemplate: '/one' }
  await t.call('PUT', operation, { properties: properties_ }, version)
  const row = await store.get(operation.toLowerCase())
  assert.ok(row)
  const outside = AsyncLocalStorage.snapshot()
  let deleted: Promise<unknown> = Promise.resolve()
  // Like the PUT of a child, which locks its parent and has not ended when the DELETE begins.
  await store.transact(async (tx) => {
    await tx.lock(api.toLowerCase(), 'share')
    const any = { ...version, ifMatch: '*' }
    deleted = outside(() => t.call('DELETE', workspace, undefined, any))
    await setTimeout(500)
    for (const name of ['two', 'three']) {
      const id = `${api}/operations/${name}`
      await tx.insert({ ...row, id, key: id.toLowerCase(), uniqueKey: name })
    }
  })
  await deleted
  const left = await store.list({ under: workspace.toLowerCase(), limit: 10 })
  assert.deepEqual(
    left.map(({ id }) => id),
    [],
  )
})
