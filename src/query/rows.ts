/** Reads and writes rows of typed tables with constant statements, which the store prepares once. */

import type { SqlTx, SqlValue } from '#stores/store.ts'
import type { Reader } from './statement.ts'
import type { Cells, Columns, Table } from './table.ts'

type Named = Pick<Table, 'name'>

/** All rows. `rest` follows the name of the table: `where …`. */
export function allRows<C extends Columns>(
  reader: Reader,
  table: Table<C>,
  rest: string,
  ...values: readonly SqlValue[]
): Promise<readonly Cells<C>[]> {
  const rows = reader.all(selectText(table, rest), ...values)
  // The selected columns are those of the table, as the migrations made them.
  return rows as Promise<readonly Cells<C>[]>
}

function selectText(table: Pick<Table, 'name' | 'selected'>, rest: string): string {
  return textOf(table, rest, ({ name, selected }) => `select ${selected} from ${name} ${rest}`)
}

export async function firstRow<C extends Columns>(
  reader: Reader,
  table: Table<C>,
  rest: string,
  ...values: readonly SqlValue[]
): Promise<Cells<C> | undefined> {
  const [row] = await allRows(reader, table, rest, ...values)
  return row
}

/** The row with these cells. `ending` is appended to the statement. */
export function findRow<C extends Columns>(
  reader: Reader,
  table: Table<C>,
  cells: Readonly<Record<string, SqlValue>>,
  ending = '',
): Promise<Cells<C> | undefined> {
  return firstRow(reader, table, whereOf(cells, ending), ...Object.values(cells))
}

/** Sends the query now that `findRow` is about to send for the same cells. */
export function prefetchRow(
  tx: Pick<SqlTx, 'prefetch'>,
  table: Pick<Table, 'name' | 'selected'>,
  cells: Readonly<Record<string, SqlValue>>,
  ending = '',
): void {
  tx.prefetch(selectText(table, whereOf(cells, ending)), ...Object.values(cells))
}

function whereOf(cells: object, ending: string): string {
  return `where ${equal(cells, ' and ')}${ending}`
}

export async function insertRow<C extends Columns>(
  tx: SqlTx,
  table: Table<C>,
  cells: Partial<Cells<C>>,
): Promise<void> {
  const columns = Object.keys(cells)
  const values: readonly SqlValue[] = Object.values(cells)
  const text = textOf(table, `insert ${columns}`, (one) => insertText(one, columns, 1))
  await tx.send(text, ...values)
}

/** An insert statement for so many rows. */
export function insertText({ name }: Named, columns: readonly string[], rows: number): string {
  const marks = `(${columns.map(() => '?').join(', ')})`
  const values = Array.from({ length: rows }, () => marks).join(', ')
  return `insert into ${name} (${columns.join(', ')}) values ${values}`
}

/** Sets cells of the rows that have other cells, and returns the number of rows. */
export function updateRows<C extends Columns>(
  tx: SqlTx,
  ...change: Parameters<typeof updateOf<C>>
): Promise<number> {
  return tx.run(...updateOf(...change))
}

/** The same without the number. */
export async function sendUpdate<C extends Columns>(
  tx: SqlTx,
  ...change: Parameters<typeof updateOf<C>>
): Promise<void> {
  await tx.send(...updateOf(...change))
}

function updateOf<C extends Columns>(
  table: Table<C>,
  where: Partial<Cells<C>>,
  cells: Partial<Cells<C>>,
): [text: string, ...values: SqlValue[]] {
  const values: readonly SqlValue[] = [...Object.values(cells), ...Object.values(where)]
  const text = textOf(
    table,
    `update ${Object.keys(cells)} ${Object.keys(where)}`,
    ({ name }) => `update ${name} set ${equal(cells, ', ')} where ${equal(where, ' and ')}`,
  )
  return [text, ...values]
}

export async function deleteRows<C extends Columns>(
  tx: SqlTx,
  { name }: Table<C>,
  where: Partial<Cells<C>>,
): Promise<void> {
  const values: readonly SqlValue[] = Object.values(where)
  await tx.send(`delete from ${name} where ${equal(where, ' and ')}`, ...values)
}

const texts = new WeakMap<Named, Map<string, string>>()
/** Some are composed of what a request names. */
const textsMax = 64

/**
 * A statement of a table, made once for each `by`: the store finds a text that it was given before by its address, while a
 * text that was composed again is read through first.
 */
export function textOf<T extends Named>(
  table: T,
  by: string,
  compose: (table: T) => string,
): string {
  let known = texts.get(table)
  if (known === undefined) {
    known = new Map()
    texts.set(table, known)
  }
  let text = known.get(by)
  if (text === undefined) {
    text = compose(table)
    if (known.size >= textsMax) known.clear()
    known.set(by, text)
  }
  return text
}

function equal(cells: object, between: string): string {
  return Object.keys(cells)
    .map((column) => `${column} = ?`)
    .join(between)
}
