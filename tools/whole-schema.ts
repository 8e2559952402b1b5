/** What all migrations make of an empty SQLite file: to read, and as one script that makes the same. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { contractWords } from '#kernel/vendor.ts'
import { openSqlite } from '#stores/sqlite/open.ts'
import { areaMigrations } from '../src/main/migrations.ts'

export interface SchemaEntry {
  readonly type: string
  readonly name: string
  readonly table: string
  readonly sql: string
}

interface MigratedStore {
  /** In the order in which they were made, without the tables behind a virtual one. */
  readonly entries: readonly SchemaEntry[]
  /** By table. */
  readonly rows: ReadonlyMap<string, readonly Readonly<Record<string, SQLOutputValue>>[]>
}

/** A new store, made by the migrations one after the other, or by a script. */
export async function readNewStore(script?: string): Promise<MigratedStore> {
  const folder = mkdtempSync(join(tmpdir(), 'armature-schema-'))
  try {
    const path = join(folder, 'store.db')
    const store = await openSqlite({
      path,
      wholeSchema: async () => script,
      migrations: areaMigrations,
      words: contractWords,
      transactionRetriesMax: 1,
    })
    await store[Symbol.asyncDispose]()
    using db = new DatabaseSync(path, { readOnly: true })
    const entries = db.prepare(entriesQuery).all() as unknown as SchemaEntry[]
    const tables = entries.filter(({ type }) => type === 'table').map(({ name }) => name)
    return {
      entries,
      rows: new Map(tables.map((name) => [name, db.prepare(`select * from "${name}"`).all()])),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const entriesQuery = `select type, name, tbl_name as "table", sql from sqlite_schema
  where sql is not null and name not like 'sqlite\\_%' escape '\\'
    and name not in (select name from pragma_table_list where type = 'shadow')
  order by rowid`

/** Opening a store writes it, with the words of its installation. */
const settingsTable = 'store_settings'

/** Rows come before triggers, which act on rows that somebody adds. */
export async function makeWholeSchema(): Promise<string> {
  const { entries, rows } = await readNewStore()
  const isTable = ({ type }: SchemaEntry): boolean => type === 'table'
  const statements = [
    ...entries.filter(isTable).map(({ sql }) => sql),
    ...[...rows]
      .filter(([table]) => table !== settingsTable)
      .flatMap(([table, found]) => found.map((row) => insertOf(table, row))),
    ...entries.filter((entry) => !isTable(entry)).map(({ sql }) => sql),
  ]
  return `${statements.join(';\n')};\n`
}

function insertOf(table: string, row: Readonly<Record<string, SQLOutputValue>>): string {
  const names = Object.keys(row).map((name) => `"${name}"`)
  return `insert into "${table}" (${names.join()}) values (${Object.values(row).map(literal).join()})`
}

function literal(value: SQLOutputValue): string {
  if (value === null || typeof value === 'number') return String(value)
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`
  throw new Error(`a migration leaves a value of ${typeof value}, for which no form is known`)
}
