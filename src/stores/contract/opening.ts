/** The store contract, part five: opening, closing, migrating, refusing. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { weightOf } from '#kernel/json-weight.ts'

import { type Migration, type Store, StoreUnavailable } from '../store.ts'
import {
  type ContractSetting,
  contractMigration,
  contractRow,
  type Given,
  isNever,
} from './setting.ts'

export function openingContract(name: string, given: Given, setting: ContractSetting): void {
  describe(`${name}: opening`, () => {
    given('a store answers, until it is closed', async (store) => {
      await store.ping()
      await store[Symbol.asyncDispose]()
      await assert.rejects(store.ping(), StoreUnavailable)
      await assert.rejects(
        store.transact(async () => 1),
        StoreUnavailable,
      )
      await store[Symbol.asyncDispose]()
    })

    given('what was written or read and is large is known by its size', async (store) => {
      const document = JSON.stringify({ text: 'x'.repeat(300_000) })
      const row = contractRow('/large', { document })
      await store.transact((tx) => tx.insert(row))
      assert.equal(store.largeAt('/large'), weightOf(document))
      assert.equal(store.largeAt('/large/below/it'), weightOf(document))
      assert.equal(store.largeAt('/larger'), 0)
      await store.transact((tx) => tx.update({ ...row, document: '{}', etag: 'e2' }, row.etag))
      assert.equal(store.largeAt('/large'), 0)
      await store.transact((tx) => tx.update({ ...row, etag: 'e3' }, 'e2'))
      assert.equal(store.largeAt('/large'), weightOf(document))
      await store.transact((tx) => tx.remove('/large', 'e3'))
      assert.equal(store.largeAt('/large'), 0)
      // A short one of many objects is as large in memory.
      const dense = JSON.stringify({ list: Array.from({ length: 20_000 }, () => ({})) })
      await store.transact((tx) => tx.insert({ ...row, document: dense }))
      assert.ok(store.largeAt('/large') > 20_000 * 24)
    })

    given('closing ends what was handed in', async (store) => {
      const writes = ['/a', '/b'].map((key) => store.transact((tx) => tx.insert(contractRow(key))))
      await store[Symbol.asyncDispose]()
      await Promise.all(writes)
    })

    if (!setting.durable) return

    test('what was answered is there after opening again', async (t) => {
      const place = await setting.place(t)
      if (place === undefined) return
      {
        await using store = await place()
        await store.transact(async (tx) => {
          await tx.insert(contractRow('/a'))
          await tx.schedule('/a', 10)
          await tx.follow('f', '/a')
        })
        await store.claimDue('one', 10, 0, 1)
      }
      await using store = await place()
      assert.deepEqual(await store.get('/a'), contractRow('/a'))
      assert.equal(await store.feed('f').position(), 1)
      await store.sql.transact((tx) => tx.follow('f', '/b'))
      assert.deepEqual(await store.feed('f').since(0, 9), { position: 2, keys: ['/a', '/b'] })
      const [claim] = await store.claimDue('two', 1_000_000, 30, 1)
      assert.ok(claim !== undefined && claim.fence >= 2)
    })

    test('migrations are applied once, also by areas that came later', async (t) => {
      const place = await setting.place(t)
      if (place === undefined) return
      await (await place())[Symbol.asyncDispose]()
      for (let time = 0; time < 2; time++) {
        await using store: Store = await place({ migrations: [contractMigration] })
        assert.deepEqual(await store.sql.all('SELECT id FROM parts'), [])
      }
    })

    test('a failing migration leaves nothing behind', async (t) => {
      const place = await setting.place(t)
      if (place === undefined) return
      const second: Migration = { ...contractMigration, number: 2, sqlite: ['x'], postgres: ['x'] }
      await assert.rejects(place({ migrations: [contractMigration, second] }))
      await using store = await place({ migrations: [contractMigration] })
      assert.deepEqual(await store.sql.all('SELECT id FROM parts'), [])
    })

    test('a store of a newer version is refused', async (t) => {
      const place = await setting.place(t)
      if (place === undefined) return
      const second: Migration = { ...contractMigration, number: 2, sqlite: [], postgres: [] }
      await (await place({ migrations: [contractMigration, second] }))[Symbol.asyncDispose]()
      await assert.rejects(place({ migrations: [contractMigration] }), isNever)
      await assert.rejects(place(), isNever)
      await using _store = await place({ migrations: [contractMigration, second] })
    })

    test('other vendor words are refused', async (t) => {
      const place = await setting.place(t)
      if (place === undefined) return
      await (await place())[Symbol.asyncDispose]()
      await assert.rejects(place({ words: { namespace: 'Other', brand: 'Vendor' } }), isNever)
      await assert.rejects(place({ words: { namespace: 'Vendor', brand: 'Other' } }), isNever)
      await using _store = await place()
    })
  })
}
