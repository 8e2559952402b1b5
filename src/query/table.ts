/**
 * Typed tables. Each column is declared once; its SQL declaration in both stores, its row type and its decoder come
 * from that. Migrations are written from the declarations too, and a hash freezes the released ones.
 */

import type { SqlRow, SqlValue } from '#stores/store.ts'

export type Dialect = 'sqlite' | 'postgres'

/** `T` is the type of the value in a row. */
export interface Column<T> {
  readonly type: 'text' | 'bigint' | 'double precision'
  readonly isNullable: boolean
  /** PostgreSQL compares it byte by byte whatever the database's language; SQLite always does. */
  readonly isBytewise: boolean
  readonly isUnique: boolean
  /** Leaves out `not null`, which a primary key implies. */
  readonly isTacit: boolean
  readonly default: string | number | undefined
  /** The migration that adds the column to an existing table; 0 when it was created with the table. */
  readonly since: number
  /** Decodes a cell that is not null, where the row has another type. */
  readonly read: ((cell: SqlValue) => T) | undefined
}

interface ColumnOptions {
  readonly bytewise?: boolean
  readonly unique?: boolean
  readonly tacit?: boolean
  readonly default?: string | number
  readonly since?: number
}

function column<T>(
  type: Column<T>['type'],
  read: Column<T>['read'],
  options: ColumnOptions,
): Column<T> {
  const { bytewise = false, unique = false, tacit = false, default: initial, since = 0 } = options
  return {
    type,
    isNullable: false,
    isBytewise: bytewise,
    isUnique: unique,
    isTacit: tacit,
    default: initial,
    since,
    read,
  }
}

/** Text, or a union of words when the area writes no others. */
export const text = <T extends string = string>(options: ColumnOptions = {}): Column<T> =>
  column('text', undefined, options)

export const whole = (options: ColumnOptions = {}): Column<number> =>
  column('bigint', undefined, options)

/** A number that may have a fraction. */
export const real = (options: ColumnOptions = {}): Column<number> =>
  column('double precision', undefined, options)

/** A sum that may exceed a JavaScript number; selected as text. */
export const wide = (options: ColumnOptions = {}): Column<bigint> =>
  column('bigint', (cell) => BigInt(String(cell)), options)

/** Stored as 0 or 1. */
export const flag = (options: ColumnOptions = {}): Column<boolean> =>
  column('bigint', (cell) => cell === 1, options)

/** JSON text that only its own area writes. */
export const json = <T>(options: ColumnOptions = {}): Column<T> =>
  column('text', (cell) => JSON.parse(String(cell)) as T, options)

export function nullable<T>(one: Column<T>): Column<T | null> {
  return { ...one, isNullable: true }
}

/** Several columns of one kind. */
export function each<T, N extends string>(one: Column<T>, ...names: readonly N[]) {
  // Every name gets the column, and there are no other names.
  return Object.fromEntries(names.map((name) => [name, one])) as Record<N, Column<T>>
}

export type Columns = Readonly<Record<string, Column<unknown>>>

export interface Table<C extends Columns = Columns> {
  readonly name: string
  readonly columns: C
  readonly primaryKey: readonly string[]
  /** The select list for whole rows. */
  readonly selected: string
  /** Decodes selected cells by their column names. All columns must be there; further cells are ignored. */
  readonly row: (cells: SqlRow) => Row<C>
}

type Camel<S> = S extends `${infer Head}_${infer Rest}` ? `${Head}${Capitalize<Camel<Rest>>}` : S

type Row<C extends Columns> = {
  readonly [K in keyof C as Camel<K>]: C[K] extends Column<infer T> ? T : never
}

/** The stored type of a cell. */
type Cell<T> = T extends SqlValue ? T : T extends boolean ? number : SqlValue

/** A stored row, by column names. */
export type Cells<C extends Columns = Columns> = {
  readonly [K in keyof C]: C[K] extends Column<infer T> ? Cell<T> : never
}

export type CellsOf<T extends Pick<Table, 'columns'>> = Cells<T['columns']>

/** A decoded row: `started_at` becomes `startedAt`. */
export type RowOf<T extends { readonly row: (cells: SqlRow) => unknown }> = ReturnType<T['row']>

