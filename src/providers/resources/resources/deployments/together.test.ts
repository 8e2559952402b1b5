/**
 * The resources of a deployment share transactions. What changes between the trial of all and the write of each is seen by
 * each, and what is refused takes back no other's write. On both stores.
 */

import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { memoryStore, nobody } from '#plane/testing/start.ts'
import type { Store } from '#stores/store.ts'
import { findPostgres, howToGetPostgres, startPostgres } from '#stores/testing/postgres-server.ts'
import { requireOrSkip } from '../../../../../tests/require.ts'
import { ownerRoleId } from '../../../authorization/domain/built-in-roles.ts'
import {
  assignment,
  at,
  authorization,
  group,
  type Installation,
  json,
  openInstallation,
} from '../../../testing/installation.ts'
import { openPostgresStore } from '../../../testing/postgres-store.ts'

const count = 20
const version = { version: '2024-05-01' }
const service = `${group}/providers/Vendor.ApiManagement/service/svc`
const api = `${service}/apis/pets`
const deployment = `${group}/providers/Vendor.Resources/deployments/many`
const name = (index: number): string =>
  `${api}/operations/operation-${String(index).padStart(2, '0')}`

const template = {
  $schema: 'https://schema.example/2019-04-01/deploymentTemplate.json#',
  contentVersion: '1.0.0.0',
  resources: [
    {
      type: 'Vendor.ApiManagement/service/apis/operations',
      apiVersion: version.version,
      name: "[format('svc/pets/operation-{0:00}', copyIndex())]",
      copy: { name: 'operations', count },
      properties: {
        displayName: "[format('Operation {0}', copyIndex())]",
        method: 'GET',
        urlTemplate: "[format('/things/{0}', copyIndex())]",
      },
    },
  ],
}

interface Started extends AsyncDisposable {
  readonly t: Installation
  readonly store: Store
  /** Done once, right before the first transaction that resources share; the others wait for it too. */
  between(action: () => Promise<unknown>): void
  /** How many transactions several resources shared. */
  readonly shared: number
}

