/** The demo of the business application: a sample company, and the contract's calls on lines of its documents. */

import { textOf } from '#client/answer.ts'
import { isJsonObject } from '#kernel/patch.ts'
import type { DemoArea, DemoCall } from '../area.ts'
import type { DemoSetup } from '../setup.ts'

const root = '/api/v2.0'
const companyName = 'Demo company'

export const area: DemoArea = {
  name: 'business',
  summary: 'lines of sales invoices, quotes and credit memos',
  operations: [100],
  async prepare(fixture) {
    const company = await companyOf(fixture)
    const path = `companies(${company})`
    const at = `${root}/${path}`
    await masterData(fixture, at)
    const itemId = await need(
      fixture,
      `${at}/items`,
      { property: 'number', value: '1996-S' },
      {
        number: '1996-S',
        displayName: 'ATLANTA Whiteboard, base',
        unitPrice: 54.9,
        baseUnitOfMeasureCode: 'PCS',
        taxGroupCode: 'FURNITURE',
      },
    )
    const invoice = await draft(fixture, at, 'salesInvoices')
    const quote = await draft(fixture, at, 'salesQuotes')
    const memo = await draft(fixture, at, 'salesCreditMemos')
    fixture.note(`Company ${companyName} (${company}), with the item 1996-S and the customer 10000`)
    const line = {
      itemId,
      lineType: 'Item',
      lineObjectNumber: '1996-S',
      unitOfMeasureCode: 'PCS',
      unitPrice: 54.9,
      quantity: 3,
      discountAmount: 0,
      discountPercent: 0,
      taxCode: 'FURNITURE',
    }
    const call = (title: string, method: string, where: string, more: object = {}): DemoCall => ({
      operation: 0,
      title,
      method,
      path: where,
      ...more,
    })
    const first = await lineOf(fixture, at, { type: 'salesInvoice', documentId: invoice }, line)
    const quoted = await lineOf(fixture, at, { type: 'salesQuote', documentId: quote }, line)
    const returned = await lineOf(fixture, at, { type: 'salesCreditMemo', documentId: memo }, line)
    const v1 = `/api/v1.0/${path}/salesInvoices(${invoice})/salesInvoiceLines(${first})`
    const body = { body: line }
    return [
      call(
        'create an invoice line',
        'POST',
        `${at}/salesInvoices(${invoice})/salesInvoiceLines`,
        body,
      ),
      call('the same below the company', 'POST', `${at}/salesInvoiceLines`, {
        body: { ...line, documentId: invoice },
      }),
      call(
        'get an invoice line',
        'GET',
        `${at}/salesInvoices(${invoice})/salesInvoiceLines(${first})`,
      ),
      call('the same below the company', 'GET', `${at}/salesInvoiceLines(${first})`),
      call('get an invoice line (v1.0)', 'GET', v1),
      call('update an invoice line (v1.0); `*` is whatever tag it has', 'PATCH', v1, {
        body: { quantity: 4 },
        headers: { 'If-Match': '*' },
      }),
      call('create a quote line', 'POST', `${at}/salesQuotes(${quote})/salesQuoteLines`, body),
      call(
        'the same, beside a line named by its key',
        'POST',
        `${at}/salesQuoteLines(${quoted})`,
        body,
      ),
      call(
        'create a credit memo line',
        'POST',
        `${at}/salesCreditMemos(${memo})/salesCreditMemoLines`,
        body,
      ),
      call(
        'the same, beside a line named by its key',
        'POST',
        `${at}/salesCreditMemoLines(${returned})`,
        body,
      ),
      call(
        'the invoice with its lines and totals',
        'GET',
        `${at}/salesInvoices(${invoice})?$expand=salesInvoiceLines`,
      ),
    ]
  },
}

async function companyOf(fixture: DemoSetup): Promise<string> {
  return await need(
    fixture,
    `${root}/companies`,
    { property: 'name', value: companyName },
    { name: companyName },
  )
}

async function masterData(fixture: DemoSetup, at: string): Promise<void> {
  const areaId = await need(
    fixture,
    `${at}/taxAreas`,
    { property: 'code', value: 'HOME' },
    {
      code: 'HOME',
      displayName: 'Home',
    },
  )
  const groupId = await need(
    fixture,
    `${at}/taxGroups`,
    { property: 'code', value: 'FURNITURE' },
    {
      code: 'FURNITURE',
      displayName: 'Taxable furniture',
    },
  )
  const rate = { taxAreaId: areaId, taxGroupId: groupId, taxPercent: 5 }
  await need(fixture, `${at}/taxRates`, { property: 'taxGroupCode', value: 'FURNITURE' }, rate)
  await need(
    fixture,
    `${at}/unitsOfMeasure`,
    { property: 'code', value: 'PCS' },
    { code: 'PCS', displayName: 'Piece' },
  )
  await need(
    fixture,
    `${at}/customers`,
    { property: 'number', value: '10000' },
    {
      number: '10000',
      displayName: 'Adatum Corporation',
      email: 'sales@example.com',
      taxLiable: true,
      taxAreaId: areaId,
    },
  )
}

/** Returns the id of the row with that value, and creates it if needed. */
async function need(
  fixture: DemoSetup,
  path: string,
  { property, value }: { readonly property: string; readonly value: string },
  body: object,
): Promise<string> {
  const filter = { $filter: `${property} eq '${value}'` }
  const { body: found } = await fixture.client.request('GET', path, { query: filter })
  const rows = isJsonObject(found) ? found['value'] : undefined
  const id = Array.isArray(rows) ? textOf(rows[0], 'id') : undefined
  if (id !== undefined) return id
  return idIn((await fixture.client.request('POST', path, { body })).body)
}

/** An open draft of the demo's customer: from an earlier run, or a new one. */
async function draft(fixture: DemoSetup, at: string, set: string): Promise<string> {
  const query = { $filter: "status eq 'Draft' and customerNumber eq '10000'", $top: 1 }
  const { body } = await fixture.client.request('GET', `${at}/${set}`, { query })
  const rows = isJsonObject(body) ? body['value'] : undefined
  const id = Array.isArray(rows) ? textOf(rows[0], 'id') : undefined
  if (id !== undefined) return id
  const made = { customerNumber: '10000' }
  return idIn((await fixture.client.request('POST', `${at}/${set}`, { body: made })).body)
}

/** The first line of a document, created if needed. */
async function lineOf(
  fixture: DemoSetup,
  at: string,
  { type, documentId }: { readonly type: string; readonly documentId: string },
  line: object,
): Promise<string> {
  const path = `${at}/${type}s(${documentId})/${type}Lines`
  const { body } = await fixture.client.request('GET', path, { query: { $top: 1 } })
  const rows = isJsonObject(body) ? body['value'] : undefined
  const id = Array.isArray(rows) ? textOf(rows[0], 'id') : undefined
  return id ?? idIn((await fixture.client.request('POST', path, { body: line })).body)
}

function idIn(body: unknown): string {
  const id = textOf(body, 'id')
  if (id === undefined) throw new TypeError('the business application answered with no id')
  return id
}
