/**
 * Opens a store with one company that has master data, on either dialect, for tests of the writers. Test support
 * only.
 */

import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { openPostgres } from '#stores/postgres/open.ts'
import { openSqlite } from '#stores/sqlite/open.ts'
import type { Sql, SqlRow, Store } from '#stores/store.ts'
import {
  findPostgres,
  howToGetPostgres,
  preparedDatabases,
} from '#stores/testing/postgres-server.ts'
import { isLong } from '../../../tests/long.ts'
import { requireOrSkip } from '../../../tests/require.ts'
import { runDocumentAction } from '../documents/actions.ts'
import { lineSelect } from '../entities/line-view.ts'
import { decimalUnit, type Entity, etagOf, noGuid, type Version } from '../entity.ts'
import { businessMigrations } from '../migrations.ts'
import { businessModel } from '../model.ts'
import type { WriteContext } from '../write/rows.ts'
import type { Body } from '../write/values.ts'
import { change, create, remove } from '../write/write.ts'

export interface BusinessFixture extends AsyncDisposable {
  readonly store: Store
  readonly sql: Sql
  readonly companyId: string
  readonly customerId: string
  readonly itemId: string
  create(
    set: string,
    body: Body,
    place?: { documentId?: string; key?: string; version?: Version },
  ): Promise<string>
  change(
    set: string,
    id: string,
    body: Body,
    ifMatch?: string | undefined,
    version?: Version,
  ): Promise<void>
  remove(set: string, id: string): Promise<void>
  act(set: string, id: string, action: string, mayRelease?: boolean): Promise<string>
  row(set: string, id: string): Promise<SqlRow>
  /** The lines of a document, in order. */
  lines(documentId: string): Promise<readonly SqlRow[]>
  tag(set: string, id: string): Promise<string>
}

type Dialect = 'sqlite' | 'postgres'
/** The moment at which everything here happens. */
export const fixtureNow = Date.UTC(2026, 10, 21)
export const dialects: readonly Dialect[] = ['sqlite', 'postgres']

type Declare = (title: string, body: (t: TestContext) => Promise<void>) => void

/**
 * For tests that say nothing about stores. The long suite runs each on both. The ordinary one runs the first of a file on
 * PostgreSQL, the second on SQLite, and so on: what differs between the two is looked for by the tests that run on both.
 */
export function inTurn(): readonly { readonly dialect: Dialect; readonly test: Declare }[] {
  return dialects.map((dialect) => {
    let declared = 0
    return {
      dialect,
      test: (title, body) => {
        const isOnPostgres = declared++ % 2 === 0
        if (isLong || isOnPostgres === (dialect === 'postgres')) test(title, body)
      },
    }
  })
}

const options = {
  migrations: businessMigrations,
  words: { namespace: 'Vendor', brand: 'Vendor' },
  transactionRetriesMax: 8,
}

const openOnPostgres = (
  url: string,
  transactionRetriesMax = options.transactionRetriesMax,
): Promise<Store> =>
  openPostgres({
    url,
    poolSize: 8,
    clock: { now: () => Date.now() },
    ...options,
    transactionRetriesMax,
  })

const databases = preparedDatabases(async (url) => {
  await (await openOnPostgres(url))[Symbol.asyncDispose]()
})

/** Undefined when the test was skipped for lack of a server. */
export async function openCompany(
  t: TestContext,
  dialect: Dialect,
  given: {
    readonly pricesIncludeTax?: boolean
    readonly percents?: Readonly<Record<string, number>>
    /** The number of attempts of a transaction that lost a race. */
    readonly transactionRetriesMax?: number
  } = {},
): Promise<BusinessFixture | undefined> {
  if (dialect === 'postgres' && !requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres))
    return undefined
  const store =
    dialect === 'sqlite'
      ? await openSqlite({ path: ':memory:', ...options })
      : await openOnPostgres(await databases.create(), given.transactionRetriesMax)
  const { sql } = store
  let companyId = noGuid
  const context = (tx: WriteContext['tx'], version: Version): WriteContext => ({
    tx,
    dialect,
    companyId,
    version,
    now: fixtureNow,
    principalId: '11111111-1111-1111-1111-111111111111',
    ids: { uuid: () => randomUUID(), secret: () => 'x' },
    mailSender: (address) => address || 'books@example.com',
    conflictStatus: 412,
  })
  const entityOf = (set: string, version: Version = 'v2.0'): Entity => {
    const entity = businessModel.find(set, version)
    if (entity === undefined) throw new Error(`no set ${set}`)
    return entity
  }
  const rowOf = async (set: string, id: string): Promise<SqlRow> => {
    const { table, view } = entityOf(set)
    const rows = view === undefined ? table.name : `(${view.select(dialect, fixtureNow)}) as lines`
    const [row] = await sql.all(`select * from ${rows} where id = ?`, id)
    if (row === undefined) throw new Error(`no row ${id}`)
    return row
  }
  const writers = {
    store,
    sql,
    create: (
      set: string,
      body: Body,
      place: { documentId?: string; key?: string; version?: Version } = {},
    ) => {
      const { documentId, key, version = 'v2.0' } = place
      return sql.transact(async (tx) => {
        const at = { documentId, key, owner: undefined }
        const entity = entityOf(set, version)
        return (await create(context(tx, version), businessModel, { entity, body, place: at })).id
      })
    },
    change: (set: string, id: string, body: Body, ifMatch?: string, version: Version = 'v2.0') =>
      sql.transact(async (tx) => {
        await change(context(tx, version), { entity: entityOf(set, version), id, ifMatch }, body)
      }),
    remove: (set: string, id: string) =>
      sql.transact((tx) =>
        remove(context(tx, 'v2.0'), businessModel, { entity: entityOf(set), id }),
      ),
    act: async (set: string, id: string, action: string, mayRelease = true) =>
      (
        await sql.transact((tx) =>
          runDocumentAction(context(tx, 'v2.0'), { entity: entityOf(set), id }, action, mayRelease),
        )
      ).id,
    row: rowOf,
    lines: (documentId: string) =>
      sql.all(
        `select * from (${lineSelect}) as lines where document_id = ? order by sequence`,
        documentId,
      ),
    tag: async (set: string, id: string) => etagOf(id, Number((await rowOf(set, id))['revision'])),
  }
  companyId = await writers.create('companies', { name: 'Cronus' })
  const areaId = await writers.create('taxAreas', { code: 'HOME', displayName: 'Home' })
  for (const [code, percent] of Object.entries(given.percents ?? { FURNITURE: 5 })) {
    const groupId = await writers.create('taxGroups', { code, displayName: code })
    await writers.create('taxRates', {
      taxAreaId: areaId,
      taxGroupId: groupId,
      taxPercent: percent,
    })
  }
  await writers.create('unitsOfMeasure', { code: 'PCS', displayName: 'Piece' })
  const itemId = await writers.create('items', {
    number: '1996-S',
    displayName: 'ATLANTA Whiteboard, base',
    unitPrice: 100,
    baseUnitOfMeasureCode: 'PCS',
    taxGroupCode: Object.keys(given.percents ?? { FURNITURE: 5 })[0],
  })
  const customerId = await writers.create('customers', {
    displayName: 'Adatum',
    email: 'a@example.com',
    taxLiable: true,
    taxAreaId: areaId,
    pricesIncludeTax: given.pricesIncludeTax ?? false,
  })
  return {
    ...writers,
    companyId,
    customerId,
    itemId,
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
}

/** A stored decimal in its wire form. */
export function amount(row: SqlRow, column: string): number {
  return Number(row[column]) / decimalUnit
}
