/** A DELETE that takes others along takes all of them or, where one must stay, none. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore } from '#plane/testing/start.ts'
import type { Store } from '#stores/store.ts'
import { findPostgres, howToGetPostgres, startPostgres } from '#stores/testing/postgres-server.ts'
import { requireOrSkip } from '../../../../tests/require.ts'
import { everybody } from '../../authorization/resources/deny-assignments/model.ts'
import {
  authorization,
  group,
  type Installation,
  json,
  openInstallation,
  refused,
} from '../../testing/installation.ts'
import { openPostgresStore } from '../../testing/postgres-store.ts'
import { apiManagementMigrations } from './migrations.ts'

const version = { version: '2024-05-01' }
const service = `${group}/providers/Vendor.ApiManagement/service/svc`
/** More than one transaction removes. */
const count = 120

async function open(store?: Store): Promise<Installation> {
  const t = await openInstallation('implicit', store)
  const sku = { name: 'Developer', capacity: 1 }
  const properties = { publisherName: 'p', publisherEmail: 'p@example.com' }
  await t.call('PUT', service, { location: 'local', sku, properties }, version)
  await t.settle()
  return t
}

async function openWithProduct(): Promise<Installation> {
  const t = await open()
  await t.call('PUT', `${service}/products/all`, { properties: { displayName: 'All' } }, version)
  for (let number = 0; number < count; number++) {
    const properties = { displayName: 'One', scope: '/products/all' }
    await t.call('PUT', `${service}/subscriptions/${nameAt(number)}`, { properties }, version)
  }
  return t
}

function nameAt(number: number): string {
  return `s${String(number).padStart(3, '0')}`
}

const last = `${service}/subscriptions/${nameAt(count - 1)}`

async function countOf(t: Installation, collection: string): Promise<number> {
  return json(await t.call('GET', `${service}/${collection}?$top=1`, undefined, version)).count
}

async function setLock(t: Installation, scope: string): Promise<string> {
  const lock = `${scope}/${authorization}/locks/keep`
  const properties = { level: 'CanNotDelete' }
  await t.call('PUT', lock, { properties }, { version: '2016-09-01' })
  return lock
}

test('a lock on the last of many subscriptions keeps all of them', async () => {
  await using t = await openWithProduct()
  const lock = await setLock(t, last)
  const all = `${service}/products/all?deleteSubscriptions=true`
  await refused(t.call('DELETE', all, undefined, version), 'ScopeLocked', 409)
  assert.equal(await countOf(t, 'subscriptions'), count)
  await t.call('DELETE', lock, undefined, { version: '2016-09-01' })
  assert.equal((await t.call('DELETE', all, undefined, version)).status, 200)
  assert.equal(await countOf(t, 'subscriptions'), 0)
})

test('a deny assignment on the last of many subscriptions keeps all of them', async () => {
  await using t = await openWithProduct()
  const name = 'dddddddd-0000-4000-8000-000000000001'
  await t.plane.services.storeAsSystem(
    `${last}/${authorization}/denyAssignments/${name}`,
    '2022-04-01',
    {
      properties: {
        denyAssignmentName: 'held',
        permissions: [{ actions: ['*/delete'] }],
        principals: [{ id: everybody, type: 'SystemDefined' }],
      },
    },
  )
  const all = `${service}/products/all?deleteSubscriptions=true`
  const work = t.call('DELETE', all, undefined, version)
  await refused(work, 'DenyAssignmentAuthorizationFailed', 403)
  assert.equal(await countOf(t, 'subscriptions'), count)
})

test('a lock on the last of many revisions keeps all of them', async () => {
  await using t = await open()
  const api = `${service}/apis/pets`
  const pets = { properties: { displayName: 'Pets', path: 'pets', protocols: ['https'] } }
  await t.call('PUT', api, pets, version)
  // In the order of their names, as they are removed.
  for (let number = 0; number < count; number++) {
    await t.call('PUT', `${api};rev=${1000 + number}`, pets, version)
  }
  await setLock(t, `${api};rev=${1000 + count - 1}`)
  const work = t.call('DELETE', `${api}?deleteRevisions=true`, undefined, version)
  await refused(work, 'ScopeLocked', 409)
  assert.equal(await countOf(t, 'apis'), count + 1)
})

