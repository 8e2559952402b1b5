/** Stored statements: found, created for their first entry, and closed by getting a name. */

import type { Sql, SqlRow, SqlTx } from '#stores/store.ts'
import { text } from '../cells.ts'
import { isBilled } from '../migrations.ts'
import { statements, sumsAsText, totalsOf } from '../tables.ts'
import type { Statement } from './entry.ts'

const columns = `id, account, profile, invoice, currency, month, entries, closed_at, status, ${sumsAsText()}`

export interface ProfilePlace {
  /** As shown. */
  readonly account: string
  readonly profile: string
}

export function keysOf(place: ProfilePlace): readonly [account: string, profile: string] {
  return [place.account.toLowerCase(), place.profile.toLowerCase()]
}

function statementOf(cells: SqlRow): Statement {
  const { invoice, closedAt, ...row } = statements.row(cells)
  return {
    ...row,
    invoice: invoice ?? undefined,
    closedAt: closedAt ?? undefined,
    totals: totalsOf(row),
  }
}

/**
 * The account of an entry that was found by its name. A subquery that gives a value: no plan begins at the statements of the
 * account, of which there may be any number, and looks for each name in each.
 */
export const accountOfEntry =
  '(select account_key from billing_statements where id = billing_entries.statement_id)'

type Reads = Pick<Sql, 'all'> | SqlTx

/** Invoice names are stored in upper case: the contract's pattern has no lower case. */
export async function statementOfInvoice(
  reads: Reads,
  account: string,
  invoice: string,
): Promise<Statement | undefined> {
  const [row] = await reads.all(
    `select ${columns} from billing_statements where account_key = ? and invoice = ?`,
    account.toLowerCase(),
    invoice.toUpperCase(),
  )
  return row === undefined ? undefined : statementOf(row)
}

interface StatementQuery {
  readonly account: string
  readonly profile?: string
  readonly billed?: boolean
  /** Ids below this one. */
  readonly before?: number
  readonly limit: number
}

/** Newest first. */
export async function listStatements(
  reads: Reads,
  query: StatementQuery,
): Promise<readonly Statement[]> {
  const { account, profile, billed, before, limit } = query
  const rows = await reads.all(
    `select ${columns} from billing_statements where account_key = ?
      ${profile === undefined ? '' : 'and profile_key = ?'}
      ${billed === undefined ? '' : `and invoice is ${billed ? 'not null' : 'null'}`}
      ${before === undefined ? '' : 'and id < ?'}
      order by id desc limit ?`,
    account.toLowerCase(),
    ...(profile === undefined ? [] : [profile.toLowerCase()]),
    ...(before === undefined ? [] : [before]),
    limit,
  )
  return rows.map(statementOf)
}

interface MonthQuery
  extends Pick<Required<StatementQuery>, 'account' | 'profile' | 'billed' | 'limit'> {
  /** The last month. */
  readonly through: string
}

/** All of them, newest first, or `limit` of any. An order in the query would walk through statements of later months. */
export async function statementsThrough(
  reads: Reads,
  { account, profile, billed, through, limit }: MonthQuery,
): Promise<readonly Statement[]> {
  const rows = await reads.all(
    `select ${columns} from billing_statements where account_key = ? and profile_key = ?
      and ${isBilled} = ? and month <= ? limit ?`,
    ...keysOf({ account, profile }),
    billed ? 1 : 0,
    through,
    limit,
  )
  return rows.map(statementOf).toSorted((left, right) => right.id - left.id)
}

/** The next profiles with something that no invoice has yet, of a month up to this one. */
export async function pendingPlaces(
  reads: Reads,
  throughMonth: string,
  { after, limit }: { readonly after: ProfilePlace; readonly limit: number },
): Promise<readonly ProfilePlace[]> {
  const rows = await reads.all(
    `select min(account) as account, min(profile) as profile from billing_statements
      where invoice is null and entries > 0 and month <= ? and (account_key, profile_key) > (?, ?)
      group by account_key, profile_key order by account_key, profile_key limit ?`,
    throughMonth,
    ...keysOf(after),
    limit,
  )
  return rows.map((row) => ({ account: text(row, 'account'), profile: text(row, 'profile') }))
}

/** Held until the transaction ends: one writer at a time per account, so names in it are unique. */
export async function lockAccount(tx: SqlTx, account: string): Promise<void> {
  await tx.run(
    `insert into billing_accounts (account_key, invoices_numbered, changes) values (?, 0, 1)
     on conflict (account_key) do update set changes = billing_accounts.changes + 1`,
    account.toLowerCase(),
  )
}

interface Wanted extends ProfilePlace {
  readonly currency: string
  readonly month: string
  readonly invoice: string | undefined
}

/** The statement of an entry, created if needed. */
export async function ensureStatement(tx: SqlTx, wanted: Wanted, now: number): Promise<Statement> {
  const { account, profile, currency, month } = wanted
  const invoice = wanted.invoice?.toUpperCase()
  const keys = keysOf(wanted)
  const find = async (): Promise<Statement | undefined> => {
    if (invoice !== undefined) return statementOfInvoice(tx, account, invoice)
    const [row] = await tx.all(
      `select ${columns} from billing_statements where account_key = ? and profile_key = ?
        and currency = ? and month = ? and invoice is null`,
      ...keys,
      currency,
      month,
    )
    return row === undefined ? undefined : statementOf(row)
  }
  const found = await find()
  if (found !== undefined) return found
  await tx.run(
    `insert into billing_statements (account_key, profile_key, account, profile, invoice, currency,
       month, entries, sub_total, tax, amount, credit, commitment, closed_at, status)
     values (?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0, 0, ?, ?)`,
    ...keys,
    account,
    profile,
    invoice ?? null,
    currency,
    month,
    invoice === undefined ? null : now,
    'Due',
  )
  const made = await find()
  if (made === undefined) throw new Error('a statement was inserted and is not there')
  return made
}

/** The month of a moment: `2026-11`. */
export function monthOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 7)
}

const dueMilliseconds = 30 * 86_400_000

/** When an invoice of that moment is to be paid. */
export function dueAt(closedAt: number): number {
  return closedAt + dueMilliseconds
}

/** Its first moment, and the first one after it. */
export function spanOfMonth(month: string): { readonly start: number; readonly end: number } {
  const [year, number] = month.split('-').map(Number)
  return {
    start: Date.UTC(year ?? 0, (number ?? 1) - 1, 1),
    end: Date.UTC(year ?? 0, number ?? 1, 1),
  }
}

/**
 * Whether a statement of that month, profile and currency was closed here. Later entries go to the current month.
 */
export async function isMonthClosed(
  tx: SqlTx,
  { account, profile, currency, month }: Omit<Wanted, 'invoice'>,
): Promise<boolean> {
  const rows = await tx.all(
    `select 1 from billing_closed_months
      where account_key = ? and profile_key = ? and currency = ? and month = ?`,
    ...keysOf({ account, profile }),
    currency,
    month,
  )
  return rows.length > 0
}
