/** Definitions of megabytes each: what lists of others show of them, and who waits while they are looked through. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore } from '#plane/testing/start.ts'
import type { Store } from '#stores/store.ts'
import { group, openInstallation, refused } from '../testing/installation.ts'
import { problemsOf } from './testing/start.ts'

const version = { version: '2021-08-01' }
const service = `${group}/providers/Vendor.ApiManagement/service/shop`
const product = `${service}/products/all`
const set = `${service}/apiVersionSets/pets`
const names = ['a', 'b', 'c']

/** As an earlier version kept it: with megabytes. */
async function grow(store: Store, path: string): Promise<void> {
  await store.transact(async (tx) => {
    const row = await tx.lock(path.toLowerCase(), 'change')
    assert.ok(row)
    const { model, ...rest } = JSON.parse(row.document)
    const description = 'x'.repeat(1_200_000)
    await tx.remove(row.key, row.etag)
    await tx.insert({
      ...row,
      document: JSON.stringify({ ...rest, model: { ...model, description } }),
    })
  })
}

/** The service with APIs of a product. They grow after they were linked. */
async function open(store?: Store) {
  store ??= await memoryStore()
  const t = await openInstallation('implicit', store)
  const put = (path: string, properties: object) =>
    t.call('PUT', path, { properties }, version).then(({ status }) => assert.ok(status < 300))
  const sku = { name: 'Developer', capacity: 1 }
  const properties = { publisherName: 'a', publisherEmail: 'a@b.example' }
  await t.call('PUT', service, { location: 'local', sku, properties }, version)
  await put(product, { displayName: 'All' })
  await put(set, { displayName: 'Pets', versioningScheme: 'Segment' })
  for (const name of names) {
    await put(`${service}/apis/${name}`, { path: name })
    await put(`${product}/apis/${name}`, {})
    await grow(store, `${service}/apis/${name}`)
  }
  return { ...t, put }
}

test('a list of links ends with the bytes of what they lead to, and goes on behind it', async () => {
  await using t = await open()
  const path = `${product}/apis`
  const page = async (query = '') => {
    const { body, nextToken } = await t.call('GET', `${path}${query}`, undefined, version)
    const { value } = JSON.parse(JSON.stringify(body))
    return { names: value.map(({ name }: { name: string }) => name), nextToken }
  }
  const first = await page()
  assert.deepEqual(first.names, ['a', 'b'])
  const rest = await page(`?$skiptoken=${encodeURIComponent(first.nextToken ?? '')}`)
  assert.deepEqual(rest, { names: ['c'], nextToken: undefined })
})

test('whether a version set is in use is found out before the transaction that deletes it', async () => {
  const inner = await memoryStore()
  const inside: string[] = []
  const transact: Store['transact'] = (work, mode) =>
    inner.transact((tx) => {
      const { list } = tx
      tx.list = (query) => {
        inside.push(query.type ?? '')
        return list.call(tx, query)
      }
      return work(tx)
    }, mode)
  const store = new Proxy(inner, {
    get(target, name) {
      const member: unknown = name === 'transact' ? transact : Reflect.get(target, name)
      // Stores have private members, so their methods are bound to them.
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  await using t = await open(store)
  await t.put(`${service}/apis/d`, { path: 'd', apiVersionSetId: `/apiVersionSets/pets` })
  await refused(t.call('DELETE', set, undefined, version), 'VersionSetInUse', 409)
  assert.equal((await t.call('DELETE', `${service}/apis/d`, undefined, version)).status, 200)
  inside.length = 0
  assert.equal((await t.call('DELETE', set, undefined, version)).status, 200)
  assert.ok(!inside.includes('vendor.apimanagement/service/apis'), String(inside))
})

test('members of an API whose shape is open have a bound', async () => {
  await using t = await open()
  const large = { x: 'x'.repeat(65_536) }
  const properties = { path: 'e', authenticationSettings: large, apiVersionSet: large }
  const refusal = t.call('PUT', `${service}/apis/e`, { properties }, version)
  const paths = ['properties.authenticationSettings', 'properties.apiVersionSet']
  assert.deepEqual(await problemsOf(refusal), paths)
})