async function addProduct(
  t: Installation,
  product: string,
  names: readonly string[],
): Promise<void> {
  const made = { properties: { displayName: product } }
  await t.call('PUT', `${service}/products/${product}`, made, version)
  for (const name of names) {
    const properties = { displayName: name, scope: `/products/${product}` }
    await t.call('PUT', `${service}/subscriptions/${name}`, { properties }, version)
  }
}

test('a DELETE of a product reads no subscription to another one', async () => {
  const store = await memoryStore()
  await using t = await open(store)
  await addProduct(t, 'other', ['first', 'unreadable', 'unreadable-too'])
  await addProduct(t, 'mine', ['own'])
  // Whoever reads such a row fails.
  await store.replace((tx) =>
    tx.run("UPDATE resources SET document = '' WHERE key LIKE '%/subscriptions/unreadable%'"),
  )
  const mine = `${service}/products/mine`
  await refused(t.call('DELETE', mine, undefined, version), 'ValidationError', 400)
  const all = `${mine}?deleteSubscriptions=true`
  assert.equal((await t.call('DELETE', all, undefined, version)).status, 200)
  const own = t.call('GET', `${service}/subscriptions/own`, undefined, version)
  await refused(own, 'ResourceNotFound', 404)
})

test('a subscription that is added during the DELETE of its product goes with it, or is refused', async () => {
  await using t = await openWithProduct()
  const all = `${service}/products/all?deleteSubscriptions=true`
  const properties = { displayName: 'Late', scope: '/products/all' }
  const late = Array.from({ length: 20 }, (_, at) =>
    t.call('PUT', `${service}/subscriptions/late${at}`, { properties }, version),
  )
  const [deleted] = await Promise.all([
    t.call('DELETE', all, undefined, version),
    Promise.allSettled(late),
  ])
  assert.equal(deleted.status, 200)
  assert.equal(await countOf(t, 'subscriptions'), 0)
})

test('the subscriptions of a user go with it where a DELETE says so', async () => {
  await using t = await openWithProduct()
  const user = `${service}/users/ada`
  const ada = { firstName: 'Ada', lastName: 'L', email: 'ada@example.com' }
  await t.call('PUT', user, { properties: ada }, version)
  for (let number = 0; number < count - 1; number++) {
    const properties = { displayName: 'One', scope: '/products/all', ownerId: '/users/ADA' }
    await t.call('PUT', `${service}/subscriptions/${nameAt(number)}`, { properties }, version)
  }
  const all = `${user}?deleteSubscriptions=true`
  const given = { ...version, headers: { 'if-match': '*' } }
  assert.equal((await t.call('DELETE', all, undefined, given)).status, 200)
  assert.equal(await countOf(t, 'subscriptions'), 1)
})

async function keysOf(store: Store): Promise<readonly unknown[]> {
  return store.sql.all(
    "SELECT key, unique_key FROM resources WHERE key LIKE '%/subscriptions/%/subscriptions/%' ORDER BY key",
  )
}

async function subscriptionsOfBeforeAreFound(store: Store): Promise<void> {
  await using t = await open(store)
  await addProduct(t, 'Some Product', ['One', 'two'])
  const scopes = ['/apis', '/products', `${service}2/products/far`, '/products/é/one', 'elsewhere']
  for (const [at, scope] of scopes.entries()) {
    const properties = { displayName: '"scope":"\0', scope }
    await t.call('PUT', `${service}/subscriptions/else${at}`, { properties }, version)
  }
  const written = await keysOf(store)
  assert.equal(written.length, 2 + scopes.length)
  await store.replace(async (tx) => {
    await tx.run(
      "UPDATE resources SET unique_key = NULL WHERE key LIKE '%/subscriptions/%/subscriptions/%'",
    )
    for (const migration of apiManagementMigrations) {
      for (const text of migration[store.dialect]) await tx.run(text)
    }
  })
  assert.deepEqual(await keysOf(store), written)
}

test('subscriptions of before have the unique keys with which they would be written (SQLite)', async () => {
  await subscriptionsOfBeforeAreFound(await memoryStore())
})

test('subscriptions of before have the unique keys with which they would be written (PostgreSQL)', async (context) => {
  if (!requireOrSkip(context, findPostgres() !== undefined, howToGetPostgres)) return
  await using server = await startPostgres({ fsync: false })
  await subscriptionsOfBeforeAreFound(await openPostgresStore(server, 4))
})
