/**
 * Creates, changes and removes sales documents, alone or with their lines (deep insert, business facts 10.1). What posting
 * and its siblings do stands in `documents/`.
 */

import { isJsonObject } from '#kernel/patch.ts'
import type { SqlRow, SqlValue } from '#stores/store.ts'
import { isPosted, linesAreOpen } from '../documents/life.ts'
import { nextNumber } from '../documents/numbers.ts'
import { type Entity, type Model, noDate, noGuid } from '../entity.ts'
import { badValue, refuse, ruleBroken } from '../errors.ts'
import { odataLimits } from '../odata/limits.ts'
import { openLedger, termsOf } from './ledger.ts'
import { applyAmounts } from './line-figures.ts'
import type { LineDraft } from './line-object.ts'
import { addLine, closeDocument, factsOf, kindOf, openDocument } from './lines.ts'
import { createLookups, type Lookups, reference } from './lookups.ts'
import {
  deleteRow,
  findRow,
  flagOf,
  insertRow,
  lockRow,
  newId,
  numberOf,
  textOf,
  today,
  updateRow,
  type WriteContext,
} from './rows.ts'
import { checkTag } from './tag.ts'
import { type Body, emptyValue, type GivenFields, readBody } from './values.ts'

/** Cents, where neither the document's currency nor the company says otherwise. */
const defaultPrecision = 1_000

export async function createDocument(
  context: WriteContext,
  model: Model,
  entity: Entity,
  body: Body,
): Promise<string> {
  const lineSet = linesOf(entity)
  const given = readBody(entity, context.version, body, [lineSet])
  const kind = kindOf(entity)
  const cells: Record<string, SqlValue> = {}
  for (const field of entity.fields) {
    if (field.join === undefined && field.column !== '') cells[field.column] = emptyValue(field)
  }
  const wanted = reference('id', 'id', given.get('id')?.value)?.value
  const id = wanted ?? newId(context)
  if (wanted !== undefined && (await findRow(context.tx, 'business_documents', { id }))) {
    throw refuse.Internal_EntityWithSameKeyExists(
      { property: 'id', type: entity.type, value: id },
      { target: 'id' },
    )
  }
  const lookups = createLookups(context)
  await applyCustomer(cells, given, lookups, true)
  applyPlain(cells, given)
  await applyCurrency(context, cells, given, lookups)
  await applyInvoice(cells, given, lookups)
  const day = today(context)
  for (const column of ['document_date', 'posting_date', 'due_date']) {
    if (cells[column] === undefined || cells[column] === noDate) cells[column] = day
  }
  const number = await nextNumber(
    context,
    kind === 'quote' ? 'quote' : kind === 'invoice' ? 'invoice' : 'creditMemo',
  )
  const row: SqlRow = {
    ...cells,
    id,
    company_id: context.companyId,
    kind,
    number,
    status: 'Draft',
    revision: 1,
    line_count: 0,
    discount_base: 0,
    discount_amount: 0,
    last_modified_date_time: context.now,
  }
  await insertRow(context.tx, 'business_documents', row)
  const nested = body[lineSet]
  const discount = given.get('discountAmount')?.value
  if (nested !== undefined || discount) {
    const document = openDocument(context, row)
    const lines = lineEntity(model, entity, context)
    for (const line of nestedLines(nested, lineSet, context)) {
      await addLine(context, document, readBody(lines, context.version, line), undefined)
    }
    if (typeof discount === 'number' && discount !== 0) document.ledger.setDiscount(discount)
    await closeDocument(document)
  }
  return id
}

/** A transaction of the embedded store holds up everything else for as long as it runs. */
function nestedLines(value: unknown, name: string, { nested }: WriteContext): readonly Body[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value) || !value.every(isJsonObject))
    throw badValue(name, 'a list of objects was expected.')
  const left = nested?.lines ?? odataLimits.nestedLinesMax
  if (value.length > left) {
    throw badValue(
      name,
      `at most ${odataLimits.nestedLinesMax} lines come with their documents, in one request or in one change set; add the others afterwards.`,
    )
  }
  if (nested !== undefined) nested.lines -= value.length
  return value
}

