/** Reads and writes rows of typed tables with constant statements, which the store prepares once. */

import type { SqlTx, SqlValue } from '#stores/store.ts'
import type { Reader } from './statement.ts'
import type { Cells, Columns, Table } from './table.ts'

type Named = Pick<Table, 'name'>

/** All rows. `rest` follows the name of the table: `where …`. */
export function allRows<C extends Columns>(
  reader: Reader,
  { name, selected }: Table<C>,
  rest: string,
  ...values: readonly SqlValue[]
): Promise<readonly Cells<C>[]> {
  const rows = reader.all(`select ${selected} from ${name} ${rest}`, ...values)
  // The selected columns are those of the table, as the migrations made them.
  return rows as Promise<readonly Cells<C>[]>
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
  const rest = `where ${equal(cells, ' and ')}${ending}`
  return firstRow(reader, table, rest, ...Object.values(cells))
}

export async function insertRow<C extends Columns>(
  tx: SqlTx,
  { name }: Table<C>,
  cells: Partial<Cells<C>>,
): Promise<void> {
  const values: readonly SqlValue[] = Object.values(cells)
  await tx.run(insertText({ name }, Object.keys(cells), 1), ...values)
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
  { name }: Table<C>,
  where: Partial<Cells<C>>,
  cells: Partial<Cells<C>>,
): Promise<number> {
  const values: readonly SqlValue[] = [...Object.values(cells), ...Object.values(where)]
  return tx.run(
    `update ${name} set ${equal(cells, ', ')} where ${equal(where, ' and ')}`,
    ...values,
  )
}

export async function deleteRows<C extends Columns>(
  tx: SqlTx,
  { name }: Table<C>,
  where: Partial<Cells<C>>,
): Promise<void> {
  const values: readonly SqlValue[] = Object.values(where)
  await tx.run(`delete from ${name} where ${equal(where, ' and ')}`, ...values)
}

function equal(cells: object, between: string): string {
  return Object.keys(cells)
    .map((column) => `${column} = ?`)
    .join(between)
}