export function defineTable<C extends Columns>(
  name: string,
  columns: C,
  primaryKey: readonly (keyof C & string)[],
): Table<C> {
  let read: ((cells: SqlRow) => Row<C>) | undefined
  return {
    name,
    columns,
    primaryKey,
    selected: '*',
    row(cells) {
      read ??= decoder(name, columns)
      return read(cells)
    },
  }
}

/** The table restricted to these columns, for statements that read only them. */
export function selecting<C extends Columns, K extends keyof C & string>(
  { name, columns, primaryKey }: Table<C>,
  ...names: readonly K[]
): Table<Pick<C, K>> {
  // Each of the names is a column.
  const own = Object.fromEntries(names.map((one) => [one, columns[one]])) as Pick<C, K>
  return { ...defineTable(name, own, []), primaryKey, selected: names.join(', ') }
}

/** The default cells of a new row. */
export function emptyCells<C extends Columns>({ columns }: Pick<Table<C>, 'columns'>): Cells<C> {
  const entries = Object.entries(columns)
  const cells = entries.map(([name, { type, isNullable, default: initial }]) => [
    name,
    initial ?? (isNullable ? null : type === 'text' ? '' : 0),
  ])
  // Every column has a cell of its own type.
  return Object.fromEntries(cells) as Cells<C>
}

/**
 * Generates the decoder with each member written out. A loop over the columns takes ten times as long for a row of
 * twenty, which is most of the cost of a list page.
 */
function decoder<C extends Columns>(name: string, columns: C): (cells: SqlRow) => Row<C> {
  const missing = (column: string): never => {
    throw new Error(`The column ${name}.${column} has no value.`)
  }
  const entries = Object.entries(columns)
  const members = entries.map(([column, { isNullable, read }]) => {
    // Only names from declarations become code.
    if (!/^[a-z][a-z0-9_]*$/.test(column)) throw new Error(`${column} is no name of a column`)
    const member = memberName(column)
    const cell = `cells.${column}`
    const filled = `${cell} ?? missing('${column}')`
    const present = read === undefined ? filled : `columns.${column}.read(${filled})`
    return `${member}: ${isNullable ? `${cell} === null ? null : ${present}` : present}`
  })
  const make = new Function('columns', 'missing', `return (cells) => ({ ${members.join(', ')} })`)
  // Each column is decoded into the member that `Row` gives it.
  return make(columns, missing) as (cells: SqlRow) => Row<C>
}

/** The member of a column: `started_at` becomes `startedAt`. */
export function memberName(column: string): string {
  return column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

type Declared = Pick<Table, 'name' | 'columns' | 'primaryKey'>

/** The statement that creates the table. With `upTo` it is the table of that migration, without later columns. */
export function createTable(
  { name, columns, primaryKey }: Declared,
  dialect: Dialect,
  upTo = Number.POSITIVE_INFINITY,
): string {
  const [only, ...others] = primaryKey
  const isOne = others.length === 0
  const lines = Object.entries(columns)
    .filter(([, { since }]) => since <= upTo)
    .map(([column, one]) =>
      isOne && column === only
        ? `${columnText(column, one, dialect)} primary key`
        : columnText(column, one, dialect),
    )
  const all = isOne ? lines : [...lines, `primary key (${primaryKey.join(', ')})`]
  return `create table ${name} (\n  ${all.join(',\n  ')}\n)`
}

/** The statements that add this migration's columns to an existing table. */
export function addColumns(
  { name, columns }: Declared,
  dialect: Dialect,
  since: number,
): readonly string[] {
  return Object.entries(columns)
    .filter(([, one]) => one.since === since)
    .map(([column, one]) => `alter table ${name} add column ${columnText(column, one, dialect)}`)
}

function columnText(name: string, one: Column<unknown>, dialect: Dialect): string {
  const { default: initial } = one
  return [
    name,
    one.type,
    ...(one.isBytewise && dialect === 'postgres' ? ['collate "C"'] : []),
    ...(one.isNullable || one.isTacit ? [] : ['not null']),
    ...(one.isUnique ? ['unique'] : []),
    ...(initial === undefined
      ? []
      : [`default ${typeof initial === 'string' ? `'${initial}'` : initial}`]),
  ].join(' ')
}
