/**
 * Creates, changes and removes sales documents, alone or with their lines (deep insert, business facts 10.1). What posting
 * and its siblings do stands in `documents/`.
 */

import { isJsonObject } from '#kernel/patch.ts'
import { deleteRows, findRow, insertRow } from '#query/rows.ts'
import { type CellsOf, emptyCells } from '#query/table.ts'
import { addFormula } from '../documents/date-formula.ts'
import { isPosted, linesAreOpen } from '../documents/document-status.ts'
import { nextNumber } from '../documents/numbers.ts'
import { type Entity, type Model, noDate, noGuid } from '../entity.ts'
import { badValue, refuse, ruleBroken } from '../errors.ts'
import { JsonList } from '../odata/large-json.ts'
import { odataLimits } from '../odata/limits.ts'
import type { DocumentRow } from '../tables.ts'
import * as tables from '../tables.ts'
import { ownCurrency, rateOn } from './exchange-rates.ts'
import { Ledger } from './ledger.ts'
import { addLine, closeDocument, kindOf, openDocument } from './lines.ts'
import { createLookups, type Lookups, reference } from './lookups.ts'
import { applyQuoteState } from './quote-state.ts'
import { inCurrencyOf, pricingColumns, repriceLines } from './reprice.ts'
import {
  changedCells,
  lockRow,
  newId,
  spendWhole,
  today,
  updateRow,
  type WriteContext,
} from './rows.ts'
import { checkTag, type Target } from './tag.ts'
import { type Body, type GivenFields, readBody } from './values.ts'

const emptyDocument: DocumentRow = Object.freeze(emptyCells(tables.documents))

/** A document that is being created or changed. */
type DocumentDraft = { -readonly [K in keyof DocumentRow]: DocumentRow[K] }

export async function createDocument(
  context: WriteContext,
  model: Model,
  entity: Entity,
  body: Body,
): Promise<string> {
  const lineSet = linesOf(entity)
  const given = readBody(entity, context.version, body, [lineSet])
  const kind = kindOf(entity)
  const wanted = reference('id', 'id', given.get('id')?.value)?.value
  const id = wanted ?? newId(context)
  if (wanted !== undefined && (await findRow(context.tx, tables.documents, { id }))) {
    throw refuse.Internal_EntityWithSameKeyExists(
      { property: 'id', type: entity.type, value: id },
      { target: 'id' },
    )
  }
  const draft: DocumentDraft = {
    ...emptyDocument,
    id,
    company_id: context.companyId,
    kind,
    status: 'Draft',
    revision: 1,
    last_modified_date_time: context.now,
  }
  await applyGiven(context, draft, given, createLookups(context))
  for (const column of ['document_date', 'posting_date'] as const) {
    if (draft[column] === noDate) draft[column] = today(context)
  }
  if (draft.due_date === noDate) draft.due_date = await dueDateOf(context, draft)
  Object.assign(draft, await rateOn(context, draft.currency_id, draft.document_date))
  draft.number = await nextNumber(
    context,
    kind === 'quote' ? 'quote' : kind === 'invoice' ? 'invoice' : 'creditMemo',
  )
  await insertRow(context.tx, tables.documents, draft)
  const nested = body[lineSet]
  const discount = given.get('discountAmount')?.value
  if (nested !== undefined || discount) {
    const document = openDocument(context, draft)
    const lines = lineEntity(model, entity, context)
    for (const line of nestedLines(nested, lineSet, context)) {
      if (!isJsonObject(line)) throw badValue(lineSet, 'a list of objects was expected.')
      await addLine(context, document, readBody(lines, context.version, line), undefined)
    }
    if (typeof discount === 'number' && discount !== 0) document.ledger.setDiscount(discount)
    await closeDocument(document)
  }
  return id
}

/** A transaction of the embedded store blocks all others while it runs. */
function nestedLines(value: unknown, name: string, { nested }: WriteContext): Iterable<unknown> {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value) && !(value instanceof JsonList))
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

/** Only these may change after posting (business facts 7). */
const openAfterPosting: ReadonlySet<string> = new Set(['dueDate'])

