import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { memoryStore, nobody } from '#plane/testing/start.ts'
import type { Store } from '#stores/store.ts'
import { findPostgres, howToGetPostgres, startPostgres } from '#stores/testing/postgres-server.ts'
import { requireOrSkip } from '../../../../../tests/require.ts'
import { everybody } from '../../../authorization/resources/deny-assignments/model.ts'
import {
  assignment,
  at,
  authorization,
  group,
  type Installation,
  json,
  openInstallation,
  refused,
  subscription,
} from '../../../testing/installation.ts'
import { openPostgresStore } from '../../../testing/postgres-store.ts'

const reader = 'acdd72a7-3385-48ef-bd42-f606fba81ae7'
const contributor = 'b24988ac-6180-42a0-ab88-20f7382dd24c'
const groups = { version: '2021-04-01' }
const vaults = { version: '2026-01-01' }
const identities = { version: '2023-01-31' }
const other = '/subscriptions/22222222-2222-4333-8444-555555555555/resourceGroups/elsewhere'
const vaultIn = (scope: string) => `${scope}/providers/Vendor.Secrets/vaults/keys`
const vault = { location: 'here', tags: { a: 'b' }, properties: {} }

async function open(store?: Store): Promise<Installation> {
  const t = await openInstallation('implicit', store)
  for (const scope of [group, other]) await t.call('PUT', scope, { location: 'local' }, groups)
  await t.call('PUT', vaultIn(group), vault, vaults)
  const secret = { properties: { value: 'hush' } }
  await t.call('PUT', `${vaultIn(group)}/secrets/one`, secret, vaults)
  return t
}

function move(t: Installation, resources: readonly string[], options: object = {}) {
  const body = { resources, targetResourceGroup: other }
  return t.call('POST', `${group}/moveResources`, body, { ...groups, ...options })
}

test('a resource and what is below it have new ids, in another subscription; what they are stays', async () => {
  await using t = await open()
  await t.call('PUT', at(vaultIn(group)), assignment(nobody.id, reader))
  const before = json(await t.call('GET', vaultIn(group), undefined, vaults))
  const body = { resources: [vaultIn(group)], targetResourceGroup: other }
  const validated = await t.call('POST', `${group}/validateMoveResources`, body, groups)
  assert.equal(validated.status, 204)
  assert.equal((await t.call('GET', vaultIn(group), undefined, vaults)).status, 200)
  assert.equal((await move(t, [vaultIn(group)])).status, 204)
  await refused(t.call('GET', vaultIn(group), undefined, vaults), 'ResourceNotFound', 404)
  const after = json(await t.call('GET', vaultIn(other), undefined, vaults))
  assert.equal(after.id, vaultIn(other))
  assert.deepEqual([after.tags, after.properties], [before.tags, before.properties])
  assert.equal(after.systemData.createdAt, before.systemData.createdAt)
  // The value is sealed, and opens where it is now.
  const verified = await t.call('POST', `${vaultIn(other)}/secrets/one/verify`, undefined, vaults)
  assert.equal(json(verified).readable, true)
  // Role assignments end where the resource was.
  const list = `${vaultIn(other)}/${authorization}/roleAssignments?$filter=atScope()`
  const scopes = json(await t.call('GET', list)).value.map(
    (one: { properties: { scope: string } }) => one.properties.scope,
  )
  assert.ok(!scopes.includes(vaultIn(other)))
  // Its name is free for nobody else, and may come back.
  const back = { resources: [vaultIn(other)], targetResourceGroup: group }
  assert.equal((await t.call('POST', `${other}/moveResources`, back, groups)).status, 204)
})

test('all of them move or none: what cannot move is named', async () => {
  await using t = await open()
  const identity = `${group}/providers/Vendor.ManagedIdentity/userAssignedIdentities/worker`
  await t.call('PUT', identity, { location: 'local' }, identities)
  await t.settle()
  await assert.rejects(move(t, [vaultIn(group), identity]), (error) => {
    assert.match(String(error), /worker' cannot be moved: its type 'Vendor.ManagedIdentity/)
    return true
  })
  assert.equal((await t.call('GET', vaultIn(group), undefined, vaults)).status, 200)
  await refused(move(t, [`${vaultIn(group)}x`]), 'ResourceNotFound', 404)
  await refused(move(t, [`${vaultIn(group)}/secrets/one`]), 'InvalidRequestContent', 400)
  await refused(move(t, [vaultIn(other)]), 'InvalidRequestContent', 400)
})

