/**
 * What the parts of the store contract share: where a store lives during a test, what it is opened with, and
 * the rows it is given. Asserts nothing itself.
 */

import { type TestContext, test } from 'node:test'

import {
  type EventRow,
  type ListQuery,
  type Migration,
  type OperationRow,
  type ResourceRow,
  type Store,
  StoreConflict,
  type StoreOptions,
  StoreUnavailable,
} from '../store.ts'

/** A place where a store may live: opened again, it holds what was in it. */
export type Place = (options?: Partial<StoreOptions>) => Promise<Store>

export interface ContractSetting {
  /** A fresh, empty place, or `undefined` when the test was skipped for lack of a server. */
  readonly place: (t: TestContext) => Promise<Place | undefined>
  /** False for a store that ends with its process. */
  readonly durable: boolean
}

/** What each place opens with, unless a test says otherwise. */
export const contractOptions: StoreOptions = {
  migrations: [],
  words: { namespace: 'Vendor', brand: 'Vendor' },
  transactionRetriesMax: 8,
}

export function contractRow(key: string, over: Partial<ResourceRow> = {}): ResourceRow {
  return {
    key,
    id: key.toUpperCase(),
    type: 'vendor.test/things',
    tracked: true,
    uniqueKey: null,
    etag: 'e1',
    generation: 1,
    document: '{"a":1}',
    ...over,
  }
}

export const contractEvent: EventRow = {
  at: 0,
  key: '/a',
  action: 'Vendor.Test/things/write',
  status: 'Succeeded',
  principalId: 'p',
  caller: '',
  correlationId: 'c',
  operationId: null,
  subscription: '',
  detail: '{}',
}

/** A small area with tables of its own. */
export const contractMigration: Migration = {
  area: 'contract',
  number: 1,
  sqlite: [
    'CREATE TABLE parts (id TEXT NOT NULL PRIMARY KEY, amount BIGINT, bytes BLOB, label TEXT UNIQUE)',
  ],
  postgres: [
    `CREATE TABLE parts (id text COLLATE "C" NOT NULL PRIMARY KEY, amount bigint, bytes bytea,
       label text COLLATE "C" UNIQUE)`,
  ],
}

/** Defines a test with a store opened on a fresh place, closed at its end. */
export type Given = (
  what: string,
  body: (store: Store, place: Place) => Promise<void>,
  options?: Partial<StoreOptions>,
) => void

export function givenOn(setting: ContractSetting): Given {
  return (what, body, options = {}) => {
    test(what, async (t) => {
      const place = await setting.place(t)
      if (place === undefined) return
      await using store = await place(options)
      await body(store, place)
    })
  }
}

export function contractOperation(id: string, resourceKey: string): OperationRow {
  return { id, resourceKey, document: '{"status":"Running"}', running: true, endedAt: null }
}

export const isConflict = (error: unknown): boolean =>
  error instanceof StoreConflict && error.unique === undefined

export const isNever = (error: unknown): boolean =>
  error instanceof StoreUnavailable && error.retry === 'never'

/** The first `limit` rows of everything, or of what `rest` narrows it to. */
export const take = (limit: number, rest: Partial<ListQuery> = {}): ListQuery => ({
  under: '/',
  limit,
  ...rest,
})

export const keys = (rows: readonly ResourceRow[]): readonly string[] => rows.map(({ key }) => key)

export async function fill(store: Store, rows: readonly ResourceRow[]): Promise<void> {
  await store.transact(async (tx) => {
    for (const row of rows) await tx.insert(row)
  })
}
