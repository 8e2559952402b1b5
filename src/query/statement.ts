/**
 * Statements composed at run time: Kysely writes them, and the store's relational port runs them. Constant
 * statements are written as text where they are used, and prepared once.
 */

import type { Kysely, RawBuilder, Sql as SqlTag } from 'kysely'
import type { SqlRow, SqlTx, SqlValue } from '#stores/store.ts'

/** `sql` makes statements and their pieces; `db` compiles them. */
export interface Composer {
  readonly sql: SqlTag
  readonly db: Kysely<unknown>
}

export type Reader = Pick<SqlTx, 'all'>

let loading: Promise<Composer> | undefined

/** Kysely is loaded with the first statement: it has three hundred modules, a quarter of the server's start. */
export function composer(): Promise<Composer> {
  loading ??= load()
  return loading
}

async function load(): Promise<Composer> {
  const { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } =
    await import('kysely')
  // The port numbers `?` for PostgreSQL. Composed statements use the SQL subset of both stores.
  const db = new Kysely<unknown>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (one) => new SqliteIntrospector(one),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  })
  return { sql, db }
}

export function readAll(
  { db }: Composer,
  reader: Reader,
  statement: RawBuilder<unknown>,
): Promise<readonly SqlRow[]> {
  const { sql, parameters } = statement.compile(db)
  // Every parameter was passed in as a value of the port.
  return reader.all(sql, ...(parameters as readonly SqlValue[]))
}