for (const [scope, level] of [
  [vaultIn(group), 'CanNotDelete'],
  [`${vaultIn(group)}/secrets/one`, 'CanNotDelete'],
  [group, 'CanNotDelete'],
  [other, 'ReadOnly'],
] as const) {
  test(`a lock of the level ${level} at ${scope} stands in the way`, async () => {
    await using t = await open()
    const lock = `${scope}/${authorization}/locks/keep`
    await t.call('PUT', lock, { properties: { level } }, { version: '2016-09-01' })
    await refused(move(t, [vaultIn(group)]), 'ScopeLocked', 409)
    await t.call('DELETE', lock, undefined, { version: '2016-09-01' })
    assert.equal((await move(t, [vaultIn(group)])).status, 204)
  })
}

test('a name whose small letters are longer moves to the place that is asked about', async () => {
  await using t = await open()
  const own = (scope: string) => `${vaultIn(scope)}2`
  const mine = group.replace(/[^/]+$/, 'g\u0130')
  await t.call('PUT', mine, { location: 'local' }, groups)
  await t.call('PUT', own(mine), { ...vault, properties: {} }, vaults)
  const lock = `${other}/${authorization}/locks/keep`
  await t.call('PUT', lock, { properties: { level: 'ReadOnly' } }, { version: '2016-09-01' })
  const spellings = [mine, mine.replace('\u0130', 'i\u0307')]
  const moves = spellings.flatMap((from) => spellings.map((listed) => [from, listed] as const))
  for (const [from, listed] of moves) {
    const body = { resources: [own(listed)], targetResourceGroup: other }
    await refused(t.call('POST', `${from}/moveResources`, body, groups), 'ScopeLocked', 409)
  }
  await t.call('DELETE', lock, undefined, { version: '2016-09-01' })
  const body = { resources: [own(spellings[1] ?? '')], targetResourceGroup: other }
  assert.equal((await t.call('POST', `${mine}/moveResources`, body, groups)).status, 204)
  assert.equal((await t.call('GET', own(other), undefined, vaults)).status, 200)
})

test('the target is a resource group, and nothing in one', async () => {
  await using t = await open()
  for (const target of [`${other}/providers/x`, `${other}/foo/bar`, vaultIn(other), '/', '']) {
    const body = { resources: [vaultIn(group)], targetResourceGroup: target }
    await refused(
      t.call('POST', `${group}/moveResources`, body, groups),
      'InvalidRequestContent',
      400,
    )
  }
})

test('it takes rights on both sides', async () => {
  await using t = await open()
  const as = { as: nobody }
  await t.call('PUT', at(group), assignment(nobody.id, contributor))
  await refused(move(t, [vaultIn(group)], as), 'AuthorizationFailed', 403)
  await t.call('PUT', at(other), assignment(nobody.id, contributor))
  assert.equal((await move(t, [vaultIn(group)], as)).status, 204)
  assert.equal(
    (await t.call('GET', subscription, undefined, { version: '2022-12-01' })).status,
    200,
  )
})

const deny = '2022-04-01'
const apim = { version: '2024-05-01' }
const serviceIn = (scope: string) => `${scope}/providers/Vendor.ApiManagement/service/svc`

async function openWithService(store?: Store): Promise<Installation> {
  const t = await open(store)
  const sku = { name: 'Developer', capacity: 1 }
  const properties = { publisherName: 'p', publisherEmail: 'p@example.com' }
  await t.call('PUT', serviceIn(group), { location: 'local', sku, properties }, apim)
  await t.settle()
  const value = { properties: { displayName: 'nv', secret: true, value: 'hush' } }
  await t.call('PUT', `${serviceIn(group)}/namedValues/nv`, value, apim)
  return t
}

/** A role of just these actions in the group, for a principal that owns the other group. */
async function allow(t: Installation, actions: readonly string[]): Promise<void> {
  const name = randomUUID()
  const roleName = `mover ${name}`
  const properties = { roleName, assignableScopes: [group], permissions: [{ actions }] }
  await t.call('PUT', `${group}/${authorization}/roleDefinitions/${name}`, { properties })
  await t.call('PUT', at(group), assignment(nobody.id, name))
}