/** On a store that says when such a transaction begins. */
async function start(inner: Store): Promise<Started> {
  let action: (() => Promise<unknown>) | undefined
  let done: Promise<unknown> | undefined
  let shared = 0
  const transact: Store['transact'] = async (work, mode) => {
    // No request of this installation itself is decided by positions.
    if (typeof mode === 'object' && 'expected' in mode) {
      shared++
      done ??= action?.()
      await done
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
  const t = await openInstallation('implicit', store)
  const sku = { name: 'Developer', capacity: 1 }
  const properties = { publisherName: 'p', publisherEmail: 'p@example.com' }
  await t.call('PUT', service, { location: 'local', sku, properties }, version)
  await t.settle()
  const pets = { displayName: 'Pets', path: 'pets', protocols: ['https'] }
  await t.call('PUT', api, { properties: pets }, version)
  return {
    t,
    store,
    between(given) {
      action = given
      done = undefined
    },
    get shared() {
      return shared
    },
    [Symbol.asyncDispose]: () => t[Symbol.asyncDispose](),
  }
}

async function deploy(t: Installation, as = {}): Promise<ReturnType<typeof json>> {
  const properties = { mode: 'Incremental', template }
  const options = { version: '2025-03-01', ...as }
  await t.call('PUT', deployment, { properties }, options)
  await t.settle()
  return json(await t.call('GET', deployment, undefined, { version: '2025-03-01' })).properties
}

async function written(store: Store): Promise<readonly string[]> {
  const rows = await store.list({ under: `${api}/operations`.toLowerCase(), limit: 100 })
  return rows.map(({ id }) => id)
}

async function recordsOf(store: Store): Promise<number> {
  const text = 'select count(*) as n from events where action like ? and status = ?'
  const [row] = await store.sql.all(text, '%/apis/operations/write', 'Succeeded')
  return Number(row?.['n'])
}

const codesOf = (properties: ReturnType<typeof json>): readonly string[] =>
  properties.error.details.map(({ code }: { code: string }) => code)

function suite(
  open: (t: TestContext) => Promise<AsyncDisposable & { store: Store }> | undefined,
): void {
  const on = (title: string, work: (started: Started) => Promise<void>): void => {
    test(title, async (t) => {
      const opened = await open(t)
      if (opened === undefined) return
      await using _server = opened
      await using started = await start(opened.store)
      await work(started)
    })
  }

  on(
    'all are written in company, each with its record, and once more nothing changes',
    async (one) => {
      const { t, store } = one
      assert.equal((await deploy(t)).provisioningState, 'Succeeded')
      assert.ok(one.shared < count / 2, String(one.shared))
      assert.equal((await written(store)).length, count)
      assert.equal(await recordsOf(store), count)
      const tags = (await store.list({ under: api.toLowerCase(), limit: 100 })).map(
        ({ etag }) => etag,
      )
      assert.equal((await deploy(t)).provisioningState, 'Succeeded')
      const after = (await store.list({ under: api.toLowerCase(), limit: 100 })).map(
        ({ etag }) => etag,
      )
      assert.deepEqual(after, tags)
      assert.equal(await recordsOf(store), count)
    },
  )

  on('a right that is taken away meanwhile', async (one) => {
    const { t, store } = one
    const given = at(group)
    await t.call('PUT', given, assignment(nobody.id, ownerRoleId))
    one.between(() => t.call('DELETE', given))
    const properties = await deploy(t, { as: nobody })
    assert.equal(properties.provisioningState, 'Failed')
    assert.deepEqual(codesOf(properties), Array(count).fill('AuthorizationFailed'))
    assert.deepEqual(await written(store), [])
    assert.equal(await recordsOf(store), 0)
  })

  on('a lock that is made meanwhile', async (one) => {
    const { t, store } = one
    const lock = `${api}/${authorization}/locks/held`
    const properties_ = { level: 'ReadOnly' }
    one.between(() => t.call('PUT', lock, { properties: properties_ }, { version: '2016-09-01' }))
    const properties = await deploy(t)
    assert.deepEqual(codesOf(properties), Array(count).fill('ScopeLocked'))
    assert.deepEqual(await written(store), [])
  })

  on('a lock on one of them: the others are written', async (one) => {
    const { t, store } = one
    await deploy(t)
    await t.call('DELETE', name(7), undefined, { ...version, ifMatch: '*' })
    for (const index of [3, 4]) {
      const body = {
        properties: { displayName: 'Other', method: 'GET', urlTemplate: `/o/${index}` },
      }
      await t.call('PUT', name(index), body, version)
    }
    const lock = `${name(3)}/${authorization}/locks/held`
    const properties_ = { level: 'ReadOnly' }
    one.between(() => t.call('PUT', lock, { properties: properties_ }, { version: '2016-09-01' }))
    const properties = await deploy(t)
    assert.deepEqual(codesOf(properties), ['ScopeLocked'])
    assert.equal((await written(store)).length, count + 1)
    const shown = json(await t.call('GET', name(3), undefined, version)).properties
    assert.equal(shown.urlTemplate, '/o/3')
    const changed = json(await t.call('GET', name(4), undefined, version)).properties
    assert.equal(changed.urlTemplate, '/things/4')
    assert.equal((await t.call('GET', name(7), undefined, version)).status, 200)
  })

  on('a row that another makes meanwhile is changed', async (one) => {
    const { t, store } = one
    const body = { properties: { displayName: 'Other', method: 'POST', urlTemplate: '/other' } }
    one.between(() => t.call('PUT', name(5), body, version))
    assert.equal((await deploy(t)).provisioningState, 'Succeeded')
    assert.equal((await written(store)).length, count)
    const shown = json(await t.call('GET', name(5), undefined, version)).properties
    assert.equal(`${shown.method} ${shown.urlTemplate}`, 'GET /things/5')
    assert.equal(await recordsOf(store), count + 1)
  })

  on(
    'a unique key that another takes meanwhile: one is refused, the others are written',
    async (one) => {
      const { t, store } = one
      const body = { properties: { displayName: 'Other', method: 'GET', urlTemplate: '/things/5' } }
      const other = `${api}/operations/other`
      one.between(() => t.call('PUT', other, body, version))
      const properties = await deploy(t)
      assert.deepEqual(codesOf(properties), ['ValidationError'])
      const expected = Array.from({ length: count }, (_, index) => name(index))
      const all = [...expected.filter((id) => id !== name(5)), other]
      assert.deepEqual([...(await written(store))].sort(), all.sort())
      assert.equal(await recordsOf(store), count)
    },
  )

  on('a parent that is deleted meanwhile', async (one) => {
    const { t, store } = one
    one.between(() => t.call('DELETE', api, undefined, { ...version, ifMatch: '*' }))
    const properties = await deploy(t)
    assert.deepEqual(codesOf(properties), Array(count).fill('ParentResourceNotFound'))
    assert.deepEqual(await written(store), [])
  })
}

describe('SQLite', () => {
  suite(async () => ({ store: await memoryStore(), async [Symbol.asyncDispose]() {} }))
})

describe('PostgreSQL', () => {
  suite((t) => {
    if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return undefined
    return openServer()
  })
})

async function openServer(): Promise<AsyncDisposable & { store: Store }> {
  const server = await startPostgres({ fsync: false })
  const store = await openPostgresStore(server, 4)
  return { store, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}
