/**
 * The bound actions of documents (business facts 9.1 and 9.2): posting, cancelling, sending, and making one
 * document from another. Each runs in one transaction.
 */

import { allRows, findRow, insertRow } from '#query/rows.ts'
import { shown } from '../amounts/decimals.ts'
import { noDate, noGuid } from '../entity.ts'
import { badValue, refuse, ruleBroken } from '../errors.ts'
import { retryEntry } from '../outbox/entries.ts'
import type { DocumentRow, LineRow } from '../tables.ts'
import * as tables from '../tables.ts'
import { dropDocument, dueDateOf, lockDocument, refuseBlocked } from '../write/documents.ts'
import {
  inLocal,
  localReduction,
  noRate,
  type OwnCurrency,
  ownCurrency,
  type Rate,
  rateOn,
} from '../write/exchange-rates.ts'
import { openLineRows } from '../write/line-rows.ts'
import { kindOf } from '../write/lines.ts'
import { postJournal, settledOf } from '../write/payments.ts'
import { lockRow, newId, spendWhole, today, updateRow, type WriteContext } from '../write/rows.ts'
import { checkTag, type Target } from '../write/tag.ts'
import { addFormula } from './date-formula.ts'
import { isPosted } from './document-status.ts'
import { nextNumber } from './numbers.ts'
import { lockLedger, Posting } from './posting.ts'
import { bookSale } from './sales-posting.ts'
import { addresseesOf, sendDocument } from './sending.ts'

/** The resulting document, to which `Location` points. */
interface ActionResult {
  readonly set: string
  readonly id: string
}

/** `mayRelease`: whether the caller may post a document that is in review. */
export async function runDocumentAction(
  context: WriteContext,
  target: Target,
  action: string,
  mayRelease: boolean,
): Promise<ActionResult> {
  const { entity, id } = target
  if (entity.table === tables.customerPaymentJournals) {
    await postJournal(context, target)
    return { set: entity.set, id }
  }
  if (entity.table === tables.outboxEntries) {
    await retryEntry(context, target)
    return { set: entity.set, id }
  }
  const row = await lockDocument(context, target)
  checkTag(target, row, false, context.conflictStatus)
  spendWhole(context, row.line_count)
  const self = { set: entity.set, id }
  if (action.startsWith('post') && row.status === 'In Review' && !mayRelease) {
    throw refuse.Authorization_RequestDenied({
      what: 'post a document that is in review',
      company: context.companyId,
      needs: 'full',
    })
  }
  switch (action) {
    case 'post':
      await post(context, row)
      return self
    case 'postAndSend':
      await addresseesOf(context, row)
      await post(context, row)
      await sendDocument(context, id)
      return self
    case 'send':
      await addresseesOf(context, row)
      await sendDocument(context, id, row.kind === 'quote' ? 'Sent' : undefined)
      return self
    case 'sendToReview':
      if (row.status !== 'Draft') throw notInState(row, 'Draft')
      await requirePostable(context, row)
      await setStatus(context, id, 'In Review')
      return self
    case 'reopen':
      if (row.status !== 'In Review') throw notInState(row, 'In Review')
      await setStatus(context, id, 'Draft')
      return self
    case 'cancel':
      await cancel(context, row)
      return self
    case 'cancelAndSend':
      await addresseesOf(context, row)
      // What undoes it is what its customer has to have.
      await sendDocument(context, await cancel(context, row))
      return self
    case 'makeCorrectiveCreditMemo':
      return { set: 'salesCreditMemos', id: await makeCorrective(context, row) }
    case 'makeInvoice':
      return { set: 'salesInvoices', id: await makeInvoice(context, row) }
    default:
      throw refuse.BadRequest_MethodNotImplemented({
        reason: `The action '${action}' leads to a kind of document that is not kept here (${kindOf(entity)}).`,
      })
  }
}