function lineEntity(model: Model, entity: Entity, context: WriteContext): Entity {
  const lines = model.find(linesOf(entity), context.version)
  if (lines === undefined) throw new Error(`${entity.set} has no lines`)
  return lines
}

function linesOf(entity: Entity): string {
  return `${entity.type}Lines`
}

/** After posting only these may still be changed (business facts 7). */
const openAfterPosting: ReadonlySet<string> = new Set(['dueDate'])

export async function changeDocument(
  context: WriteContext,
  entity: Entity,
  id: string,
  body: Body,
  ifMatch: string | undefined,
): Promise<void> {
  const lineSet = linesOf(entity)
  if (Object.hasOwn(body, lineSet)) {
    throw refuse.BadRequest_InvalidOperation(
      {
        reason: `'${lineSet}' cannot be changed with their document; change each line, or send a batch.`,
      },
      { target: lineSet },
    )
  }
  const given = readBody(entity, context.version, body)
  const row = await lockDocument(context, entity, id)
  checkTag(entity, row, ifMatch, true, context.conflictStatus)
  const cells: Record<string, SqlValue> = {}
  for (const field of entity.fields) {
    if (field.join === undefined && field.column !== '' && row[field.column] !== undefined) {
      cells[field.column] = row[field.column] ?? ''
    }
  }
  for (const column of ['tax_liable', 'tax_area_id', 'amount_precision', 'prices_include_tax']) {
    cells[column] = row[column] ?? 0
  }
  if (given.has('id') && given.get('id')?.value !== id)
    throw ruleBroken("'id' cannot be changed.", 'id')
  const lookups = createLookups(context)
  await applyCustomer(cells, given, lookups, false)
  applyPlain(cells, given)
  await applyCurrency(context, cells, given, lookups)
  await applyInvoice(cells, given, lookups)
  const asked = given.get('discountAmount')?.value
  const isDiscounted = typeof asked === 'number' && asked !== row['discount_amount']
  delete cells['discount_amount']
  const changed = Object.fromEntries(
    Object.entries(cells).filter(([column, cell]) => row[column] !== cell),
  )
  if (Object.keys(changed).length === 0 && !isDiscounted) return
  if (!linesAreOpen(row, 'Item')) {
    const fixed = [...given.values()].find(
      ({ field }) => changed[field.column] !== undefined && !openAfterPosting.has(field.name),
    )
    if (fixed !== undefined || isDiscounted) {
      throw ruleBroken(
        `The document is '${textOf(row, 'status')}': of a posted one only ${[...openAfterPosting].join(', ')} may be changed.`,
        fixed?.field.name ?? 'discountAmount',
      )
    }
    await updateRow(context.tx, 'business_documents', id, {
      ...changed,
      last_modified_date_time: context.now,
    })
    return
  }
  const after: SqlRow = { ...row, ...changed }
  const decisive = ['tax_liable', 'tax_area_id', 'amount_precision', 'prices_include_tax']
  const isReckoned = decisive.some((column) => changed[column] !== undefined)
  if (isReckoned) await reckonLines(context, after, lookups)
  const ledger = openLedger(context, after)
  if (isReckoned) ledger.recomputeAll()
  if (isDiscounted) ledger.setDiscount(asked)
  await ledger.finish(plainCells(changed))
}

function plainCells(
  cells: Readonly<Record<string, SqlValue>>,
): Readonly<Record<string, string | number>> {
  const plain: Record<string, string | number> = {}
  for (const [column, cell] of Object.entries(cells)) {
    if (typeof cell === 'string' || typeof cell === 'number') plain[column] = cell
  }
  return plain
}

/** The taxes or the rounding of a document changed: each line's own amounts anew; sums are the ledger's. */
async function reckonLines(
  context: WriteContext,
  document: SqlRow,
  lookups: Lookups,
): Promise<void> {
  const facts = factsOf(document)
  const area = facts.taxLiable ? facts.taxAreaId : noGuid
  const rows = await context.tx.all(
    "select * from business_lines where document_id = ? and line_type <> 'Comment'",
    textOf(document, 'id'),
  )
  for (const row of rows) {
    const draft: LineDraft = { ...row }
    draft['tax_percent'] = await lookups.taxPercent(area, textOf(row, 'tax_code'))
    applyAmounts(draft, termsOf(document))
    await updateRow(context.tx, 'business_lines', textOf(row, 'id'), {
      tax_percent: draft['tax_percent'],
      tax_key: `${row['tax_code']}|${draft['tax_percent']}`,
      line_amount: draft['line_amount'] ?? 0,
      amount_excluding_tax: draft['amount_excluding_tax'] ?? 0,
      total_tax_amount: draft['total_tax_amount'] ?? 0,
      amount_including_tax: draft['amount_including_tax'] ?? 0,
    })
  }
}

