/**
 * Lists of transactions: of an invoice (contract, operation 4), and of a profile, customer or invoice section. It
 * reads the query, finds the statements, and asks the ledger.
 */

import { refuse } from '#kernel/error.ts'
import { parseDate, parseUsDate } from '#kernel/filter/moments.ts'
import { nameOf, parentOf, type ResourceId } from '#kernel/resource-id.ts'
import type { ListContext, ListPage } from '#plane/declare/wire.ts'
import { refuseBilling } from '../../errors.ts'
import { placeholders } from '../cells.ts'
import type { Entry, Statement } from '../ledger/entry.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { readPage } from '../ledger/pages.ts'
import { type LedgerQuery, parseLedgerQuery } from '../ledger/query.ts'
import { parseSearch } from '../ledger/search.ts'
import { showEntry, type TagRow } from '../ledger/show.ts'
import { monthOf, statementOfInvoice, statementsThrough } from '../ledger/statements.ts'
import { countMatching } from '../ledger/totals.ts'
import { requireAccountName, requireInvoiceName } from '../names.ts'
import { tags } from '../tables.ts'

/** The statement of `…/billingAccounts/{account}/invoices/{invoice}`; refuses bad names and a missing invoice. */
export async function requireInvoice(ledger: Ledger, invoice: ResourceId): Promise<Statement> {
  const account = nameOf(parentOf(invoice))
  requireAccountName(account)
  requireInvoiceName(nameOf(invoice))
  const found = await statementOfInvoice(ledger.sql, account, nameOf(invoice))
  if (found === undefined) throw refuse.ResourceNotFound({ id: invoice.text })
  return found
}

export async function listOfInvoice(
  ledger: Ledger,
  context: ListContext,
): Promise<ListPage<object>> {
  const query = readQuery(ledger, context.query)
  const statement = await requireInvoice(ledger, context.parent)
  return answer(ledger, context, query, [statement])
}

/**
 * Transactions of a profile, or of one of its customers or sections: `type` and the period are required (facts
 * 5.1).
 */
export async function listOfProfile(
  ledger: Ledger,
  context: ListContext,
  part?: 'customerId' | 'invoiceSectionId',
): Promise<ListPage<object>> {
  const profile = part === undefined ? context.parent : parentOf(context.parent)
  const account = nameOf(parentOf(profile))
  requireAccountName(account)
  const type = context.query.get('type')
  const types = ['Other', 'Billed', 'Unbilled']
  const chosen = types.find((one) => one.toLowerCase() === type?.toLowerCase())
  if (chosen === undefined) {
    throw refuse.InvalidQueryParameter({ name: 'type', reason: `expected ${types.join(', ')}` })
  }
  const from = periodDate(context.query, 'periodStartDate')
  const until = periodDate(context.query, 'periodEndDate')
  if (until < from) {
    throw refuse.InvalidQueryParameter({
      name: 'periodEndDate',
      reason: 'expected a day that is not before periodStartDate',
    })
  }
  const end = new Date(until + 86_400_000).toISOString()
  const terms = [
    `properties/date ge ${new Date(from).toISOString()} and properties/date lt ${end}`,
    ...(part === undefined
      ? []
      : [`tolower(properties/${part}) eq '${context.parent.key.replaceAll("'", "''")}'`]),
  ]
  const query = readQuery(ledger, context.query, terms)
  if (chosen === 'Other') return answer(ledger, context, query, [])
  const { statementsMax } = ledger.limits
  // A statement that was closed late may hold entries of other months, so only later statements are left out.
  const statements = await statementsThrough(ledger.sql, {
    account,
    profile: nameOf(profile),
    billed: chosen === 'Billed',
    through: monthOf(until + 86_400_000),
    limit: statementsMax + 1,
  })
  if (statements.length > statementsMax) {
    throw refuseBilling.PeriodTooLong({ limit: statementsMax })
  }
  return answer(ledger, context, query, statements)
}