async function post(context: WriteContext, row: DocumentRow): Promise<void> {
  if (isPosted(row))
    throw ruleBroken(`The document is '${row.status}': it has been posted already.`, 'status')
  const id = row.id
  await requirePostable(context, row)
  const total = row.total_amount_including_tax
  if (total < 0) {
    const other = row.kind === 'invoice' ? 'a credit memo' : 'an invoice'
    throw ruleBroken(
      `The document comes to ${shown(total)}; what is below zero is ${other}.`,
      'totalAmountIncludingTax',
    )
  }
  const isInvoice = row.kind === 'invoice'
  const own = await ownCurrency(context)
  const applied = isInvoice ? undefined : await applyTo(context, row, own)
  const rate = applied?.rate ?? (await rateToPost(context, row, own))
  const open = total - (applied?.amount ?? 0)
  const posting = await finishPosting(context, row, {
    status: row.invoice_id === noGuid ? (open === 0 ? 'Paid' : 'Open') : 'Corrective',
    open,
    rate,
  })
  await posting.moveStock(id, isInvoice ? -1 : 1)
  const before = applied?.unapplied ?? 0
  const rest = inLocal(before + open, rate, own) - inLocal(before, rate, own)
  const local = rest + (applied?.local ?? 0)
  const sign = isInvoice ? 1 : -1
  await posting.owe(sign * total, sign * local, {
    currency_code: row.currency_code,
    applied_amount: -(applied?.amount ?? 0),
    applies_to_invoice_id: row.invoice_id,
  })
  await bookSale(context, posting, row, { sign, local, rate, own })
  await posting.finish()
}

/** The exchange rate of the document, or of the posting date; refused when the amount owed would be unknown. */
async function rateToPost(
  context: WriteContext,
  row: DocumentRow,
  own: OwnCurrency,
): Promise<Rate> {
  if (row.currency_id === noGuid || row.currency_code === own.code) return noRate
  if (row.exchange_rate_amount !== 0) return row
  const day = row.posting_date === noDate ? today(context) : row.posting_date
  const rate = await rateOn(context, row.currency_id, day)
  if (rate.exchange_rate_amount !== 0) return rate
  throw ruleBroken(
    `There is no exchange rate of ${row.currency_code} on ${day}; add one to 'currencyExchangeRates'.`,
    'currencyCode',
  )
}

/** Refuses a document without lines, or with something that cannot be posted or was blocked since it was written. */
async function requirePostable({ tx }: WriteContext, document: DocumentRow): Promise<void> {
  const { id, kind, customer_id, bill_to_customer_id } = document
  const customers = 'where id in (?, ?) order by id'
  for (const customer of await allRows(
    tx,
    tables.customers,
    customers,
    customer_id,
    bill_to_customer_id,
  ))
    refuseBlocked(customer, kind, 'customerId', true)
  const blocked = kind === 'creditMemo' ? 'blocked <> 0' : '(blocked <> 0 or sales_blocked <> 0)'
  const [item] = await tx.all(
    `select number from business_items where ${blocked} and exists (select 1 from business_lines
       where document_id = ? and item_id = business_items.id) order by number limit 1`,
    id,
  )
  if (item !== undefined) throw ruleBroken(`The item ${String(item['number'])} is blocked.`)
  const [found] = await tx.all(
    `select count(case when quantity <> 0 then 1 end) as moving,
       coalesce(min(case when line_object_number = '' then sequence end), 0) as bare
       from business_lines where document_id = ? and line_type <> 'Comment'`,
    id,
  )
  if (Number(found?.['moving']) === 0) {
    throw ruleBroken('There is nothing to post: no line has a quantity.')
  }
  const bare = Number(found?.['bare'])
  if (bare !== 0) throw ruleBroken(`The line ${bare} names no item and no account.`)
}

function notInState(row: DocumentRow, wanted: string): Error {
  return ruleBroken(
    `The document is '${row.status}'; one that is '${wanted}' was expected.`,
    'status',
  )
}

function setStatus(context: WriteContext, id: string, status: string): Promise<void> {
  return updateRow(context.tx, tables.documents, id, {
    status,
    last_modified_date_time: context.now,
  })
}

/** The posted number series, the state, and the open amount. */
async function finishPosting(
  context: WriteContext,
  row: DocumentRow,
  outcome: { readonly status: string; readonly open: number; readonly rate: Rate },
): Promise<Posting> {
  const isInvoice = row.kind === 'invoice'
  const date = row.posting_date === noDate ? today(context) : row.posting_date
  const number = await nextNumber(context, isInvoice ? 'postedInvoice' : 'postedCreditMemo')
  await lockLedger(context)
  await updateRow(context.tx, tables.documents, row.id, {
    status: outcome.status,
    number,
    posting_date: date,
    remaining_amount: isInvoice ? outcome.open : 0,
    exchange_rate_amount: outcome.rate.exchange_rate_amount,
    relational_exchange_rate_amount: outcome.rate.relational_exchange_rate_amount,
    last_modified_date_time: context.now,
    ...(isInvoice ? await discountTerms(context, row) : {}),
  })
  return new Posting(context, {
    type: isInvoice ? 'Invoice' : 'Credit Memo',
    number,
    id: row.id,
    date,
    description: row.bill_to_name,
    customer: { id: row.bill_to_customer_id, number: row.bill_to_customer_number },
  })
}

