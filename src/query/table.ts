/**
 * Tables as types: each column is declared once, and from it come its declaration in either store, the types of a row
 * and the reader of one. Migrations are written from it too; what is released of them is frozen by its hash.
 */

import type { SqlRow, SqlValue } from '#stores/store.ts'

export type Dialect = 'sqlite' | 'postgres'

/** `T` is what a row holds. */
export interface Column<T> {
  readonly type: 'text' | 'bigint' | 'double precision'
  readonly isNullable: boolean
  /** Compared byte by byte on PostgreSQL whatever the database's language; SQLite always does so. */
  readonly isBytewise: boolean
  readonly isUnique: boolean
  /** `not null` is left out, which a primary key says by itself. */
  readonly isTacit: boolean
  readonly default: string | number | undefined
  /** The migration that adds it to a table that is there; 0 where it comes with the table. */
  readonly since: number
  /** A cell that is not null, where a row holds it in another form. */
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

/** Text; a union of words where the area writes no others. */
export const text = <T extends string = string>(options: ColumnOptions = {}): Column<T> =>
  column('text', undefined, options)

export const whole = (options: ColumnOptions = {}): Column<number> =>
  column('bigint', undefined, options)

/** A number that may have a fraction. */
export const real = (options: ColumnOptions = {}): Column<number> =>
  column('double precision', undefined, options)

/** A sum that may be past what a number holds; selected as text. */
export const wide = (options: ColumnOptions = {}): Column<bigint> =>
  column('bigint', (cell) => BigInt(String(cell)), options)

/** 0 or 1 at rest. */
export const flag = (options: ColumnOptions = {}): Column<boolean> =>
  column('bigint', (cell) => cell === 1, options)

/** JSON text that only its own area writes. */
export const json = <T>(options: ColumnOptions = {}): Column<T> =>
  column('text', (cell) => JSON.parse(String(cell)) as T, options)

export function nullable<T>(one: Column<T>): Column<T | null> {
  return { ...one, isNullable: true }
}

/** Columns of one kind. */
export function each<T, N extends string>(one: Column<T>, ...names: readonly N[]) {
  // Each name has the column, and nothing else is there.
  return Object.fromEntries(names.map((name) => [name, one])) as Record<N, Column<T>>
}

export type Columns = Readonly<Record<string, Column<unknown>>>

export interface Table<C extends Columns = Columns> {
  readonly name: string
  readonly columns: C
  readonly primaryKey: readonly string[]
  /** What a statement selects to read whole rows. */
  readonly selected: string
  /** Cells selected by the names of the columns, all of them; what was selected besides is passed over. */
  readonly row: (cells: SqlRow) => Row<C>
}

type Camel<S> = S extends `${infer Head}_${infer Rest}` ? `${Head}${Capitalize<Camel<Rest>>}` : S

type Row<C extends Columns> = {
  readonly [K in keyof C as Camel<K>]: C[K] extends Column<infer T> ? T : never
}

/** What a cell holds at rest. */
type Cell<T> = T extends SqlValue ? T : T extends boolean ? number : SqlValue

/** A row as it is at rest, by the names of the columns. */
export type Cells<C extends Columns = Columns> = {
  readonly [K in keyof C]: C[K] extends Column<infer T> ? Cell<T> : never
}

export type CellsOf<T extends Pick<Table, 'columns'>> = Cells<T['columns']>

/** A row of a table: `started_at` is `startedAt`. */
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

/** The table as far as these columns go, which is what is read of it. */
export function selecting<C extends Columns, K extends keyof C & string>(
  { name, columns, primaryKey }: Table<C>,
  ...names: readonly K[]
): Table<Pick<C, K>> {
  // Each of the names is a column.
  const own = Object.fromEntries(names.map((one) => [one, columns[one]])) as Pick<C, K>
  return { ...defineTable(name, own, []), primaryKey, selected: names.join(', ') }
}

/** What a new row holds where nothing else is said. */
export function emptyCells<C extends Columns>({ columns }: Pick<Table<C>, 'columns'>): Cells<C> {
  const entries = Object.entries(columns)
  const cells = entries.map(([name, { type, isNullable, default: initial }]) => [
    name,
    initial ?? (isNullable ? null : type === 'text' ? '' : 0),
  ])
  // Every column has a cell, of its own type.
  return Object.fromEntries(cells) as Cells<C>
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
    const member = memberName(column)
    const cell = `cells.${column}`
    const filled = `${cell} ?? missing('${column}')`
    const present = read === undefined ? filled : `columns.${column}.read(${filled})`
    return `${member}: ${isNullable ? `${cell} === null ? null : ${present}` : present}`
  })
  const make = new Function('columns', 'missing', `return (cells) => ({ ${members.join(', ')} })`)
  // Each column is read into the member that `Row` gives it.
  return make(columns, missing) as (cells: SqlRow) => Row<C>
}

/** What a row calls a column: `started_at` is `startedAt`. */
export function memberName(column: string): string {
  return column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

type Declared = Pick<Table, 'name' | 'columns' | 'primaryKey'>

/** What makes the table; `upTo`: as it was at that migration, without what was added after. */
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

/** What adds the columns of this migration to a table that is there. */
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
