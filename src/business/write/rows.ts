/** Statements on rows of the tables: change, remove, lock. */

import type { Ids } from '#kernel/ports.ts'
import { findRow, textOf } from '#query/rows.ts'
import type { Cells, Columns, Table } from '#query/table.ts'
import type { SqlTx, SqlValue } from '#stores/store.ts'
import type { Version } from '../entity.ts'
import { ruleBroken } from '../errors.ts'
import { odataLimits } from '../odata/limits.ts'
import { lines } from '../tables.ts'

/** A transaction with what every writer needs to know. */
export interface Writing {
  readonly tx: SqlTx
  readonly dialect: 'sqlite' | 'postgres'
}

/** Also raises the revision. */
export async function updateRow<C extends Columns>(
  tx: SqlTx,
  table: Table<C>,
  id: string,
  cells: Partial<Cells<C>>,
): Promise<void> {
  const columns = Object.keys(cells)
  const values: readonly SqlValue[] = Object.values(cells)
  const text = textOf(table, `set ${columns}`, ({ name }) => {
    const sets = [...columns.map((column) => `${column} = ?`), 'revision = revision + 1']
    return `update ${name} set ${sets.join(', ')} where id = ?`
  })
  await tx.send(text, ...values, id)
}

/** The revision of a line becomes at least this. */
export async function raiseRevision(tx: SqlTx, id: string, least: number): Promise<void> {
  const sets = 'set revision = ? where id = ? and revision < ?'
  await tx.send(`update ${lines.name} ${sets}`, least, id, least)
}

/** The number of rows in one statement of `deleteInTurns`. */
const rowsInTurn = 30

/** Deletes many rows. SQLite stops the process during a statement, and lets it go on after some of them. */
export async function deleteInTurns(
  { tx, dialect }: Writing,
  { name }: Pick<Table, 'name'>,
  condition: string,
  values: readonly SqlValue[],
): Promise<void> {
  if (dialect === 'postgres') {
    await tx.run(`delete from ${name} where ${condition}`, ...values)
    return
  }
  const some = `select rowid from ${name} where ${condition} limit ${rowsInTurn}`
  for (let deleted = rowsInTurn; deleted === rowsInTurn; ) {
    deleted = await tx.run(`delete from ${name} where rowid in (${some})`, ...values)
  }
}

/** Setting a column to its current value would still write its indexes. */
export function changedCells<T extends object>(row: T, cells: Partial<T>): Partial<T> {
  const changed: Partial<T> = {}
  for (const column in cells) {
    const cell = cells[column]
    if (cell !== undefined && row[column] !== cell) changed[column] = cell
  }
  return changed
}

/**
 * The locks of rows on PostgreSQL, which has several writers; the embedded store has one at a time. Whoever refers to a
 * row keeps it, whoever changes it keeps other changes away, and both wait for whoever removes it, who waits for them. Whoever
 * changes or removes a permission waits for those who act on it.
 */
const locks = {
  permission: 'for share',
  reference: 'for key share',
  change: 'for no key update',
  removal: 'for update',
} as const

/** The end of a select whose rows are locked until the transaction ends. */
export function lockFor(
  { dialect }: Pick<Writing, 'dialect'>,
  purpose: keyof typeof locks,
): string {
  return dialect === 'postgres' ? ` ${locks[purpose]}` : ''
}

/**
 * Of a row with an `id`, on PostgreSQL, which lets those who share a row pass whoever waits to change it: they would keep a
 * right, or a company, for as long as they go on (decision 0425). Turns are given in order.
 */
export const sharedTurn = 'pg_advisory_xact_lock_shared(hashtextextended(id, 0))'

/** The end of a select whose row, found by its `id`, stays until the transaction ends. */
export function lockInTurn(writing: Pick<Writing, 'dialect'>): string {
  if (writing.dialect !== 'postgres') return ''
  return ` and ${sharedTurn} is not null${lockFor(writing, 'reference')}`
}

/** The longest write is shorter. */
const turnMilliseconds = 25_000

/** Waits for those who share the turn of a row. Whoever comes later waits until the transaction has ended. */
export async function takeTurn({ tx, dialect }: Writing, id: string): Promise<void> {
  if (dialect !== 'postgres') return
  const wait = "select set_config('lock_timeout', ?, true)"
  const [usual] = await tx.all('show lock_timeout')
  await tx.all(wait, String(turnMilliseconds))
  await tx.all('select pg_advisory_xact_lock(hashtextextended(?::text, 0))', id)
  await tx.all(wait, String(usual?.['lock_timeout']))
}

/** The row, which does not change until the transaction ends. */
export function lockRow<C extends Columns>(
  writing: Writing,
  table: Table<C>,
  cells: Readonly<Record<string, SqlValue>>,
  purpose: keyof typeof locks = 'change',
): Promise<Cells<C> | undefined> {
  return findRow(writing.tx, table, cells, lockFor(writing, purpose))
}

/** What every write needs: the transaction, the company, the caller and the time. */
export interface WriteContext extends Writing {
  readonly companyId: string
  readonly version: Version
  /** Milliseconds since 1970. */
  readonly now: number
  readonly principalId: string
  readonly ids: Ids
  /** The address that mail of a company with this one comes from; empty: there is none. */
  mailSender(companyAddress: string): string
  /** The status for a stale tag. */
  readonly conflictStatus: 409 | 412
  /** The numbers of lines that may still come with their documents, or be changed with them, in this transaction. */
  readonly nested?: { lines: number; whole: number }
}

/** For what looks at all lines of a document or journal. One is always taken, however long it is. */
export function spendWhole({ nested }: Pick<WriteContext, 'nested'>, lines: number): void {
  if (nested === undefined || lines === 0) return
  const most = odataLimits.wholeLinesMax
  if (nested.whole <= 0) {
    throw ruleBroken(
      `What one change set changes as a whole has at most ${most} lines; change the others afterwards.`,
    )
  }
  nested.whole -= lines
}

/** The day of the write, in the form of date columns. */
export function today(context: Pick<WriteContext, 'now'>): string {
  return new Date(context.now).toISOString().slice(0, 10)
}

/**
 * A GUID that begins with the moment of the write (version 7), so that rows made together stand together in every
 * index: one that begins anywhere would make each row of a long document dirty a page of its own.
 */
export function newId(context: Pick<WriteContext, 'ids' | 'now'>): string {
  const fixed = context.ids.fixed?.()
  if (fixed !== undefined) return fixed
  const { now } = context
  if (now !== latest.now) {
    const at = Math.max(0, now).toString(16).padStart(12, '0').slice(-12)
    latest = { now, begin: `${at.slice(0, 8)}-${at.slice(8)}-7` }
  }
  return latest.begin + context.ids.uuid().slice(15)
}

/** How ids of the latest moment begin: all rows of one write have the same. */
let latest = { now: Number.NaN, begin: '' }