test('who moves something has every right over all that moves, secrets included', async () => {
  await using t = await openWithService()
  await t.call('PUT', at(other), assignment(nobody.id, contributor))
  const own = 'Vendor.ApiManagement/service'
  const move_ = 'Vendor.Resources/subscriptions/resourceGroups/moveResources/action'
  await allow(t, [move_, `${own}/read`, `${own}/write`, `${own}/delete`])
  const tried = (): Promise<unknown> => move(t, [serviceIn(group)], { as: nobody })
  await refused(tried(), 'AuthorizationFailed', 403)
  const value = `${own}/namedValues`
  await allow(t, [`${value}/read`, `${value}/write`, `${value}/delete`])
  await assert.rejects(tried(), /namedValues\/listValue\/action/)
  await allow(t, [`${value}/listValue/action`])
  await tried()
  const path = `${serviceIn(other)}/namedValues/nv`
  assert.equal((await t.call('GET', path, undefined, { ...apim, as: nobody })).status, 200)
})

test('subscriptions to products of a service are to them where the service is now', async () => {
  await using t = await openWithService()
  const named = (scope: string, path: string) => `${serviceIn(scope)}/${path}`
  await t.call('PUT', named(group, 'products/p'), { properties: { displayName: 'P' } }, apim)
  const properties = { displayName: 'S', scope: '/products/p' }
  await t.call('PUT', named(group, 'subscriptions/s'), { properties }, apim)
  await move(t, [serviceIn(group)])
  const shown = async () => {
    const answer = await t.call('GET', named(other, 'subscriptions/s'), undefined, apim)
    return json(answer).properties.scope
  }
  const product = named(other, 'products/p')
  assert.equal(await shown(), product.toLowerCase())
  const deletion = t.call('DELETE', product, undefined, { ...apim, ifMatch: '*' })
  await assert.rejects(deletion, /existing subscriptions/)
  await t.call('PUT', named(other, 'subscriptions/s'), { properties }, { ...apim, ifMatch: '*' })
  assert.equal(await shown(), product.toLowerCase())
  const all = `${product}?deleteSubscriptions=true`
  await t.call('DELETE', all, undefined, { ...apim, ifMatch: '*' })
  await assert.rejects(shown(), { status: 404 })
})

test('what is denied below a resource is denied to its move', async () => {
  await using t = await open()
  const { storeAsSystem } = t.plane.services
  const secret = `${vaultIn(group)}/secrets/one`
  const denial = `${secret}/${authorization}/denyAssignments/${randomUUID()}`
  for (const action of ['*/delete', '*/getValue/action']) {
    await storeAsSystem(denial, deny, {
      properties: {
        denyAssignmentName: 'held',
        permissions: [{ actions: [action] }],
        principals: [{ id: everybody, type: 'SystemDefined' }],
      },
    })
    await refused(move(t, [vaultIn(group)]), 'DenyAssignmentAuthorizationFailed', 403)
  }
})

test('what hangs on a group is not moved by itself', async () => {
  await using t = await open()
  const given = at(group)
  await t.call('PUT', given, assignment(nobody.id, reader))
  await refused(move(t, [given]), 'ResourceMoveNotSupported', 409)
  assert.equal((await t.call('GET', given)).status, 200)
})

test('the bound is of all resources together', async () => {
  const store = await memoryStore()
  await using t = await open(store)
  const names = ['a', 'b']
  for (const name of names) await t.call('PUT', `${vaultIn(group)}${name}`, vault, vaults)
  const row = await store.get(`${vaultIn(group)}/secrets/one`.toLowerCase())
  assert.ok(row)
  await store.transact(async (tx) => {
    for (const name of names) {
      for (let n = 0; n < 2500; n++) {
        const id = `${vaultIn(group)}${name}/secrets/s${n}`
        await tx.insert({ ...row, id, key: id.toLowerCase() })
      }
    }
  })
  const paths = names.map((name) => `${vaultIn(group)}${name}`)
  await refused(move(t, paths), 'ResourceMoveTooLarge', 409)
  assert.equal((await t.call('GET', paths[0] ?? '', undefined, vaults)).status, 200)
})

