/**
 * Queries that may scan a table go to the scanning reads. A transaction that writes may scan only a limited number
 * of rows.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type SqlRow, StatementTooLong } from '#stores/store.ts'
import type { Version } from '../entity.ts'
import { answering } from '../failure.ts'
import type { Reads } from '../message.ts'
import { businessModel } from '../model.ts'
import { Budget } from './budget.ts'
import { odataLimits } from './limits.ts'
import { createReader } from './read.ts'
import { type DataRequest, parseRequest } from './request.ts'

const company = '11111111-2222-4333-8444-555555555555'
const bounds = { companyId: company, visible: undefined }

/** Answers every count with this number, and every other statement with no rows. */
class CountingReads {
  readonly asked: string[] = []
  /** The last statement. */
  text = ''
  readonly #count: number
  constructor(count: number) {
    this.#count = count
  }

  /** The reads of a store, or of a transaction with `isWithin`. */
  reads(isWithin = false): Reads {
    const answer =
      (way: string) =>
      async (text: string): Promise<readonly SqlRow[]> => {
        this.asked.push(way)
        this.text = text
        return text.includes('count(*)') ? [{ n: this.#count }] : []
      }
    return { all: answer('all'), ...(isWithin ? {} : { scan: answer('scan') }) }
  }
}

function parsed(address: string, version: Version = 'v2.0'): DataRequest {
  const [path = '', search = ''] = `companies(${company})/${address}`.split('?')
  const request = parseRequest(
    businessModel,
    'Vendor',
    {
      method: 'GET',
      version,
      path,
      search,
      headers: {},
      body: undefined,
      // Parsing does not use the principal.
      principal: {} as Parameters<typeof parseRequest>[2]['principal'],
      correlationId: 'c',
    },
    0,
  )
  if (request.kind !== 'rows' && request.kind !== 'count') throw new Error('not a set')
  return request
}

const reader = createReader({
  model: businessModel,
  namespace: 'Vendor',
  publicUrl: 'http://host/api',
  dialect: 'sqlite',
  clock: { now: () => 0 },
})

async function waysOf(address: string): Promise<readonly string[]> {
  const counting = new CountingReads(0)
  await reader.read({ reads: counting.reads() }, parsed(address), bounds)
  return counting.asked
}

test('filters, orders, long skips and counts scan; a page in the own order does not', async () => {
  assert.deepEqual(await waysOf('customers'), ['all'])
  assert.deepEqual(await waysOf('customers?$top=5&$skip=10'), ['all'])
  for (const query of ["$filter=city eq 'x'", '$orderby=city', '$skip=100000']) {
    assert.deepEqual(await waysOf(`customers?${query}`), ['scan'], query)
  }
  assert.deepEqual(await waysOf('customers?$count=true'), ['all', 'scan'])
  assert.deepEqual(await waysOf("customers/$count?$filter=city eq 'x'"), ['scan'])
})

test('a statement counts the rows that it looks at, those of its lists too, and ends when it takes too long', async () => {
  const textOf = async (address: string): Promise<string> => {
    const counting = new CountingReads(0)
    await reader.read({ reads: counting.reads() }, parsed(address), bounds)
    return counting.text
  }
  const counted = async (address: string) =>
    [...(await textOf(address)).matchAll(/within_time\((t\d+\.\w+) > ''\)/g)].map(([, one]) => one)
  assert.deepEqual(await counted('salesInvoices'), [])
  assert.deepEqual(await counted('salesInvoices?$orderby=customerName'), ['t0.rowid'])
  const lines = 'salesInvoices?$filter=salesInvoiceLines'
  assert.deepEqual(await counted(`${lines}/$count gt 1`), ['t0.rowid', 't1.document_id'])
  const any = `${lines}/any(l: l/quantity gt 1) and salesInvoiceLines/all(l: l/quantity gt 0)`
  assert.deepEqual(await counted(any), ['t0.rowid', 't1.document_id', 't2.document_id'])
  // What is added up for a row counts, too.
  const sums = ['customers?$filter=agedAccountsReceivable/currentAmount eq 1']
  sums.push('trialBalances?$filter=dateFilter le 2026-12-31')
  for (const address of sums) assert.match(await textOf(address), /within_time\(\w+_id > ''\)/)
  const isTooLong = () => Promise.reject(new StatementTooLong())
  const answer = await answering('c', isTooLong)
  assert.equal(answer.status, 400)
  assert.match(String(answer.body), /look through too many rows/)
})

test('values that are added from rows of other tables scan', async () => {
  assert.deepEqual(await waysOf('trialBalances'), ['all'])
  const period = 'trialBalances?$filter=dateFilter le 2026-12-31'
  assert.deepEqual(await waysOf(period), ['scan'])
  assert.deepEqual(await waysOf('agedAccountsReceivables'), ['scan'])
  // Within a transaction the rows that are added are counted.
  const counting = new CountingReads(odataLimits.scannedRowsMax + 1)
  const budget = Budget.ofAnswer().inTransaction().share(0)
  const reads = counting.reads(true)
  await assert.rejects(reader.read({ reads, budget }, parsed(period), bounds), { status: 400 })
})

test('the requests of one transaction look through so many rows together', async () => {
  const counting = new CountingReads(odataLimits.scannedRowsMax / 2)
  const budget = Budget.ofAnswer().inTransaction()
  const read = (): Promise<unknown> =>
    reader.read(
      { reads: counting.reads(true), budget: budget.share(0) },
      parsed("customers?$filter=city eq 'x'"),
      bounds,
    )
  await read()
  await read()
  await assert.rejects(read, { status: 400, message: /look through at most 10000 rows/ })
  await reader.read(
    { reads: counting.reads(true), budget: budget.share(0) },
    parsed('customers'),
    bounds,
  )
})

test('within a transaction a long filter counts for more rows, and so do the lists that it goes through', async () => {
  const half = odataLimits.scannedRowsMax / 2
  const read = (address: string, rows: number): Promise<unknown> =>
    reader.read(
      {
        reads: new CountingReads(rows).reads(true),
        budget: Budget.ofAnswer().inTransaction().share(0),
      },
      parsed(address),
      bounds,
    )
  const many = Array.from({ length: 30 }, (_, at) => `contains(city,'${at}')`).join(' or ')
  await read(`customers?$filter=${many}`, half / 10)
  await assert.rejects(read(`customers?$filter=${many}`, half), { status: 400 })
  const computed = (operator: string) => `length(city)${` ${operator} 7`.repeat(8)} gt 3`
  await read(`customers?$filter=${computed('add')}`, half / 10)
  await read(`customers?$filter=${computed('mod')}`, half / 10)
  // The share of a discount is worked out for each line.
  const shares = (count: number) =>
    `salesInvoiceLines?$filter=documentId eq ${company} and (${Array.from({ length: count }, (_, at) => `netAmount eq ${at}`).join(' or ')})`
  await read(shares(5), half / 10)
  await assert.rejects(read(shares(5), half), { status: 400 })
  const list = "salesInvoices?$filter=salesInvoiceLines/any(l: l/description eq 'x')"
  await read(list, half)
  const sum = 'customers?$filter=agedAccountsReceivable/currentAmount eq 1'
  await read(sum, half)
  await assert.rejects(read(sum, half + 1), { status: 400, message: /lists among them/ })
  // The invoices alone would be few enough.
  await assert.rejects(read(list, half + 1), { status: 400, message: /lists among them/ })
})

/** A text of so many sums of a row, put together as a tree that is not deep. */
function sums(count: number): string {
  const sum = 'agedAccountsReceivable/periodLengthFilter'
  if (count === 1) return sum
  return `concat(${sums(Math.floor(count / 2))},${sums(Math.ceil(count / 2))})`
}

test('rows that a filter names again and again are counted once, and each time they are looked through', async () => {
  const counting = new CountingReads(odataLimits.scannedRowsMax / 50)
  const budget = Budget.ofAnswer().inTransaction().share(0)
  const read = (count: number): Promise<unknown> =>
    reader.read(
      { reads: counting.reads(true), budget },
      parsed(`customers?$filter=length(${sums(count)}) gt 1`),
      bounds,
    )
  await read(20)
  // The customers, the entries that are added, and the rows.
  assert.equal(counting.asked.length, 3)
  await assert.rejects(read(40), { status: 400, message: /look through at most/ })
})

test('in a transaction a long statement counts as rows, for it is prepared meanwhile', async () => {
  const reads = new CountingReads(0).reads(true)
  const budget = Budget.ofAnswer().inTransaction().share(0)
  const read = (): Promise<unknown> =>
    reader.read({ reads, budget }, parsed(`customers?$filter=length(${sums(30)}) gt 1`), bounds)
  for (let time = 0; time < 3; time++) await read()
  const all = Promise.all(Array.from({ length: 10 }, read))
  await assert.rejects(all, { status: 400, message: /look through at most/ })
})

test('a search that compares many characters for each row is refused, in any reads', () => {
  const search = `contains(concat(city,'${'a'.repeat(3_000)}'),'${'a'.repeat(2_000)}')`
  for (const option of ['$filter', '$orderby']) {
    const parse = () => parsed(`customers?${option}=${search}`)
    assert.throws(parse, { status: 400, message: /searches in short texts/ })
  }
  parsed(`customers?$filter=contains(concat(displayName,concat(' ',city)),'${'a'.repeat(200)}')`)
})

test('lists and sums are those of the row itself, so that none is gone through once for each of many rows', () => {
  const lines = 'salesInvoiceLines/any'
  const overdue = 'agedAccountsReceivable/period3Amount gt 0'
  const own = [
    `salesInvoices?$filter=${lines}(l: l/quantity gt 0) and salesInvoiceLines/$count gt 1`,
    `salesInvoices?$orderby=salesInvoiceLines/$count`,
    `customers?$filter=salesInvoices/any(i: i/${lines}(l: l/netAmount gt i/discountAmount))`,
    `customers?$filter=${overdue}`,
    `customers?$filter=agedAccountsReceivable/customer/salesInvoices/$count gt 1`,
    `agedAccountsReceivables?$filter=period3Amount gt 0`,
  ]
  for (const address of own) parsed(address)
  const shared = [
    `salesInvoices?$filter=${lines}(a: ${lines}(b: b/quantity lt a/quantity))`,
    `salesInvoices?$filter=${lines}(a: $it/${lines}(b: b/quantity lt a/quantity))`,
    `customers?$filter=salesInvoices/any(i: salesQuotes/any(q: q/number eq i/number))`,
    `customers?$filter=salesInvoices/any(i: i/${lines}(a: i/${lines}(b: b/quantity lt a/quantity)))`,
    `salesInvoices?$filter=customer/salesInvoices/$count gt 1`,
    `salesInvoices?$orderby=customer/salesInvoices/$count`,
    `salesInvoices?$filter=${lines}(l: salesInvoiceLines/$count gt 1)`,
    `salesInvoices?$filter=customer/${overdue}`,
    `customers?$filter=salesInvoices/any(i: ${overdue})`,
    `customers?$filter=salesInvoices/any(i: i/customer/${overdue})`,
    `customers?$expand=salesInvoices($filter=customer/${overdue})`,
  ]
  const refused = { status: 400, message: /lists and sums of the row itself/ }
  for (const address of shared) assert.throws(() => parsed(address), refused, address)
  const ofOne = 'salesInvoice/any(i: i/salesInvoiceLines/any(l: l/quantity gt 0))'
  const filter = `$filter=documentId eq ${company} and ${ofOne}`
  assert.throws(() => parsed(`salesInvoiceLines?${filter}`, 'v1.0'), refused)
})
