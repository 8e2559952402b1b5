/** The demo of the business application: a sample company, and the contract's calls on lines of its documents. */

import { isRecord, textOf } from '#client/answer.ts'
import type { DemoArea, DemoCall } from '../area.ts'
import type { DemoWorld } from '../world.ts'

const root = '/api/v2.0'
const companyName = 'Demo company'

export const area: DemoArea = {
  name: 'business',
  summary: 'lines of sales invoices, quotes and credit memos',
  operations: [100],
  async prepare(world) {
    const company = await companyOf(world)
    const path = `companies(${company})`
    const at = `${root}/${path}`
    await masterData(world, at)
    const itemId = await need(world, `${at}/items`, 'number', '1996-S', {
      number: '1996-S',
      displayName: 'ATLANTA Whiteboard, base',
      unitPrice: 54.9,
      baseUnitOfMeasureCode: 'PCS',
      taxGroupCode: 'FURNITURE',
    })
    const invoice = await draft(world, at, 'salesInvoices')
    const quote = await draft(world, at, 'salesQuotes')
    const memo = await draft(world, at, 'salesCreditMemos')
    world.note(`Company ${companyName} (${company}), with the item 1996-S and the customer 10000`)
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
    const first = await lineOf(world, at, 'salesInvoice', invoice, line)
    const quoted = await lineOf(world, at, 'salesQuote', quote, line)
    const returned = await lineOf(world, at, 'salesCreditMemo', memo, line)
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

async function companyOf(world: DemoWorld): Promise<string> {
  return await need(world, `${root}/companies`, 'name', companyName, { name: companyName })
}

async function masterData(world: DemoWorld, at: string): Promise<void> {
  const areaId = await need(world, `${at}/taxAreas`, 'code', 'HOME', {
    code: 'HOME',
    displayName: 'Home',
  })
  const groupId = await need(world, `${at}/taxGroups`, 'code', 'FURNITURE', {
    code: 'FURNITURE',
    displayName: 'Taxable furniture',
  })
  const rate = { taxAreaId: areaId, taxGroupId: groupId, taxPercent: 5 }
  await need(world, `${at}/taxRates`, 'taxGroupCode', 'FURNITURE', rate)
  await need(world, `${at}/unitsOfMeasure`, 'code', 'PCS', { code: 'PCS', displayName: 'Piece' })
  await need(world, `${at}/customers`, 'number', '10000', {
    number: '10000',
    displayName: 'Adatum Corporation',
    email: 'sales@example.com',
    taxLiable: true,
    taxAreaId: areaId,
  })
}

/** The row with that value, made when there is none; its id. */
async function need(
  world: DemoWorld,
  path: string,
  property: string,
  value: string,
  body: object,
): Promise<string> {
  const filter = { $filter: `${property} eq '${value}'` }
  const { body: found } = await world.client.request('GET', path, { query: filter })
  const rows = isRecord(found) ? found['value'] : undefined
  const id = Array.isArray(rows) ? textOf(rows[0], 'id') : undefined
  if (id !== undefined) return id
  return idIn((await world.client.request('POST', path, { body })).body)
}

/** An open draft of the demo's customer: one of an earlier run, or a new one. */
async function draft(world: DemoWorld, at: string, set: string): Promise<string> {
  const query = { $filter: "status eq 'Draft' and customerNumber eq '10000'", $top: 1 }
  const { body } = await world.client.request('GET', `${at}/${set}`, { query })
  const rows = isRecord(body) ? body['value'] : undefined
  const id = Array.isArray(rows) ? textOf(rows[0], 'id') : undefined
  if (id !== undefined) return id
  const made = { customerNumber: '10000' }
  return idIn((await world.client.request('POST', `${at}/${set}`, { body: made })).body)
}

/** The first line of a document, made when it has none. */
async function lineOf(
  world: DemoWorld,
  at: string,
  type: string,
  documentId: string,
  line: object,
): Promise<string> {
  const path = `${at}/${type}s(${documentId})/${type}Lines`
  const { body } = await world.client.request('GET', path, { query: { $top: 1 } })
  const rows = isRecord(body) ? body['value'] : undefined
  const id = Array.isArray(rows) ? textOf(rows[0], 'id') : undefined
  return id ?? idIn((await world.client.request('POST', path, { body: line })).body)
}

function idIn(body: unknown): string {
  const id = textOf(body, 'id')
  if (id === undefined) throw new TypeError('the business application answered with no id')
  return id
}
