/** A DELETE that takes others along takes all of them or, where one must stay, none. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { everybody } from '../../authorization/resources/deny-assignments/model.ts'
import {
  authorization,
  group,
  type Installation,
  json,
  openInstallation,
  refused,
} from '../../testing/installation.ts'

const version = { version: '2024-05-01' }
const service = `${group}/providers/Vendor.ApiManagement/service/svc`
/** More than one transaction removes. */
const count = 120

async function open(): Promise<Installation> {
  const t = await openInstallation()
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
