/** Large answers of actions: few of one principal are made at once, so that those of fifty requests are not in memory together. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inRequestOf } from '#plane/behalf-of.ts'
import { memoryStore } from '#plane/testing/start.ts'
import type { Store } from '#stores/store.ts'
import { until } from '../../../tests/until.ts'
import { group, openInstallation } from '../testing/installation.ts'

const version = { version: '2021-04-01' }
const template = {
  $schema: 'https://schema.example/2019-04-01/deploymentTemplate.json#',
  contentVersion: '1.0.0.0',
  resources: [],
}

/** Sends five and counts those that have begun to read at the same time: `isRead` says which reading begins one. */
async function mostAtOnce(
  isRead: (query: Parameters<Store['list']>[0]) => boolean,
  { path, body }: { readonly path: string; readonly body: object },
): Promise<number> {
  const inner = await memoryStore()
  let [underWay, most, isHeld] = [0, 0, false]
  const free: (() => void)[] = []
  const list: Store['list'] = async (query) => {
    if (isHeld && isRead(query)) {
      most = Math.max(most, ++underWay)
      await new Promise<void>((done) => free.push(done))
      underWay--
    }
    return await inner.list(query)
  }
  const store = new Proxy(inner, {
    get(target, name) {
      const member: unknown = name === 'list' ? list : Reflect.get(target, name)
      // Stores have private members, so their methods are bound to them.
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  await using t = await openInstallation('implicit', store)
  await t.call('PUT', group, { location: 'local' }, version)
  isHeld = true
  let left = 5
  const all = Array.from({ length: left }, () =>
    inRequestOf(
      'somebody',
      () => undefined,
      () => t.call('POST', `${group}${path}`, body, version),
    ).finally(() => left--),
  )
  while (left > 0) {
    await until(() => free.length >= Math.min(2, left))
    // Whatever else begins at once has most likely begun by then.
    for (let turns = 0; turns < 20; turns++) await new Promise((done) => setImmediate(done))
    for (const done of free.splice(0)) done()
  }
  for (const { status } of await Promise.all(all)) assert.equal(status, 200)
  return most
}

test('two what-ifs of a principal are made at once', async () => {
  const path = '/providers/Vendor.Resources/deployments/d/whatIf'
  const body = { properties: { mode: 'Incremental', template } }
  assert.equal(await mostAtOnce(({ tracked }) => tracked === true, { path, body }), 2)
})

test('two exports of a group are made at once for a principal', async () => {
  const isRead = ({ type }: { readonly type?: string }) => type === 'vendor.secrets/vaults'
  assert.equal(await mostAtOnce(isRead, { path: '/exportTemplate', body: {} }), 2)
})