/** The early-payment discount and its last day. Posting fixes them, whatever happens to the terms. */
async function discountTerms(
  { tx }: WriteContext,
  { payment_terms_id: id, document_date: day, company_id }: DocumentRow,
): Promise<Partial<DocumentRow>> {
  if (id === noGuid) return {}
  const terms = await findRow(tx, tables.paymentTerms, { id, company_id })
  if (terms === undefined || terms.discount_percent === 0) return {}
  return {
    payment_discount_date: addFormula(day, terms.discount_date_calculation),
    payment_discount_percent: terms.discount_percent,
  }
}

/** The amount of an invoice that a credit memo closed, also in the company's currency at the invoice's rate. */
interface Applied {
  readonly amount: number
  readonly local: number
  readonly rate: Rate
  /** What earlier credit memos left over, because the invoice was paid. */
  readonly unapplied: number
}

/** A posted credit memo closes its invoice up to its amount. */
async function applyTo(
  context: WriteContext,
  memo: DocumentRow,
  own: OwnCurrency,
): Promise<Applied | undefined> {
  const { invoice_id: invoiceId, total_amount_including_tax: total } = memo
  if (invoiceId === noGuid) return undefined
  const invoice = await lockRow(context, tables.documents, { id: invoiceId })
  if (invoice === undefined) return undefined
  const unapplied = await requireCreditable(context, memo, invoice)
  const open = invoice.remaining_amount
  const applied = Math.min(total, open)
  if (applied <= 0) return { amount: 0, local: 0, rate: invoice, unapplied }
  await updateRow(context.tx, tables.documents, invoiceId, {
    remaining_amount: open - applied,
    last_modified_date_time: context.now,
    ...(open === applied ? { status: 'Paid' } : {}),
  })
  return { amount: applied, local: localReduction(invoice, applied, own), rate: invoice, unapplied }
}

/**
 * The credit memos of an invoice never exceed it, and have its customer and currency. What the earlier ones left over.
 */
async function requireCreditable(
  context: WriteContext,
  memo: DocumentRow,
  invoice: DocumentRow,
): Promise<number> {
  if (invoice.status !== 'Open' && invoice.status !== 'Paid') {
    throw ruleBroken(`The invoice is '${invoice.status}'; there is nothing to credit.`, 'invoiceId')
  }
  const isSame =
    invoice.bill_to_customer_id === memo.bill_to_customer_id &&
    invoice.currency_id === memo.currency_id
  if (!isSame) throw badValue('invoiceId', 'the invoice is of another customer or currency.')
  const { credited, discounted, unapplied } = await settledOf(context, invoice)
  const left = invoice.total_amount_including_tax - credited - discounted
  if (memo.total_amount_including_tax > left) {
    throw ruleBroken(
      `Of the invoice ${shown(left)} is left to be credited, and the memo comes to ${shown(memo.total_amount_including_tax)}.`,
      'totalAmountIncludingTax',
    )
  }
  return unapplied
}