export async function removeDocument(
  context: WriteContext,
  entity: Entity,
  id: string,
  ifMatch: string | undefined,
): Promise<void> {
  const row = await lockDocument(context, entity, id)
  checkTag(entity, row, ifMatch, false, context.conflictStatus)
  if (isPosted(row)) {
    throw ruleBroken(
      `The document is '${textOf(row, 'status')}': a posted one is kept; cancel it instead.`,
      'status',
    )
  }
  if (row['status'] === 'In Review') {
    throw ruleBroken("The document is 'In Review': reopen it before it is deleted.", 'status')
  }
  await dropDocument(context, id)
}

export async function dropDocument(context: WriteContext, id: string): Promise<void> {
  await context.tx.run('delete from business_lines where document_id = ?', id)
  await context.tx.run('delete from business_document_tax_groups where document_id = ?', id)
  await context.tx.run('delete from business_line_blocks where document_id = ?', id)
  await deleteRow(context.tx, 'business_documents', id)
}

export async function lockDocument(
  context: WriteContext,
  entity: Entity,
  id: string,
): Promise<SqlRow> {
  const cells = { id, company_id: context.companyId, kind: kindOf(entity) }
  const row = await lockRow(context, 'business_documents', cells)
  if (row !== undefined) return row
  throw refuse.BadRequest_ResourceNotFound({ type: entity.type, key: `the id '${id}'` })
}

/** Fields that mean nothing beyond themselves. */
function applyPlain(cells: Record<string, SqlValue>, given: GivenFields): void {
  for (const { field, value } of given.values()) {
    if (value instanceof Map || typeof value === 'object') continue
    if (handled.has(field.name)) continue
    cells[field.column] = value
  }
}

const handled: ReadonlySet<string> = new Set([
  'id',
  'customerId',
  'customerNumber',
  'billToCustomerId',
  'billToCustomerNumber',
  'currencyId',
  'currencyCode',
  'discountAmount',
  'invoiceId',
  'invoiceNumber',
])

async function applyCustomer(
  cells: Record<string, SqlValue>,
  given: GivenFields,
  lookups: Lookups,
  isNew: boolean,
): Promise<void> {
  const customer = await lookups.agree('business_customers', 'customer', [
    reference('customerId', 'id', given.get('customerId')?.value),
    reference('customerNumber', 'number', given.get('customerNumber')?.value),
  ])
  if (customer === undefined && isNew) {
    throw refuse.BadRequest_RequiredParamNotProvided(
      { name: 'customerId', reason: 'a document is for a customer; give its id or its number.' },
      { target: 'customerId' },
    )
  }
  const billTo = await lookups.agree('business_customers', 'customer', [
    reference('billToCustomerId', 'id', given.get('billToCustomerId')?.value),
    reference('billToCustomerNumber', 'number', given.get('billToCustomerNumber')?.value),
  ])
  if (customer !== undefined && customer['id'] !== cells['customer_id']) {
    if (textOf(customer, 'blocked') === 'All' || textOf(customer, 'blocked') === 'Invoice') {
      throw badValue('customerId', `the customer ${textOf(customer, 'number')} is blocked.`)
    }
    const name = textOf(customer, 'display_name')
    Object.assign(cells, {
      customer_id: textOf(customer, 'id'),
      customer_number: textOf(customer, 'number'),
      customer_name: name,
      sell_to_address_line_1: textOf(customer, 'address_line_1'),
      sell_to_address_line_2: textOf(customer, 'address_line_2'),
      sell_to_city: textOf(customer, 'city'),
      sell_to_country: textOf(customer, 'country'),
      sell_to_state: textOf(customer, 'state'),
      sell_to_post_code: textOf(customer, 'postal_code'),
      ship_to_name: name,
      phone_number: textOf(customer, 'phone_number'),
      email: textOf(customer, 'email'),
      payment_terms_id: textOf(customer, 'payment_terms_id'),
      shipment_method_id: textOf(customer, 'shipment_method_id'),
      salesperson: textOf(customer, 'salesperson_code'),
      currency_id: textOf(customer, 'currency_id'),
      currency_code: textOf(customer, 'currency_code'),
      tax_liable: numberOf(customer, 'tax_liable'),
      tax_area_id: textOf(customer, 'tax_area_id'),
      prices_include_tax: numberOf(customer, 'prices_include_tax'),
      discount_applied_before_tax: flagOf(customer, 'prices_include_tax') ? 0 : 1,
    })
    await setPrecision(cells, lookups)
  }
  const billed = billTo ?? (customer !== undefined && isNew ? customer : undefined)
  if (billed !== undefined) {
    Object.assign(cells, {
      bill_to_customer_id: textOf(billed, 'id'),
      bill_to_customer_number: textOf(billed, 'number'),
      bill_to_name: textOf(billed, 'display_name'),
      bill_to_address_line_1: textOf(billed, 'address_line_1'),
      bill_to_address_line_2: textOf(billed, 'address_line_2'),
      bill_to_city: textOf(billed, 'city'),
      bill_to_country: textOf(billed, 'country'),
      bill_to_state: textOf(billed, 'state'),
      bill_to_post_code: textOf(billed, 'postal_code'),
    })
  }
}

