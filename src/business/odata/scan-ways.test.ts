/** What a filter or an order computes for rows runs where it holds up nobody, for whichever rows of an answer it is. */

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { defineFunctions, StatementTime } from '#stores/sqlite/functions.ts'
import type { Reads } from '../message.ts'
import { businessMigrations } from '../migrations.ts'
import { businessModel } from '../model.ts'
import { type BusinessFixture, fixtureNow, openCompany } from '../testing/books.ts'
import { Budget } from './budget.ts'
import { odataLimits } from './limits.ts'
import { createReader } from './read.ts'
import { parseRequest } from './request.ts'

const reader = createReader({
  model: businessModel,
  namespace: 'Vendor',
  publicUrl: 'http://host/api',
  dialect: 'sqlite',
  clock: { now: () => fixtureNow },
})

function requestOf(companyId: string, address: string) {
  const [path = '', search = ''] = `companies(${companyId})/${address}`.split('?')
  const given = {
    method: 'GET',
    version: 'v2.0' as const,
    path,
    search,
    headers: {},
    body: undefined,
    // Parsing does not use the principal.
    principal: {} as Parameters<typeof parseRequest>[2]['principal'],
    correlationId: 'c',
  }
  const request = parseRequest(businessModel, 'Vendor', given, 0)
  if (request.kind !== 'rows' && request.kind !== 'count') throw new Error('not a set')
  return request
}

async function read(
  { companyId }: BusinessFixture,
  address: string,
  reading: { readonly reads: Reads; readonly budget?: Budget },
): Promise<string> {
  const request = requestOf(companyId, address)
  const { body = '' } = await reader.read(reading, request, { companyId, visible: undefined })
  return String(body)
}

/** The statements that hold up the process. */
function watched({ sql }: BusinessFixture): { readonly reads: Reads; readonly texts: string[] } {
  const texts: string[] = []
  const reads: Reads = {
    all: (text, ...values) => {
      texts.push(text)
      return sql.all(text, ...values)
    },
    scan: (text, ...values) => sql.scan(text, ...values),
  }
  return { reads, texts }
}

async function addCustomers({ sql, companyId }: BusinessFixture, count: number): Promise<void> {
  await sql.transact(async (tx) => {
    for (let at = 0; at < count; at++) {
      await tx.run(
        'insert into business_customers (id, company_id, revision, number, display_name) values (?, ?, 1, ?, ?)',
        `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`,
        companyId,
        `N${at}`,
        `Customer ${at}`,
      )
    }
  })
}

test('an order that is computed is a scan for each piece of a page', async (t) => {
  await using company = await openCompany(t, 'sqlite')
  assert.ok(company)
  const count = 2 * odataLimits.rowsAtOnce
  await addCustomers(company, count)
  const { reads, texts } = watched(company)
  const body = await read(company, 'customers?$orderby=tolower(displayName)', { reads })
  assert.match(body, new RegExp(`Customer ${count - 1}"`))
  assert.deepEqual(
    texts.filter((text) => text.includes('lower(')),
    [],
  )
})

