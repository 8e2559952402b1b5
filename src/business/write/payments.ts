/**
 * A payment of a customer, booked at once: it lowers what the customer owes and, where it names an invoice, what is
 * open of it; an invoice of which nothing is open is Paid. A negative one takes back what was paid before. Its amount is in
 * the currency of its invoice; without an invoice in the company's own.
 */

import { findRow, insertRow } from '#query/rows.ts'
import { shown } from '../amounts/decimals.ts'
import { roundTo } from '../amounts/units.ts'
import { nextNumber } from '../documents/numbers.ts'
import { lockLedger, Posting } from '../documents/posting.ts'
import { type Entity, noDate, noGuid } from '../entity.ts'
import { badValue, refuse, ruleBroken } from '../errors.ts'
import type { DocumentRow } from '../tables.ts'
import * as tables from '../tables.ts'
import { inLocal, noRate, rateOn, takenOff } from './exchange-rates.ts'
import { createLookups, reference } from './lookups.ts'
import { lockRow, newId, today, updateRow, type WriteContext } from './rows.ts'
import { type Body, type GivenFields, readBody } from './values.ts'

export async function createPayment(
  context: WriteContext,
  entity: Entity,
  body: Body,
): Promise<string> {
  const given = readBody(entity, context.version, body)
  const amount = Number(given.get('amount')?.value ?? 0)
  if (amount === 0) {
    throw refuse.BadRequest_RequiredParamNotProvided(
      { name: 'amount', reason: 'it is what was paid; negative when it went back.' },
      { target: 'amount' },
    )
  }
  const lookups = createLookups(context)
  const named = await lookups.agree(tables.documents, 'invoice', [
    reference('appliesToInvoiceId', 'id', given.get('appliesToInvoiceId')?.value),
    reference('appliesToInvoiceNumber', 'number', given.get('appliesToInvoiceNumber')?.value),
  ])
  const asked = await lookups.agree(tables.customers, 'customer', [
    reference('customerId', 'id', given.get('customerId')?.value),
    reference('customerNumber', 'number', given.get('customerNumber')?.value),
  ])
  const payerId = named === undefined ? undefined : named.bill_to_customer_id
  if (asked !== undefined && payerId !== undefined && asked.id !== payerId) {
    throw badValue('customerId', 'the invoice is another customer’s to pay.')
  }
  const customerId = asked === undefined ? payerId : asked.id
  const customer =
    customerId === undefined
      ? undefined
      : await findRow(context.tx, tables.customers, { id: customerId })
  if (customerId === undefined || customer === undefined) {
    throw refuse.BadRequest_RequiredParamNotProvided(
      { name: 'customerId', reason: 'a payment is a customer’s; name one, or an invoice.' },
      { target: 'customerId' },
    )
  }
  const id = reference('id', 'id', given.get('id')?.value)?.value ?? newId(context)
  if ((await findRow(context.tx, tables.customerPayments, { id })) !== undefined) {
    throw refuse.Internal_EntityWithSameKeyExists(
      { property: 'id', type: entity.type, value: id },
      { target: 'id' },
    )
  }
  const invoice = named === undefined ? undefined : await apply(context, named, amount)
  const number = await nextNumber(context, 'payment')
  const day = dateGiven(given, context)
  await lockLedger(context)
  const posting = new Posting(context, {
    type: 'Payment',
    number,
    id,
    date: day,
    description: textGiven(given, 'description') || customer.display_name,
    customer: { id: customerId, number: customer.number },
  })
  await book(context, posting, invoice, { amount, day })
  await posting.finish()
  await insertRow(context.tx, tables.customerPayments, {
    id,
    company_id: context.companyId,
    revision: 1,
    document_number: number,
    customer_id: customerId,
    customer_number: customer.number,
    posting_date: day,
    external_document_number: textGiven(given, 'externalDocumentNumber'),
    amount,
    applies_to_invoice_id: invoice === undefined ? noGuid : invoice.id,
    applies_to_invoice_number: invoice === undefined ? '' : invoice.number,
    description: textGiven(given, 'description') || customer.display_name,
    comment: textGiven(given, 'comment'),
    last_modified_date_time: context.now,
  })
  return id
}

