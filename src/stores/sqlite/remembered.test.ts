/** The store remembers only committed rows between transactions: nothing of a failed transaction shows. */

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'

import { contractOptions, contractRow } from '../contract/setting.ts'
import type { Store, Tx } from '../store.ts'
import { openSqlite } from './open.ts'

const key = '/subscriptions/s/locks/one'
const row = contractRow(key)
const refusal = new Error('refused')
const all = { type: row.type, under: '/', limit: 1 }

async function stored(t: TestContext): Promise<Store> {
  const folder = await mkdtemp(join(tmpdir(), 'armature-store-'))
  const store = await openSqlite({ path: join(folder, 'store.db'), ...contractOptions })
  t.after(async () => {
    await store[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })
  return store
}

const counted = (store: Store): Promise<number> => store.transact((tx) => tx.count(all))

async function fails(work: Promise<unknown>): Promise<void> {
  await assert.rejects(work, refusal)
}

test('a type without rows is counted again when one came', async (t) => {
  const store = await stored(t)
  assert.equal(await counted(store), 0)
  assert.equal(await counted(store), 0)
  await fails(
    store.transact(async (tx) => {
      await tx.insert(row)
      assert.equal(await tx.count(all), 1)
      throw refusal
    }),
  )
  assert.equal(await counted(store), 0)
  await store.transact((tx) => tx.insert(row))
  assert.equal(await counted(store), 1)
})

/** Removes the only row, sees that there is none, and is then refused. */
async function removeAndFail(tx: Tx): Promise<void> {
  await tx.remove(key, row.etag)
  assert.equal(await tx.count(all), 0)
  throw refusal
}

test('the last row of a type, removed by what failed, still counts', async (t) => {
  const store = await stored(t)
  await store.transact((tx) => tx.insert(row))
  await fails(store.transact(removeAndFail))
  assert.equal(await counted(store), 1)
  // In one batch with others, before and after.
  const [before, , after] = await Promise.allSettled([
    counted(store),
    store.transact(removeAndFail),
    counted(store),
  ])
  assert.deepEqual([before, after], Array(2).fill({ status: 'fulfilled', value: 1 }))
  assert.equal(await counted(store), 1)
  // A caller that awaits nothing cannot make it remember something after the rollback.
  await fails(
    store.transact(async (tx) => {
      void tx.remove(key, row.etag)
      void tx.count(all)
      throw refusal
    }),
  )
  assert.equal(await counted(store), 1)
})

test('rows are given as they were committed last', async (t) => {
  const store = await stored(t)
  await store.transact((tx) => tx.insert(row))
  const next = { ...row, etag: 'next', document: '{"next":true}' }
  const dropped = { ...row, etag: 'dropped', document: '{"dropped":true}' }
  await fails(
    store.transact(async (tx) => {
      await tx.update(dropped, row.etag)
      throw refusal
    }),
  )
  assert.deepEqual({ ...(await store.get(key)) }, row)
  await Promise.allSettled([
    store.transact((tx) => tx.update(next, row.etag)),
    store.transact(async (tx) => {
      await tx.update(dropped, 'next')
      throw refusal
    }),
  ])
  assert.deepEqual({ ...(await store.get(key)) }, next)
  const large = { ...next, etag: 'large', document: JSON.stringify('x'.repeat(4_000_000)) }
  await store.transact((tx) => tx.update(large, 'next'))
  assert.equal((await store.get(key))?.etag, 'large')
  await store.transact((tx) => tx.remove(key, 'large'))
  assert.equal(await store.get(key), undefined)
})