/** The local currency has no id, and its code is the company's (business facts 14). */
async function applyCurrency(
  context: WriteContext,
  cells: Record<string, SqlValue>,
  given: GivenFields,
  lookups: Lookups,
): Promise<void> {
  const code = given.get('currencyCode')?.value
  const local = await localCurrency(context)
  const isLocal = typeof code === 'string' && (code === '' || code.toUpperCase() === local)
  const currency = await lookups.agree('business_currencies', 'currency', [
    reference('currencyId', 'id', given.get('currencyId')?.value),
    isLocal
      ? undefined
      : reference('currencyCode', 'code', typeof code === 'string' ? code.toUpperCase() : code),
  ])
  if (currency !== undefined) {
    cells['currency_id'] = textOf(currency, 'id')
    cells['currency_code'] = textOf(currency, 'code')
  } else if (isLocal) {
    cells['currency_id'] = noGuid
    cells['currency_code'] = local
  }
  if (cells['currency_code'] === '') cells['currency_code'] = local
  await setPrecision(cells, lookups)
}

async function setPrecision(cells: Record<string, SqlValue>, lookups: Lookups): Promise<void> {
  const id = String(cells['currency_id'])
  let precision = defaultPrecision
  if (id !== noGuid) {
    const row = await lookups.need('business_currencies', 'currency', {
      property: 'currencyId',
      column: 'id',
      value: id,
    })
    precision = numberOf(row, 'amount_rounding_precision')
  }
  cells['amount_precision'] = precision
}

async function localCurrency(context: WriteContext): Promise<string> {
  const company = await findRow(context.tx, 'business_companies', { id: context.companyId })
  return company === undefined ? '' : textOf(company, 'local_currency_code')
}

/** The posted invoice a credit memo is about. */
async function applyInvoice(
  cells: Record<string, SqlValue>,
  given: GivenFields,
  lookups: Lookups,
): Promise<void> {
  const invoice = await lookups.agree('business_documents', 'invoice', [
    reference('invoiceId', 'id', given.get('invoiceId')?.value),
    reference('invoiceNumber', 'number', given.get('invoiceNumber')?.value),
  ])
  if (invoice === undefined) return
  if (invoice['kind'] !== 'invoice' || !isPosted(invoice)) {
    throw badValue('invoiceId', 'a posted invoice was expected.')
  }
  if (invoice['customer_id'] !== cells['customer_id']) {
    throw badValue('invoiceId', 'the invoice is of another customer.')
  }
  cells['invoice_id'] = textOf(invoice, 'id')
  cells['invoice_number'] = textOf(invoice, 'number')
}
