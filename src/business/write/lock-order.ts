/**
 * The locks of a change set, taken before its first request and in one order: companies, journals of payments, documents, number series, items, customers,
 * each by their ids. Two change sets that write the same rows in opposite order then wait for each other instead of
 * stopping each other. A request by itself takes its locks in that order anyway.
 */

import { type Bytes, readBytes } from '#kernel/stored-bytes.ts'
import { allRows } from '#query/rows.ts'
import { selecting, type Table } from '#query/table.ts'
import type { SqlTx } from '#stores/store.ts'
import * as tables from '../tables.ts'
import type { Identified } from './lookups.ts'
import { sharedTurn } from './rows.ts'

/** A request of a change set, as far as it says what it writes. */
interface BatchedWrite {
  readonly method: string
  readonly url: string
  readonly body: Bytes | undefined
}

const guid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi
/** A longer body creates rows, which nobody else can hold. */
const bodyBytesMax = 16_384
/** The number of ids in one statement. Further rows are locked when they are written. */
const idsMax = 1_000

/**
 * `companyIds`: the companies in which the caller has a right; undefined means all. Rows of other companies are
 * never locked.
 */
export async function lockInOrder(
  tx: SqlTx,
  writes: readonly BatchedWrite[],
  companyIds: readonly string[] | undefined,
): Promise<void> {
  const named = idsIn(writes)
  if (named.length === 0) return
  const allowed = companyIds === undefined ? '' : ` and company_id in (${placeholders(companyIds)})`
  const lock = (table: Table<Identified>, condition: string, ids: readonly string[]) => {
    const where = `where (${condition})${allowed} order by id for no key update`
    return allRows(tx, selecting(table, 'id'), where, ...ids, ...(companyIds ?? []))
  }
  const these = placeholders(named)
  const own = companyIds === undefined ? '' : ` and id in (${placeholders(companyIds)})`
  const turns = `select id, ${sharedTurn} from ${tables.companies.name} where id in (${these})${own} order by id offset 0`
  const kept = `where id in (select id from (${turns}) as waited) order by id for key share`
  await allRows(tx, selecting(tables.companies, 'id'), kept, ...named, ...(companyIds ?? []))
  await lock(tables.customerPaymentJournals, `id in (${these})`, named)
  const payments = `id in (${these}) or journal_id in (${these})`
  await lock(tables.customerPayments, payments, [...named, ...named])
  const documents = await lock(
    tables.documents,
    `id in (${these}) or id in (select document_id from business_lines where id in (${these}))
       or id in (select invoice_id from business_documents where id in (${these}))
       or id in (select applies_to_invoice_id from business_customer_payments where journal_id in (${these}))`,
    [...named, ...named, ...named, ...named],
  )
  // A POST takes numbers, and a PATCH of an item adds a stock entry.
  if (writes.some(({ method, url }) => method === 'POST' || /\bitems\(/i.test(url))) {
    const those = `where company_id in (${these})${allowed} order by company_id`
    const [values, lock] = [[...named, ...(companyIds ?? [])], 'for no key update']
    const series = selecting(tables.numberSeries, 'code')
    await allRows(tx, series, `${those}, code ${lock}`, ...values)
    await allRows(tx, selecting(tables.counters, 'name'), `${those}, name ${lock}`, ...values)
  }
  // Posting and paying also change stock and balances.
  const movesMore = writes.some(({ url }) => /\.NAV\.|payments/i.test(url))
  const moved = movesMore ? documents.map(({ id }) => id) : []
  const those = placeholders(moved)
  const ofDocuments = `from business_lines where document_id in (${those})`
  await lock(tables.items, `id in (${these}) or id in (select item_id ${ofDocuments})`, [
    ...named,
    ...moved,
  ])
  const payers = `select bill_to_customer_id from business_documents where id in (${those})`
  await lock(tables.customers, `id in (${these}) or id in (${payers})`, [...named, ...moved])
}

function idsIn(writes: readonly BatchedWrite[]): readonly string[] {
  const ids = new Set<string>()
  for (const { method, url, body } of writes) {
    if (method === 'GET') continue
    const text =
      body === undefined || body.length > bodyBytesMax
        ? ''
        : new TextDecoder().decode(readBytes(body))
    for (const [id] of `${url} ${text}`.matchAll(guid)) ids.add(id.toLowerCase())
  }
  return [...ids].slice(0, idsMax)
}

function placeholders(values: readonly unknown[]): string {
  return values.length === 0 ? 'null' : values.map(() => '?').join(', ')
}
