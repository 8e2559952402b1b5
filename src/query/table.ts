/**
 * Tables as types: each column is declared once, and from it come its declaration in either store, the type of a row
 * and the reader of one. Released migrations stay as they were written; `testing/schema.ts` holds tables against them.
 */

import type { SqlRow, SqlValue } from '#stores/store.ts'

export type Dialect = 'sqlite' | 'postgres'

/** `T` is what a row holds. */
export interface Column<T> {
  readonly type: 'text' | 'bigint' | 'double precision'
  readonly isNullable: boolean
  /** Compared byte by byte on PostgreSQL whatever the database's language; SQLite always does so. */
  readonly isBytewise: boolean
  readonly default: string | undefined
  /** A cell that is not null, where a row holds it in another form. */
  readonly read: ((cell: SqlValue) => T) | undefined
}

interface ColumnOptions {
  readonly bytewise?: boolean
  readonly default?: string
}

function column<T>(
  type: Column<T>['type'],
  read: Column<T>['read'],
  { bytewise = false, default: initial }: ColumnOptions,
): Column<T> {
  return { type, isNullable: false, isBytewise: bytewise, default: initial, read }
}

/** Text; a union of words where the area writes no others. */
export const text = <T extends string = string>(options: ColumnOptions = {}): Column<T> =>
  column('text', undefined, options)

export const whole = (options: ColumnOptions = {}): Column<number> =>
  column('bigint', undefined, options)

/** 0 or 1 at rest. */
export const flag = (options: ColumnOptions = {}): Column<boolean> =>
  column('bigint', (cell) => cell === 1, options)

/** JSON text that only its own area writes. */
export const json = <T>(options: ColumnOptions = {}): Column<T> =>
  column('text', (cell) => JSON.parse(String(cell)) as T, options)

export function nullable<T>(one: Column<T>): Column<T | null> {
  return { ...one, isNullable: true }
}

type Columns = Readonly<Record<string, Column<unknown>>>

export interface Table<C extends Columns = Columns> {
  readonly name: string
  readonly columns: C
  readonly primaryKey: readonly string[]
  /** Cells selected by the names of the columns, all of them; what was selected besides is passed over. */
  readonly row: (cells: SqlRow) => Row<C>
}

type Camel<S> = S extends `${infer Head}_${infer Rest}` ? `${Head}${Capitalize<Camel<Rest>>}` : S

type Row<C extends Columns> = {
  readonly [K in keyof C as Camel<K>]: C[K] extends Column<infer T> ? T : never
}

/** A row of a table: `started_at` is `startedAt`. */
export type RowOf<T extends { readonly row: (cells: SqlRow) => unknown }> = ReturnType<T['row']>

export function defineTable<C extends Columns>(
  name: string,
  columns: C,
  primaryKey: readonly (keyof C & string)[],
): Table<C> {
  return { name, columns, primaryKey, row: decoder(name, columns) }
}

/**
 * Makes the function that reads a row, with each member written out: built in a loop, a row of twenty columns takes
 * ten times as long, which is most of what a page of a list costs.
 */
function decoder<C extends Columns>(name: string, columns: C): (cells: SqlRow) => Row<C> {
  const missing = (column: string): never => {
    throw new Error(`The column ${name}.${column} has no value.`)
  }
  const entries = Object.entries(columns)
  const members = entries.map(([column, { isNullable, read }]) => {
    // What becomes code is a name out of a declaration, and nothing else.
    if (!/^[a-z][a-z0-9_]*$/.test(column)) throw new Error(`${column} is no name of a column`)
    const member = column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    const cell = `cells.${column}`
    const filled = `${cell} ?? missing('${column}')`
    const present = read === undefined ? filled : `columns.${column}.read(${filled})`
    return `${member}: ${isNullable ? `${cell} === null ? null : ${present}` : present}`
  })
  const make = new Function('columns', 'missing', `return (cells) => ({ ${members.join(', ')} })`)
  // Each column is read into the member that `Row` gives it.
  return make(columns, missing) as (cells: SqlRow) => Row<C>
}

/** What makes the table anew, for a migration that is yet to be released. */
export function createTable(
  { name, columns, primaryKey }: Pick<Table, 'name' | 'columns' | 'primaryKey'>,
  dialect: Dialect,
): string {
  const lines = Object.entries(columns).map(([column, one]) =>
    [
      column,
      one.type,
      ...(one.isBytewise && dialect === 'postgres' ? ['collate "C"'] : []),
      ...(one.isNullable ? [] : ['not null']),
      ...(one.default === undefined ? [] : ['default', one.default]),
    ].join(' '),
  )
  const all = [...lines, `primary key (${primaryKey.join(', ')})`]
  return `create table ${name} (\n  ${all.join(',\n  ')}\n)`
}
