/** Rows of the tables as statements: insert, change, remove, lock, find. Knows columns and no rules. */

import type { Ids } from '#kernel/ports.ts'
import type { SqlRow, SqlTx, SqlValue } from '#stores/store.ts'
import type { Version } from '../entity.ts'

/** Cells by column. */
export type Cells = Readonly<Record<string, SqlValue>>

/** A transaction with what every writer needs to know about it. */
export interface Writing {
  readonly tx: SqlTx
  readonly dialect: 'sqlite' | 'postgres'
}

export async function insertRow(tx: SqlTx, table: string, cells: Cells): Promise<void> {
  await tx.run(insertText(table, Object.keys(cells), 1), ...Object.values(cells))
}

export function insertText(table: string, columns: readonly string[], rows: number): string {
  const marks = `(${columns.map(() => '?').join(', ')})`
  const values = Array.from({ length: rows }, () => marks).join(', ')
  return `insert into ${table} (${columns.join(', ')}) values ${values}`
}

/** Raises the revision besides. */
export async function updateRow(tx: SqlTx, table: string, id: string, cells: Cells): Promise<void> {
  const sets = Object.keys(cells).map((column) => `${column} = ?`)
  await tx.run(
    `update ${table} set ${[...sets, 'revision = revision + 1'].join(', ')} where id = ?`,
    ...Object.values(cells),
    id,
  )
}

/** The revision of a line becomes at least this. */
export async function raiseRevision(tx: SqlTx, id: string, least: number): Promise<void> {
  await tx.run(
    'update business_lines set revision = ? where id = ? and revision < ?',
    least,
    id,
    least,
  )
}

export async function deleteRow(tx: SqlTx, table: string, id: string): Promise<void> {
  await tx.run(`delete from ${table} where id = ?`, id)
}

/** The one row with these cells. */
export async function findRow(
  tx: Pick<SqlTx, 'all'>,
  table: string,
  cells: Cells,
): Promise<SqlRow | undefined> {
  const conditions = Object.keys(cells).map((column) => `${column} = ?`)
  const text = `select * from ${table} where ${conditions.join(' and ')}`
  const [row] = await tx.all(text, ...Object.values(cells))
  return row
}

/**
 * The row, which stays as read until the transaction ends. Where many write at once it is locked; the embedded store
 * has one writer at a time.
 */
export async function lockRow(
  writing: Writing,
  table: string,
  cells: Cells,
  columns = '*',
): Promise<SqlRow | undefined> {
  const conditions = Object.keys(cells).map((column) => `${column} = ?`)
  const lock = writing.dialect === 'postgres' ? ' for update' : ''
  const text = `select ${columns} from ${table} where ${conditions.join(' and ')}${lock}`
  const [row] = await writing.tx.all(text, ...Object.values(cells))
  return row
}

/** A cell that holds text, by the schema. */
export function textOf(row: SqlRow, column: string): string {
  const value = row[column]
  if (typeof value !== 'string') throw new Error(`The column ${column} holds no text.`)
  return value
}

/** A cell that holds a number, by the schema. */
export function numberOf(row: SqlRow, column: string): number {
  const value = row[column]
  if (typeof value !== 'number') throw new Error(`The column ${column} holds no number.`)
  return value
}

export function flagOf(row: SqlRow, column: string): boolean {
  return numberOf(row, column) !== 0
}

/** What every write needs: the transaction, the company, who and when. */
export interface WriteContext extends Writing {
  readonly companyId: string
  readonly version: Version
  /** Milliseconds. */
  readonly now: number
  readonly principalId: string
  readonly ids: Ids
  /** What a stale tag is answered with. */
  readonly conflictStatus: 409 | 412
  /** Lines that may still come with their documents in this transaction. */
  readonly nested?: { lines: number }
}

/** The day of the write, as date columns have it. */
export function today(context: Pick<WriteContext, 'now'>): string {
  return new Date(context.now).toISOString().slice(0, 10)
}

/**
 * A GUID that begins with the moment of the write (version 7), so that rows made together stand together in every
 * index: one that begins anywhere would make each row of a long document dirty a page of its own.
 */
export function newId(context: Pick<WriteContext, 'ids' | 'now'>): string {
  const at = Math.max(0, context.now).toString(16).padStart(12, '0').slice(-12)
  const random = context.ids.uuid()
  return `${at.slice(0, 8)}-${at.slice(8)}-7${random.slice(15)}`
}
