/** What an import of a document does with the children of the operations that it replaces. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Outcome } from '#plane/plane.ts'
import { memoryStore, nobody } from '#plane/testing/start.ts'
import type { Store } from '#stores/store.ts'
import { everybody } from '../../../authorization/resources/deny-assignments/model.ts'
import {
  assignment,
  at,
  authorization,
  group,
  type Installation,
  openInstallation,
  refused,
  version as roles,
} from '../../../testing/installation.ts'

const reader = 'acdd72a7-3385-48ef-bd42-f606fba81ae7'
const version = { version: '2024-05-01' }
const service = `${group}/providers/Vendor.ApiManagement/service/shop`
const api = `${service}/apis/pets`
const operation = `${api}/operations/one`
const policy = `${operation}/policies/policy`

function importOf(t: Installation, names: readonly string[]): Promise<Outcome> {
  const paths = Object.fromEntries(
    names.map((name) => [
      `/${name}`,
      { get: { operationId: name, responses: { 200: { description: 'Yes' } } } },
    ]),
  )
  const value = JSON.stringify({ openapi: '3.0.3', info: { title: 'Pets', version: '1' }, paths })
  const properties = { path: 'pets', format: 'openapi+json', value }
  return t.call('PUT', api, { properties }, version)
}

async function open(store?: Store): Promise<Installation> {
  const t = await openInstallation('implicit', store)
  const properties = { publisherName: 'a', publisherEmail: 'a@b.example' }
  const sku = { name: 'Developer', capacity: 1 }
  await t.call('PUT', service, { location: 'local', sku, properties }, version)
  await importOf(t, ['one', 'two'])
  const value = { properties: { format: 'xml', value: '<policies><inbound /></policies>' } }
  await t.call('PUT', policy, value, version)
  return t
}

test('what is below an operation goes with it, rights included', async () => {
  await using t = await open()
  const given = at(operation)
  await t.call('PUT', given, assignment(nobody.id, reader))
  const asNobody = { ...version, as: nobody }
  assert.equal((await t.call('GET', operation, undefined, asNobody)).status, 200)
  await importOf(t, ['two'])
  await refused(t.call('GET', policy, undefined, version), 'ResourceNotFound', 404)
  await refused(t.call('GET', given), 'RoleAssignmentNotFound', 404)
  await importOf(t, ['one', 'two'])
  await refused(t.call('GET', policy, undefined, version), 'ResourceNotFound', 404)
  await refused(t.call('GET', operation, undefined, asNobody), 'AuthorizationFailed', 403)
})

for (const [what, action, names] of [
  ['the removal of what is below one', '*/policies/delete', ['two']],
  ['the removal of one', '*/operations/delete', ['two']],
] as const) {
  test(`an import heeds a deny assignment on ${what}`, async () => {
    await using t = await open()
    const denial = `${operation}/${authorization}/denyAssignments/${randomUUID()}`
    await t.plane.services.storeAsSystem(denial, roles, {
      properties: {
        denyAssignmentName: 'held',
        permissions: [{ actions: [action] }],
        principals: [{ id: everybody, type: 'SystemDefined' }],
      },
    })
    await refused(importOf(t, names), 'DenyAssignmentAuthorizationFailed', 403)
    assert.equal((await t.call('GET', policy, undefined, version)).status, 200)
  })
}

test('an import heeds a lock below an operation', async () => {
  await using t = await open()
  const lock = `${policy}/${authorization}/locks/keep`
  const body = { properties: { level: 'CanNotDelete' } }
  await t.call('PUT', lock, body, { version: '2016-09-01' })
  await refused(importOf(t, ['two']), 'ScopeLocked', 409)
})

test('an import replaces no more than some megabytes, since others wait for it', async () => {
  const store = await memoryStore()
  await using t = await open(store)
  const row = await store.get(operation.toLowerCase())
  assert.ok(row)
  const document = JSON.stringify({
    ...JSON.parse(row.document),
    observed: 'x'.repeat(1024 * 1024),
  })
  await store.transact(async (tx) => {
    for (let n = 0; n < 17; n++) {
      const id = `${api}/operations/large${n}`
      await tx.insert({ ...row, id, key: id.toLowerCase(), document, uniqueKey: null })
    }
  })
  await refused(importOf(t, ['two']), 'InvalidRequestContent', 400)
  assert.equal((await t.call('GET', policy, undefined, version)).status, 200)
})

test('a refusal for a taken address names its owner, and nothing else is read for that', async () => {
  const inner = await memoryStore()
  let most = 0
  const list: Store['list'] = async (query) => {
    const rows = await inner.list(query)
    most = Math.max(
      most,
      rows.reduce((sum, { document }) => sum + document.length, 0),
    )
    return rows
  }
  const store = new Proxy(inner, {
    get(target, name) {
      const member: unknown = name === 'list' ? list : Reflect.get(target, name)
      // Stores have private members, so their methods are bound to them.
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  await using t = await open(store)
  const row = await inner.get(operation.toLowerCase())
  assert.ok(row)
  const document = JSON.stringify({
    ...JSON.parse(row.document),
    observed: 'x'.repeat(1024 * 1024),
  })
  await inner.transact(async (tx) => {
    for (let n = 0; n < 5; n++) {
      const id = `${api}/operations/large${n}`
      await tx.insert({ ...row, id, key: id.toLowerCase(), document, uniqueKey: null })
    }
  })
  most = 0
  const properties = { displayName: 'Another', method: 'GET', urlTemplate: '/one' }
  const taken = t.call('PUT', `${api}/operations/another`, { properties }, version)
  await assert.rejects(taken, /operations\/one|one/)
  assert.ok(most < 1024 * 1024, `${most} characters in one list`)
})
