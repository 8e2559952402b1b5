/** A scope with large stacks below: others write while it is deleted, so no transaction reads all of it. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTerminalState } from '#kernel/operation.ts'
import { memoryStore } from '#plane/testing/start.ts'
import type { Store, Tx } from '#stores/store.ts'
import { until } from '../../../../../tests/until.ts'
import {
  group,
  type Started,
  startDeployments,
  subscription,
  templateFor,
} from '../../testing/start.ts'

const version = { version: '2024-03-01' }
const groups = { version: '2021-04-01' }
const megabyte = 1024 * 1024

/** Counts the characters of all rows that one transaction reads. */
function measured(inner: Store): { readonly store: Store; most: number } {
  const result = { store: inner, most: 0 }
  const counting = (tx: Tx): Tx => {
    let read = 0
    const add = (rows: readonly ({ readonly document: string } | undefined)[]): void => {
      for (const row of rows) read += row?.document.length ?? 0
      result.most = Math.max(result.most, read)
    }
    const list: Tx['list'] = async (query) => {
      const rows = await tx.list(query)
      add(rows)
      return rows
    }
    const lock: Tx['lock'] = async (key, mode) => {
      const row = await tx.lock(key, mode)
      add([row])
      return row
    }
    return withMethods(tx, { list, lock })
  }
  const transact: Store['transact'] = (work, mode) =>
    inner.transact((tx) => work(counting(tx)), mode)
  result.store = withMethods(inner, { transact })
  return result
}

function withMethods<T extends object>(inner: T, own: Partial<T>): T {
  return new Proxy(inner, {
    get(target, name) {
      const member: unknown = Reflect.get(own, name) ?? Reflect.get(target, name)
      // Stores have private members, so their methods are bound to them.
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

test('a scope with large stacks below is deleted in transactions that read a few megabytes each', async () => {
  await readsLittle()
})

test('so is one by whoever is denied something elsewhere', async () => {
  await readsLittle(async (t) => {
    const other = `${subscription}/resourceGroups/other`
    await t.call('PUT', other, { location: 'local' }, groups)
    const vault = { type: 'Vendor.Secrets/vaults', apiVersion: '2026-01-01', name: 'v' }
    const properties = {
      template: templateFor([{ ...vault, location: 'local' }]),
      actionOnUnmanage: { resources: 'detach', resourceGroups: 'detach' },
      denySettings: { mode: 'denyDelete' },
    }
    const path = `${other}/providers/Vendor.Resources/deploymentStacks/deny`
    await t.call('PUT', path, { properties }, version)
  })
})

async function readsLittle(prepare: (t: Started) => Promise<void> = async () => {}): Promise<void> {
  await using inner = await memoryStore()
  const reads = measured(inner)
  await using t = await startDeployments({ store: reads.store })
  await prepare(t)
  const template = templateFor([], { metadata: { note: 'x'.repeat(megabyte) } })
  const properties = {
    template,
    actionOnUnmanage: { resources: 'detach', resourceGroups: 'detach' },
    denySettings: { mode: 'none' },
  }
  for (let at = 0; at < 12; at++) {
    const path = `${group}/providers/Vendor.Resources/deploymentStacks/s${at}`
    await t.call('PUT', path, { properties }, version)
  }
  await t.plane.reconciler.idle()
  reads.most = 0
  assert.equal((await t.call('DELETE', group, undefined, groups)).status, 202)
  await until(async () => (await t.plane.reader.get(group)) === undefined)
  assert.ok(reads.most < 8 * megabyte, `${reads.most} characters in one transaction`)
}

test('a deployment writes over large resources in transactions that read a few megabytes each', async () => {
  await using inner = await memoryStore()
  const reads = measured(inner)
  await using t = await startDeployments({ store: reads.store })
  const specs = { version: '2022-02-01' }
  const spec = `${group}/providers/Vendor.Resources/templateSpecs/large`
  await t.call('PUT', spec, { location: 'local' }, specs)
  const names = Array.from({ length: 12 }, (_, at) => `v${at}`)
  const mainTemplate = templateFor([], { metadata: { note: 'x'.repeat(megabyte) } })
  for (const name of names) {
    const body = { location: 'local', properties: { mainTemplate } }
    await t.call('PUT', `${spec}/versions/${name}`, body, specs)
  }
  reads.most = 0
  const type = 'Vendor.Resources/templateSpecs/versions'
  const template = templateFor(
    names.map((name) => ({
      type,
      apiVersion: specs.version,
      name: `large/${name}`,
      location: 'local',
      properties: { mainTemplate: templateFor([]) },
    })),
  )
  const properties = { mode: 'Incremental', template }
  const path = `${group}/providers/Vendor.Resources/deployments/over`
  await t.call('PUT', path, { properties })
  await t.settle()
  // It answers a deployment.
  const { body } = await t.call('GET', path)
  assert.equal(JSON.parse(JSON.stringify(body)).properties.provisioningState, 'Succeeded')
  assert.ok(reads.most < 8 * megabyte, `${reads.most} characters in one transaction`)
})

test('the actions that a stack excludes have a size: they are compared at each write of what it denies', async () => {
  await using t = await startDeployments()
  const put = (excludedActions: readonly string[]) => {
    const denySettings = { mode: 'denyDelete', excludedActions }
    const properties = {
      template: templateFor([]),
      actionOnUnmanage: { resources: 'detach' },
      denySettings,
    }
    return t.call(
      'PUT',
      `${group}/providers/Vendor.Resources/deploymentStacks/one`,
      { properties },
      version,
    )
  }
  const actions = (length: number) => Array.from({ length: 200 }, () => 'a'.repeat(length))
  assert.equal((await put(actions(80))).status, 201)
  await t.settle()
  await assert.rejects(put(actions(85)), /16384 characters/)
})

test('a stack that failed deployments made large is deployed no more, and can be deleted', async () => {
  await using store = await memoryStore()
  await using t = await startDeployments({ store })
  const path = `${group}/providers/Vendor.Resources/deploymentStacks/grown`
  const properties = {
    template: templateFor([]),
    actionOnUnmanage: { resources: 'detach' },
    denySettings: { mode: 'none' },
  }
  const settled = () =>
    until(async () => isTerminalState((await t.plane.reader.get(path))?.state ?? ''))
  await t.call('PUT', path, { properties }, version)
  await settled()
  const key = path.toLowerCase()
  const manage = (count: number): Promise<void> =>
    store.transact(async (tx) => {
      const row = await tx.lock(key, 'change')
      assert.ok(row !== undefined)
      const document = JSON.parse(row.document)
      document.observed.resources = Array.from({ length: count }, (_, at) => ({
        id: `${group}/providers/Vendor.Secrets/vaults/v${at}`,
        status: 'managed',
        denyStatus: 'none',
      }))
      await tx.update({ ...row, document: JSON.stringify(document) }, row.etag)
    })
  await manage(10_001)
  await assert.rejects(t.call('PUT', path, { properties }, version), /manages 10001 resources/)
  await manage(10_000)
  await t.call('PUT', path, { properties }, version)
  await settled()
  await manage(10_001)
  await t.call('DELETE', path, undefined, version)
  await until(async () => (await t.plane.reader.get(path)) === undefined)
})
