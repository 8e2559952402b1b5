/** What a filter or an order computes for rows runs where it holds up nobody, for whichever rows of an answer it is. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Reads } from '../message.ts'
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

async function read(
  { companyId }: BusinessFixture,
  address: string,
  reading: { readonly reads: Reads; readonly budget?: Budget },
): Promise<string> {
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