/** A corrective document that undoes this one, posted at once; its id. */
async function cancel(context: WriteContext, row: DocumentRow): Promise<string> {
  const status = row.status
  if (!isPosted(row))
    throw ruleBroken(
      `The document is '${status}': only a posted one can be canceled; delete it.`,
      'status',
    )
  if (status === 'Canceled' || status === 'Corrective') {
    throw ruleBroken(`The document is '${status}': it cannot be canceled.`, 'status')
  }
  const isInvoice = row.kind === 'invoice'
  const total = row.total_amount_including_tax
  if (isInvoice && row.remaining_amount !== total) {
    throw ruleBroken(
      'The invoice has been paid or credited in part; make a credit memo of the rest.',
    )
  }
  const id = row.id
  const copyId = await copyDocument(context, row, isInvoice ? 'creditMemo' : 'invoice', {
    status: 'Draft',
    invoice_id: isInvoice ? id : noGuid,
    invoice_number: isInvoice ? row.number : '',
  })
  const copy = await lockRow(context, tables.documents, { id: copyId })
  if (copy === undefined) throw new Error('the corrective document is gone')
  const posting = await finishPosting(context, copy, { status: 'Corrective', open: 0, rate: row })
  await updateRow(context.tx, tables.documents, id, {
    status: 'Canceled',
    remaining_amount: 0,
    last_modified_date_time: context.now,
  })
  await posting.takeBackStock(id, isInvoice ? 1 : -1)
  const own = await ownCurrency(context)
  const local = inLocal(total, row, own)
  const sign = isInvoice ? -1 : 1
  await posting.owe(sign * total, sign * local, {
    currency_code: row.currency_code,
    applied_amount: isInvoice ? -total : 0,
    applies_to_invoice_id: isInvoice ? id : noGuid,
  })
  await bookSale(context, posting, copy, { sign, local, rate: row, own })
  await posting.finish()
  return copyId
}

async function makeCorrective(context: WriteContext, row: DocumentRow): Promise<string> {
  if (row.status !== 'Open' || row.remaining_amount !== row.total_amount_including_tax) {
    throw ruleBroken(
      "Only an invoice that is 'Open' with its full amount can be corrected.",
      'status',
    )
  }
  return await copyDocument(context, row, 'creditMemo', {
    invoice_id: row.id,
    invoice_number: row.number,
  })
}

async function makeInvoice(context: WriteContext, row: DocumentRow): Promise<string> {
  if (row.status === 'Expired') {
    throw ruleBroken("The quote is 'Expired': give it another 'validUntilDate' first.", 'status')
  }
  const id = row.id
  const day = today(context)
  const made = await copyDocument(context, row, 'invoice', {
    remaining_amount: row.total_amount_including_tax,
    due_date: await dueDateOf(context, { ...row, document_date: day }),
    ...(await rateOn(context, row.currency_id, day)),
  })
  await dropDocument(context, id)
  return made
}

function linesOf({ tx }: WriteContext, documentId: string): Promise<readonly LineRow[]> {
  return allRows(tx, tables.lines, 'where document_id = ? order by sequence', documentId)
}

/**
 * Copies a document and its lines to a draft of another kind, amounts included: the same lines have the same sums.
 */
async function copyDocument(
  context: WriteContext,
  row: DocumentRow,
  kind: 'invoice' | 'creditMemo',
  outcome: Partial<DocumentRow>,
): Promise<string> {
  const id = newId(context)
  const day = today(context)
  await insertRow(context.tx, tables.documents, {
    ...row,
    id,
    kind,
    revision: 1,
    number: await nextNumber(context, kind),
    status: 'Draft',
    document_date: day,
    posting_date: day,
    due_date: day,
    remaining_amount: 0,
    sent_date: 0,
    accepted_date: noDate,
    valid_until_date: noDate,
    invoice_id: noGuid,
    invoice_number: '',
    payment_discount_date: noDate,
    payment_discount_percent: 0,
    last_modified_date_time: context.now,
    ...outcome,
  })
  const source = row.id
  const inserter = openLineRows(context)
  for (const line of await linesOf(context, source)) {
    const isUndated = line.line_type === 'Item' && line.shipment_date === noDate
    await inserter.add({
      ...line,
      shipment_date: isUndated ? day : line.shipment_date,
      id: newId(context),
      document_id: id,
      kind,
      legacy_id: `${id}-${line.sequence}`,
      revision: 1,
    })
  }
  await inserter.flush()
  // The stored sums of a document, except whose they are.
  for (const { name, columns } of [tables.documentTaxGroups, tables.lineBlocks]) {
    const own = Object.keys(columns).filter((column) => column !== 'document_id')
    await context.tx.run(
      `insert into ${name} (document_id, ${own.join(', ')})
         select cast(? as text), ${own.join(', ')} from ${name} where document_id = ?`,
      id,
      source,
    )
  }
  // Numbered again from the copy's own first revision, as later changes do.
  await context.tx.run(
    'update business_document_tax_groups set spread = 1 where document_id = ? and spread > 0',
    id,
  )
  return id
}