function periodDate(query: URLSearchParams, name: string): number {
  const given = query.get(name)?.trim() ?? ''
  const found = parseUsDate(given) ?? parseDate(given)
  if (found !== undefined) return found
  throw refuse.InvalidQueryParameter({ name, reason: 'expected a date as MM-DD-YYYY' })
}

interface ListQuery {
  readonly query: LedgerQuery
  readonly words: readonly string[]
  readonly top: number
  readonly skip: number
  readonly count: boolean
}

/** The common query of facts 5.1, whose names have no `$`. */
function readQuery(
  { fields, limits }: Ledger,
  query: URLSearchParams,
  more: readonly string[] = [],
): ListQuery {
  const { topMax } = limits
  const given = query.get('filter')?.trim() ?? ''
  // Parsed by itself first, so that it must be complete and its positions are its own.
  parseLedgerQuery(fields, given, null)
  const filter = [...more, ...(given === '' ? [] : [`(${given})`])].join(' and ')
  const search = parseSearch(query.get('search') ?? '')
  if (!search.ok) {
    throw refuse.InvalidQueryParameter({ name: 'search', reason: search.reason })
  }
  return {
    query: parseLedgerQuery(fields, more.length === 0 ? given : filter, query.get('orderBy')),
    words: search.words,
    top: wholeNumber(query, 'top', 1, topMax) ?? topMax,
    skip: skipOf(query),
    count: flag(query, 'count'),
  }
}

export function wholeNumber(
  query: URLSearchParams,
  name: string,
  min: number,
  max: number,
): number | undefined {
  const given = query.get(name)
  if (given === null) return undefined
  const value = /^[0-9]{1,15}$/.test(given) ? Number(given) : Number.NaN
  if (value >= min && value <= max) return value
  throw refuse.InvalidQueryParameter({
    name,
    reason: `expected a whole number from ${min} to ${max}`,
  })
}

/** An int64 of the contract. Each page skips as many entries as it may read, and the next one continues. */
export function skipOf(query: URLSearchParams): number {
  const given = query.get('skip') ?? '0'
  if (/^\d{1,19}$/.test(given) && BigInt(given) < 2n ** 63n) {
    return Math.min(Number(given), Number.MAX_SAFE_INTEGER)
  }
  throw refuse.InvalidQueryParameter({
    name: 'skip',
    reason: 'expected a whole number of 64 bits, from 0',
  })
}

export function flag(query: URLSearchParams, name: string): boolean {
  const given = query.get(name)?.toLowerCase() ?? 'false'
  if (given !== 'true' && given !== 'false') {
    throw refuse.InvalidQueryParameter({ name, reason: 'expected true or false' })
  }
  return given === 'true'
}

async function answer(
  ledger: Ledger,
  { cursor }: ListContext,
  { query, words, top, skip, count }: ListQuery,
  statements: readonly Statement[],
): Promise<ListPage<object>> {
  const page = await readPage(ledger, { query, words, statements, limit: top, skip, cursor })
  const tags = await tagsOf(ledger, page.entries)
  const counted = count ? await countMatching(ledger, query, words, statements) : undefined
  return {
    items: page.entries.map((entry) => showEntry(ledger.words, entry, tags.get(entry.row.id))),
    ...(page.next === undefined ? {} : { next: page.next }),
    ...(counted === undefined ? {} : { count: counted.entries }),
  }
}

export async function tagsOf(
  { sql }: Ledger,
  entries: readonly Entry[],
): Promise<ReadonlyMap<number, TagRow>> {
  if (entries.length === 0) return new Map()
  const rows = await sql.all(
    `select entry_id, tags, changed_at, changed_by from billing_tags
     where entry_id in (${placeholders(entries.length)})`,
    ...entries.map(({ row }) => row.id),
  )
  return new Map(rows.map(tags.row).map(({ entryId, ...row }) => [entryId, row]))
}