test('a filter of a single row below another is a scan', async (t) => {
  await using company = await openCompany(t, 'sqlite')
  assert.ok(company)
  const { customerId, sql } = company
  await company.create('salesInvoices', { customerId, salesInvoiceLines: [] })
  const filter = "$filter=salesInvoices/any(i: contains(tolower(i/customerName),'adatum'))"
  const address = `salesInvoices?$expand=customer(${filter})`
  const { reads, texts } = watched(company)
  const body = await read(company, address, { reads })
  assert.match(body, /"customer":{"@odata.etag"/)
  assert.deepEqual(
    texts.filter((text) => text.includes('lower(')),
    [],
  )

  // A transaction counts what it looks through.
  await addCustomers(company, odataLimits.scannedRowsMax)
  const budget = Budget.ofAnswer().inTransaction()
  const within = { reads: { all: sql.all.bind(sql) }, budget: budget.share(0) }
  await assert.rejects(read(company, address, within), { status: 400, message: /look through/ })
  await read(company, 'salesInvoices?$expand=customer', within)
})

test('rows below a row, and those with known ids, are found by it, and by no index of the whole company', async (t) => {
  await using company = await openCompany(t, 'sqlite')
  assert.ok(company)
  const { companyId, customerId, sql } = company
  const db = new DatabaseSync(':memory:')
  for (const { sqlite } of businessMigrations) for (const text of sqlite) db.exec(text)
  let counted = 0
  class Counting extends StatementTime {
    override count(): void {
      counted++
    }
  }
  defineFunctions(db, new Counting(60))
  const plans: string[] = []
  const looking =
    (way: string): Reads['all'] =>
    async (text, ...values) => {
      const plan = db.prepare(`explain query plan ${text}`).all(...values)
      plans.push(`${way} ${JSON.stringify(plan)} ${text.includes('within_time')}`)
      return await sql.all(text, ...values)
    }
  const reads = { all: looking('all'), scan: looking('scan') }
  const wholeCompany = /INDEX business_(?:documents|customer_payments)_by_number/
  for (const address of [
    `customers(${customerId})/salesInvoices`,
    `customers(${customerId})/salesInvoices/$count`,
    `customers(${customerId})/customerPayments?$count=true`,
    `customers(${customerId})/salesQuotes?$skip=2000`,
    'customers?$expand=salesInvoices',
    'customers?$expand=salesInvoices($top=1;$count=true),customerPayments',
    'customerPaymentJournals?$expand=customerPayments',
  ]) {
    plans.length = 0
    await read(company, address, { reads })
    const ofLists = plans.filter((one) => /business_(?:documents|customer_payments)_/.test(one))
    assert.ok(ofLists.length > 0 || address.startsWith('customerPaymentJournals'), address)
    for (const one of ofLists) {
      assert.doesNotMatch(one, wholeCompany, address)
      // Those of another kind are not looked at.
      if (one.includes('business_documents_'))
        assert.match(one, /_by_customer \(customer_id=\? AND kind=\?\)/, address)
      // Where it holds up nobody, and ends when it takes too long.
      assert.match(one, /^scan .* true$/, address)
    }
  }
  assert.equal(counted, 0)

  plans.length = 0
  const set = requestOf(companyId, 'salesInvoices')
  await reader.some({ reads }, set, { bounds: { companyId, visible: undefined }, ids: ['a', 'b'] })
  assert.equal(plans.length, 1)
  assert.doesNotMatch(plans[0] ?? '', wholeCompany)
  db.close()
})

test('a list in an order of no index is a scan', async (t) => {
  await using company = await openCompany(t, 'sqlite')
  assert.ok(company)
  const { reads, texts } = watched(company)
  for (const set of ['itemVariants', 'currencyExchangeRates', 'taxRates'])
    await read(company, set, { reads })
  assert.deepEqual(texts, [])
  const inOrder = ['customers', 'items', 'salesInvoices', 'currencies', 'generalLedgerEntries']
  for (const set of [...inOrder, 'itemUnitsOfMeasure', 'outboxEntries'])
    await read(company, set, { reads })
  assert.equal(texts.length, 7)
})

test('no list goes through a table or sorts while it holds up the process', async (t) => {
  await using company = await openCompany(t, 'sqlite')
  assert.ok(company)
  const { customerId: id } = company
  const db = new DatabaseSync(':memory:')
  for (const { sqlite } of businessMigrations) for (const text of sqlite) db.exec(text)
  defineFunctions(db, new StatementTime(60))
  const below = businessModel.entities.flatMap(({ set, navigations }) =>
    navigations.flatMap(({ name, many }) => (many ? [`${set}(${id})/${name}`] : [])),
  )
  const sets = businessModel.entities.filter(({ scope }) => scope === 'company')
  const lists = [...sets.filter((one) => !one.listNeeds).map(({ set }) => set), ...below]
  let plan = ''
  // Rows above are found, and no others.
  const all: Reads['all'] = async (text, ...values) => {
    const steps = db.prepare(`explain query plan ${text}`).all(...values)
    plan += steps.map(({ detail }) => `${detail}\n`).join('')
    return text.endsWith(' limit 1') ? [{ id }] : []
  }
  for (const list of lists) {
    plan = ''
    await read(company, `${list}?$top=1`, { reads: { all, scan: async () => [] } })
    assert.doesNotMatch(plan, /SCAN (t0|business)|TEMP B-TREE FOR ORDER BY/, list)
    for (const search of ['?$top=1', '?$top=1&$count=true', '/$count']) {
      plan = ''
      const budget = Budget.ofAnswer().inTransaction()
      await read(company, list + search, { reads: { all }, budget: budget.share(0) })
      assert.match(plan, /SEARCH (t0|business_\w+) USING/, list)
      assert.doesNotMatch(plan, /SCAN (t0|business)/, list)
      // Each row that is looked at is of the list.
      if (list.includes(')/sales') && !list.includes('Lines'))
        assert.match(plan, /\(customer_id=\? AND kind=\?\)/, list)
    }
  }
  db.close()
})

test('a transaction counts the rows of lists that it goes through without a filter', async (t) => {
  await using company = await openCompany(t, 'sqlite')
  assert.ok(company)
  const { customerId, sql } = company
  for (let at = 0; at < 3; at++)
    await company.create('salesInvoices', { customerId, salesInvoiceLines: [] })
  const below = `customers(${customerId})/salesInvoices`
  const counted = [`${below}?$top=1`, `${below}/$count`, 'salesInvoices/$count']
  counted.push('salesInvoices?$count=true&$top=1')
  for (const address of counted) {
    const budget = Budget.ofAnswer().inTransaction()
    budget.nested.listed = 5
    const within = { reads: { all: sql.all.bind(sql) }, budget: budget.share(0) }
    await read(company, address, within)
    const again = read(company, address, within)
    await assert.rejects(again, { status: 400, message: /lists that one transaction/ }, address)
    // A page in the order of the whole set looks through its rows alone.
    await read(company, 'salesInvoices?$top=1', within)
  }
})

test('a transaction sorts the rows of a list that it expands by their ids alone', async (t) => {
  await using company = await openCompany(t, 'sqlite')
  assert.ok(company)
  const { customerId, sql } = company
  for (let at = 0; at < 2; at++)
    await company.create('salesInvoices', { customerId, salesInvoiceLines: [] })
  const texts: string[] = []
  const all: Reads['all'] = (text, ...values) => {
    texts.push(text)
    return sql.all(text, ...values)
  }
  const budget = Budget.ofAnswer().inTransaction()
  const address = 'customers?$expand=salesInvoices($top=1;$count=true)'
  const within = await read(company, address, { reads: { all }, budget })
  const sorted = texts.filter((text) => text.includes('row_number()'))
  assert.equal(sorted.length, 1)
  assert.match(
    sorted[0] ?? '',
    /from \(select t0\.id as id, t0\.customer_id as hanging, row_number/,
  )
  assert.equal(within, await read(company, address, { reads: sql }))
})

test('each row that a statement looks at is counted, also where an index tells that it does not meet the filter', async (t) => {
  await using company = await openCompany(t, 'sqlite')
  assert.ok(company)
  const { companyId } = company
  const rows = 50
  const db = new DatabaseSync(':memory:')
  for (const { sqlite } of businessMigrations) for (const text of sqlite) db.exec(text)
  let counted = 0
  class Counting extends StatementTime {
    override count(): void {
      counted++
    }
  }
  defineFunctions(db, new Counting(60))
  db.prepare('insert into business_companies (id, revision, name) values (?, 1, ?)').run(
    companyId,
    'c',
  )
  for (const [table, columns] of Object.entries({
    customers: ['number'],
    items: ['number'],
    accounts: ['number'],
    documents: ['number', 'kind'],
    currencies: ['code'],
  })) {
    const insert = db.prepare(
      `insert into business_${table} (id, company_id, revision, ${columns.join(', ')}) values (?, ?, 1, ${columns.map(() => '?').join(', ')})`,
    )
    for (let at = 0; at < rows; at++) {
      insert.run(
        `${table}${at}`,
        companyId,
        ...columns.map((name) => (name === 'kind' ? 'invoice' : `N${at}`)),
      )
    }
  }
  for (const address of [
    "customers?$filter=contains(number,'zzz')",
    "customers?$filter=contains(number,'zzz')&$orderby=displayName desc",
    "customers/$count?$filter=contains(number,'zzz')",
    "items?$filter=contains(number,'zzz')",
    "accounts?$filter=contains(number,'zzz')",
    "trialBalances?$filter=contains(number,'zzz') and dateFilter le 2026-12-31",
    "agedAccountsReceivables?$filter=contains(customerNumber,'zzz') and currentAmount ne 1",
    "salesInvoices?$filter=contains(number,'zzz')",
    "currencies?$filter=contains(code,'zzz')",
    "customers?$filter=salesInvoices/any(i: contains(i/number,'zzz'))",
  ]) {
    counted = 0
    const scan: Reads['all'] = async (text, ...values) => {
      db.prepare(text).all(...values)
      return text.includes('count(*)') ? [{ n: 0 }] : []
    }
    await read(company, address, { reads: { all: scan, scan } })
    assert.ok(counted >= rows, `${address}: ${counted}`)
  }
  db.close()
})

test('a change that expands what is added up for its row counts the rows behind it once', async (t) => {
  await using company = await openCompany(t, 'sqlite')
  assert.ok(company)
  const { companyId, customerId, sql } = company
  await sql.transact(async (tx) => {
    for (let at = 0; at < 0.6 * odataLimits.scannedRowsMax; at++) {
      await tx.run(
        "insert into business_documents (id, company_id, revision, kind, number, customer_id, bill_to_customer_id) values (?, ?, 1, 'invoice', ?, ?, ?)",
        `document${at}`,
        companyId,
        `N${at}`,
        customerId,
        customerId,
      )
    }
  })
  for (const name of ['agedAccountsReceivable', 'salesInvoices($top=1)']) {
    const budget = Budget.ofAnswer().inTransaction().share(0)
    const reads = { all: sql.all.bind(sql) }
    await read(company, `customers?$top=1&$expand=${name}`, { reads, budget })
  }
})

test('a later page, which SQLite sorts, is a scan', async (t) => {
  await using company = await openCompany(t, 'sqlite')
  assert.ok(company)
  await addCustomers(company, 3)
  const { reads, texts } = watched(company)
  const token = Buffer.from(
    JSON.stringify(['N0', '00000000-0000-4000-8000-000000000000']),
  ).toString('base64url')
  const body = await read(company, `customers?$skiptoken=${token}`, { reads })
  assert.match(body, /"number":"N2"/)
  assert.doesNotMatch(body, /"number":"N0"/)
  assert.deepEqual(
    texts.filter((text) => text.includes('business_customers')),
    [],
  )
})