/** Returns the row as it was. */
export async function changeDocument(
  context: WriteContext,
  target: Target,
  body: Body,
): Promise<DocumentRow> {
  const { entity, id } = target
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
  const row = await lockDocument(context, target)
  checkTag(target, row, true, context.conflictStatus)
  if (given.has('id') && given.get('id')?.value !== id)
    throw ruleBroken("'id' cannot be changed.", 'id')
  const draft: DocumentDraft = { ...row }
  const lookups = createLookups(context)
  await applyGiven(context, draft, given, lookups)
  const hasOtherTerms =
    draft.document_date !== row.document_date || draft.payment_terms_id !== row.payment_terms_id
  if (hasOtherTerms && !given.has('dueDate')) draft.due_date = await dueDateOf(context, draft)
  const isInOther = draft.currency_id !== row.currency_id
  if ((isInOther || draft.document_date !== row.document_date) && !isPosted(row))
    Object.assign(draft, await rateOn(context, draft.currency_id, draft.document_date))
  const discount = given.get('discountAmount')?.value
  const requested =
    typeof discount === 'number' ? discount : inCurrencyOf(draft, row.discount_amount, row)
  const isDiscounted = requested !== row.discount_amount
  const changed = changedCells(row, draft)
  if (Object.keys(changed).length === 0 && !isDiscounted) return row
  if (!linesAreOpen(row, 'Item')) {
    const fixed = [...given.values()].find(
      ({ field }) => Object.hasOwn(changed, field.column) && !openAfterPosting.has(field.name),
    )
    if (fixed !== undefined || isDiscounted) {
      throw ruleBroken(
        `The document is '${row.status}': of a posted one only ${[...openAfterPosting].join(', ')} may be changed.`,
        fixed?.field.name ?? 'discountAmount',
      )
    }
    // Not the precision that its currency has by now.
    const { due_date } = draft
    await updateRow(context.tx, tables.documents, id, {
      due_date,
      last_modified_date_time: context.now,
    })
    return row
  }
  const isReckoned = pricingColumns.some((column) => changed[column] !== undefined)
  if (isReckoned || isDiscounted) spendWhole(context, row.line_count)
  if (isReckoned) await repriceLines(context, { before: row, after: draft }, lookups)
  const ledger = new Ledger(context, draft)
  if (isReckoned) ledger.recomputeAll()
  if (typeof discount === 'number' && isDiscounted) ledger.setDiscount(requested)
  else if (isDiscounted) ledger.exchangeDiscount(requested)
  await ledger.finish(changed)
  return row
}

export async function removeDocument(context: WriteContext, target: Target): Promise<void> {
  const row = await lockDocument(context, target)
  checkTag(target, row, false, context.conflictStatus)
  if (isPosted(row)) {
    throw ruleBroken(
      `The document is '${row.status}': a posted one is kept; cancel it instead.`,
      'status',
    )
  }
  if (row.status === 'In Review') {
    throw ruleBroken("The document is 'In Review': reopen it before it is deleted.", 'status')
  }
  spendWhole(context, row.line_count)
  await dropDocument(context, row.id)
}

export async function dropDocument({ tx }: WriteContext, id: string): Promise<void> {
  await deleteRows(tx, tables.lines, { document_id: id })
  await deleteRows(tx, tables.documentTaxGroups, { document_id: id })
  await deleteRows(tx, tables.lineBlocks, { document_id: id })
  await deleteRows(tx, tables.documents, { id })
}

export async function lockDocument(
  context: WriteContext,
  { entity, id }: Target,
): Promise<DocumentRow> {
  const cells = { id, company_id: context.companyId, kind: kindOf(entity) }
  const row = await lockRow(context, tables.documents, cells)
  if (row !== undefined) return row
  throw refuse.BadRequest_ResourceNotFound({ type: entity.type, key: `the id '${id}'` })
}

/** The `draft` of a new document has no customer yet. */
async function applyGiven(
  context: WriteContext,
  draft: DocumentDraft,
  given: GivenFields,
  lookups: Lookups,
): Promise<void> {
  const isNew = draft.customer_id === noGuid
  await applyCustomer(draft, given, lookups)
  for (const { field, value } of given.values()) {
    if (typeof value === 'object' || handled.has(field.name)) continue
    Object.assign(draft, { [field.column]: value })
  }
  applyQuoteState(context, draft, given, isNew)
  await applyCurrency(context, draft, given, lookups)
  await applyInvoice(draft, given, lookups)
  for (const [property, table, type] of termSets) {
    const by = reference(property, 'id', given.get(property)?.value)
    if (by !== undefined) await lookups.need(table, type, by)
  }
}

const termSets = [
  ['paymentTermsId', tables.paymentTerms, 'payment term'],
  ['shipmentMethodId', tables.shipmentMethods, 'shipment method'],
] as const

/**
 * The document's date, moved by its payment terms. Customers of earlier versions may have terms that do not exist.
 */
export async function dueDateOf(
  { tx }: WriteContext,
  draft: Pick<DocumentRow, 'document_date' | 'company_id' | 'payment_terms_id'>,
): Promise<string> {
  const { document_date: day, company_id, payment_terms_id: id } = draft
  const terms =
    id === noGuid ? undefined : await findRow(tx, tables.paymentTerms, { id, company_id })
  return addFormula(day, terms?.due_date_calculation ?? '')
}

/** Fields that affect other fields. */
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
  'acceptedDate',
  'status',
])