test('a move or a DELETE whose deadline has passed is taken back', async () => {
  await using t = await open()
  const signal = AbortSignal.abort(new Error('too late'))
  await assert.rejects(move(t, [vaultIn(group)], { signal }), /too late/)
  const deleted = t.call('DELETE', vaultIn(group), undefined, { ...vaults, signal })
  await assert.rejects(deleted, /too late/)
  assert.equal((await t.call('GET', vaultIn(group), undefined, vaults)).status, 200)
})

test('a move, an import and a DELETE need no second connection (PostgreSQL)', async (context) => {
  if (!requireOrSkip(context, findPostgres() !== undefined, howToGetPostgres)) return
  await using server = await startPostgres({ fsync: false })
  await using t = await openWithService(await openPostgresStore(server, 1))
  const paths = { '/pets': { get: { operationId: 'list', responses: { 200: {} } } } }
  const value = JSON.stringify({ openapi: '3.0.1', info: { title: 'Pets', version: '1' }, paths })
  const properties = { format: 'openapi+json', value, path: 'pets' }
  const api = `${serviceIn(group)}/apis/pets`
  const made = await t.call('PUT', api, { properties }, apim)
  assert.ok(made.status < 300, JSON.stringify(made.body))
  await move(t, [serviceIn(group)])
  const operation = `${serviceIn(other)}/apis/pets/operations/list`
  assert.equal((await t.call('GET', operation, undefined, apim)).status, 200)
  const revised = `${serviceIn(other)}/apis/pets`
  for (const path of [`${revised};rev=2`, `${revised};rev=3`]) {
    await t.call('PUT', path, { properties: { displayName: 'Pets', path: 'pets' } }, apim)
  }
  await t.call('DELETE', `${revised}?deleteRevisions=true`, undefined, apim)
  await refused(t.call('GET', `${revised};rev=3`, undefined, apim), 'ResourceNotFound', 404)
  await t.call('DELETE', serviceIn(other), undefined, apim)
  await refused(t.call('GET', operation, undefined, apim), 'ResourceNotFound', 404)
})

test('what is made below a resource while it moves stays nowhere without it (PostgreSQL)', async (context) => {
  if (!requireOrSkip(context, findPostgres() !== undefined, howToGetPostgres)) return
  await using server = await startPostgres({ fsync: false })
  const store = await openPostgresStore(server, 4)
  await using t = await openWithService(store)
  const api = `${serviceIn(group)}/apis/pets`
  const properties = { displayName: 'Pets', path: 'pets', protocols: ['https'] }
  await t.call('PUT', api, { properties }, apim)
  const operation = `${api}/operations/one`
  const one = { properties: { displayName: 'One', method: 'GET', urlTemplate: '/one' } }
  await t.call('PUT', operation, one, apim)
  const row = await store.get(operation.toLowerCase())
  assert.ok(row)
  // As the PUT of a child does, which holds its parent and has not ended when the move begins.
  let moved: Promise<unknown> = Promise.resolve()
  const outside = AsyncLocalStorage.snapshot()
  await store.transact(async (tx) => {
    await tx.lock(api.toLowerCase(), 'share')
    moved = outside(() => refused(move(t, [serviceIn(group)]), 'Conflict', 409))
    await setTimeout(500)
    const id = `${operation}b`
    await tx.insert({ ...row, id, key: id.toLowerCase(), uniqueKey: 'another' })
  })
  await moved
  assert.equal((await t.call('GET', operation, undefined, apim)).status, 200)
})

test('nor may they have more than some megabytes together, since others wait for the move', async () => {
  const store = await memoryStore()
  await using t = await open(store)
  const row = await store.get(`${vaultIn(group)}/secrets/one`.toLowerCase())
  assert.ok(row)
  const document = JSON.stringify({
    ...JSON.parse(row.document),
    observed: 'x'.repeat(1024 * 1024),
  })
  await store.transact(async (tx) => {
    for (let n = 0; n < 17; n++) {
      const id = `${vaultIn(group)}/secrets/s${n}`
      await tx.insert({ ...row, id, key: id.toLowerCase(), document })
    }
  })
  await refused(move(t, [vaultIn(group)]), 'ResourceMoveTooLarge', 409)
  assert.equal((await t.call('GET', vaultIn(group), undefined, vaults)).status, 200)
})