/**
 * What came into the bank, at the rate of its day, against what the customer no longer owes, at the rate of the invoice;
 * what lies between is a gain or a loss.
 */
async function book(
  context: WriteContext,
  posting: Posting,
  invoice: DocumentRow | undefined,
  { amount, day }: { readonly amount: number; readonly day: string },
): Promise<void> {
  const paid = invoice === undefined ? amount : takenOff(invoice, amount)
  const received = invoice === undefined ? amount : await worthOn(context, invoice, amount, day)
  await posting.bookAs('Bank', received)
  const about = {
    currency_code: invoice === undefined ? '' : invoice.currency_code,
    applies_to_invoice_id: invoice === undefined ? noGuid : invoice.id,
  }
  const applied_amount = invoice === undefined ? 0 : -amount
  await posting.owe(-amount, -received, { ...about, applied_amount })
  const gain = received - paid
  if (gain === 0) return
  await posting.owe(0, gain, {
    ...about,
    description: gain > 0 ? 'Exchange gain' : 'Exchange loss',
  })
  await posting.bookAs(gain > 0 ? 'Exchange Gains' : 'Exchange Losses', -gain)
}

/** At the rate of the invoice, where the day has no other: then the parts of an invoice leave no cent. */
async function worthOn(
  context: WriteContext,
  invoice: DocumentRow,
  amount: number,
  day: string,
): Promise<number> {
  const booked = invoice.exchange_rate_amount
  const rate = booked === 0 ? noRate : await rateOn(context, invoice.currency_id, day)
  const isSame =
    rate.exchange_rate_amount === 0 ||
    (rate.exchange_rate_amount === booked &&
      rate.relational_exchange_rate_amount === invoice.relational_exchange_rate_amount)
  return isSame ? takenOff(invoice, amount) : inLocal(amount, rate)
}

/** Moves what is open of the invoice; the invoice as it was. */
async function apply(
  context: WriteContext,
  named: DocumentRow,
  amount: number,
): Promise<DocumentRow> {
  const id = named.id
  const invoice = await lockRow(context, tables.documents, { id })
  if (invoice === undefined || invoice.kind !== 'invoice') {
    throw badValue('appliesToInvoiceId', 'an invoice was expected.')
  }
  const status = invoice.status
  if (status !== 'Open' && status !== 'Paid') {
    throw ruleBroken(
      `The invoice is '${status}'; one that is 'Open' can be paid.`,
      'appliesToInvoiceId',
    )
  }
  const unit = invoice.amount_precision
  if (roundTo(amount, unit) !== amount) {
    throw badValue('amount', `a multiple of ${shown(unit)} was expected, as its currency has it.`)
  }
  const open = invoice.remaining_amount
  const paid = await paidOf(context, id)
  if (amount > Math.max(open, 0) || -amount > paid) {
    throw badValue(
      'amount',
      `of the invoice ${shown(open)} is open and ${shown(paid)} was paid; no more can be paid or taken back.`,
    )
  }
  await updateRow(context.tx, tables.documents, id, {
    remaining_amount: open - amount,
    status: open === amount ? 'Paid' : 'Open',
    last_modified_date_time: context.now,
  })
  return invoice
}

async function paidOf(context: WriteContext, invoiceId: string): Promise<number> {
  const [row] = await context.tx.all(
    'select cast(coalesce(sum(amount), 0) as bigint) as paid from business_customer_payments where applies_to_invoice_id = ?',
    invoiceId,
  )
  return Number(row?.['paid'] ?? 0)
}

function textGiven(given: GivenFields, name: string): string {
  const value = given.get(name)?.value
  return typeof value === 'string' ? value : ''
}

function dateGiven(given: GivenFields, context: WriteContext): string {
  const value = textGiven(given, 'postingDate')
  return value === '' || value === noDate ? today(context) : value
}