async function applyCustomer(
  draft: DocumentDraft,
  given: GivenFields,
  lookups: Lookups,
): Promise<void> {
  const before = draft.customer_id
  const customer = await lookups.agree(tables.customers, 'customer', [
    reference('customerId', 'id', given.get('customerId')?.value),
    reference('customerNumber', 'number', given.get('customerNumber')?.value),
  ])
  if (customer === undefined && before === noGuid) {
    throw refuse.BadRequest_RequiredParamNotProvided(
      { name: 'customerId', reason: 'a document is for a customer; give its id or its number.' },
      { target: 'customerId' },
    )
  }
  const billTo = await lookups.agree(tables.customers, 'customer', [
    reference('billToCustomerId', 'id', given.get('billToCustomerId')?.value),
    reference('billToCustomerNumber', 'number', given.get('billToCustomerNumber')?.value),
  ])
  if (customer !== undefined && customer.id !== before) {
    refuseBlocked(customer, draft.kind, 'customerId')
    sellTo(draft, customer)
  }
  // The customer pays, unless the same request names another payer.
  const billed = billTo ?? (customer?.id === before ? undefined : customer)
  if (billed === undefined) return
  if (billed.id !== draft.bill_to_customer_id) refuseBlocked(billed, draft.kind, 'billToCustomerId')
  draft.bill_to_customer_id = billed.id
  draft.bill_to_customer_number = billed.number
  draft.bill_to_name = billed.display_name
  draft.bill_to_address_line_1 = billed.address_line_1
  draft.bill_to_address_line_2 = billed.address_line_2
  draft.bill_to_city = billed.city
  draft.bill_to_country = billed.country
  draft.bill_to_state = billed.state
  draft.bill_to_post_code = billed.postal_code
}

/** `Invoice` blocks what is sold, `Ship` what posting an invoice delivers, and `All` everything. */
export function refuseBlocked(
  { number, blocked }: Pick<CellsOf<typeof tables.customers>, 'number' | 'blocked'>,
  kind: string,
  property: string,
  isPosting = false,
): void {
  const isSale = kind !== 'creditMemo'
  const isBlocked = blocked === 'Invoice' || (blocked === 'Ship' && isPosting)
  if (blocked === 'All' || (isSale && isBlocked))
    throw badValue(property, `the customer ${number} is blocked.`)
}

function sellTo(draft: DocumentDraft, customer: CellsOf<typeof tables.customers>): void {
  draft.customer_id = customer.id
  draft.customer_number = customer.number
  draft.customer_name = customer.display_name
  draft.sell_to_address_line_1 = customer.address_line_1
  draft.sell_to_address_line_2 = customer.address_line_2
  draft.sell_to_city = customer.city
  draft.sell_to_country = customer.country
  draft.sell_to_state = customer.state
  draft.sell_to_post_code = customer.postal_code
  draft.ship_to_name = customer.display_name
  draft.phone_number = customer.phone_number
  draft.email = customer.email
  draft.payment_terms_id = customer.payment_terms_id
  draft.shipment_method_id = customer.shipment_method_id
  draft.salesperson = customer.salesperson_code
  draft.currency_id = customer.currency_id
  draft.currency_code = customer.currency_code
  draft.tax_liable = customer.tax_liable
  draft.tax_area_id = customer.tax_area_id
  draft.prices_include_tax = customer.prices_include_tax
  draft.discount_applied_before_tax = customer.prices_include_tax === 0 ? 1 : 0
}

/** The local currency has no id; its code is the company's (business facts 14). */
async function applyCurrency(
  context: WriteContext,
  draft: DocumentDraft,
  given: GivenFields,
  lookups: Lookups,
): Promise<void> {
  const code = given.get('currencyCode')?.value
  const own = await ownCurrency(context)
  const local = own.code
  const isLocal = typeof code === 'string' && (code === '' || code.toUpperCase() === local)
  const currency = await lookups.agree(tables.currencies, 'currency', [
    reference('currencyId', 'id', given.get('currencyId')?.value),
    isLocal
      ? undefined
      : reference('currencyCode', 'code', typeof code === 'string' ? code.toUpperCase() : code),
  ])
  if (currency !== undefined) {
    draft.currency_id = currency.id
    draft.currency_code = currency.code
  } else if (isLocal) {
    draft.currency_id = noGuid
    draft.currency_code = local
  }
  if (draft.currency_code === '') draft.currency_code = local
  const id = draft.currency_id
  const by = { property: 'currencyId', column: 'id', value: id }
  const row = id === noGuid ? undefined : await lookups.need(tables.currencies, 'currency', by)
  draft.amount_precision = row === undefined ? own.unit : row.amount_rounding_precision
}

/** The posted invoice that a credit memo refers to. */
async function applyInvoice(
  draft: DocumentDraft,
  given: GivenFields,
  lookups: Lookups,
): Promise<void> {
  const invoice = await lookups.agree(tables.documents, 'invoice', [
    reference('invoiceId', 'id', given.get('invoiceId')?.value),
    reference('invoiceNumber', 'number', given.get('invoiceNumber')?.value),
  ])
  if (invoice === undefined) return
  if (invoice.kind !== 'invoice' || !isPosted(invoice)) {
    throw badValue('invoiceId', 'a posted invoice was expected.')
  }
  if (invoice.customer_id !== draft.customer_id) {
    throw badValue('invoiceId', 'the invoice is of another customer.')
  }
  draft.invoice_id = invoice.id
  draft.invoice_number = invoice.number
}
