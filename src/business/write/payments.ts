/**
 * Payments of customers. One that is made by itself is booked at once: it lowers what the customer owes and, where it names
 * an invoice, what is open of it; an invoice of which nothing is open is Paid. One in a journal waits, and may be changed,
 * until the journal is posted. A negative one takes back what was paid before. Its amount is in the currency of its invoice;
 * without an invoice in the company's own.
 */

import { allRows, deleteRows, findRow, insertRow } from '#query/rows.ts'
import { shown } from '../amounts/decimals.ts'
import { ratio, roundTo } from '../amounts/units.ts'
import { nextNumber } from '../documents/numbers.ts'
import { lockLedger, Posting } from '../documents/posting.ts'
import { decimalUnit, type Entity, noDate, noGuid } from '../entity.ts'
import { badValue, refuse, ruleBroken } from '../errors.ts'
import type { DocumentRow, PaymentRow } from '../tables.ts'
import * as tables from '../tables.ts'
import {
  inLocal,
  localReduction,
  noRate,
  type OwnCurrency,
  ownCurrency,
  rateOn,
} from './exchange-rates.ts'
import { createLookups, reference } from './lookups.ts'
import {
  changedCells,
  lockFor,
  lockRow,
  newId,
  spendWhole,
  today,
  updateRow,
  type WriteContext,
} from './rows.ts'
import { checkTag, type Target } from './tag.ts'
import { type Body, type GivenFields, readBody } from './values.ts'

/** The number of payments in one journal; they are posted in one transaction. */
const journalPaymentsMax = 1_000
const lineNumberStep = 10_000
/** The largest whole number of the interface. */
const lineNumberMax = 2 ** 31 - 1

type Journal = Pick<PaymentRow, 'id'> & { readonly balancing_account_id: string }

export async function createPayment(
  context: WriteContext,
  entity: Entity,
  body: Body,
): Promise<string> {
  const given = readBody(entity, context.version, body)
  const id = reference('id', 'id', given.get('id')?.value)?.value ?? newId(context)
  if ((await findRow(context.tx, tables.customerPayments, { id })) !== undefined) {
    throw refuse.Internal_EntityWithSameKeyExists(
      { property: 'id', type: entity.type, value: id },
      { target: 'id' },
    )
  }
  const journalId = reference('journalId', 'id', given.get('journalId')?.value)?.value ?? noGuid
  if (journalId !== noGuid) await lockJournal(context, journalId)
  const payment = await filled(context, given, {
    id,
    company_id: context.companyId,
    revision: 1,
    document_number: '',
    customer_id: noGuid,
    customer_number: '',
    posting_date: today(context),
    external_document_number: '',
    amount: 0,
    applies_to_invoice_id: noGuid,
    applies_to_invoice_number: '',
    description: '',
    comment: '',
    last_modified_date_time: context.now,
    journal_id: journalId,
    line_number: 0,
    payment_discount: 0,
  })
  const isDraft = journalId !== noGuid
  const applied = isDraft ? notApplied : await apply(context, payment)
  const numbered = {
    ...payment,
    document_number: await nextNumber(context, 'payment'),
    line_number: isDraft ? await lineNumberOf(context, payment) : 0,
    payment_discount: applied.discount,
  }
  if (!isDraft) await book(context, numbered, applied)
  await insertRow(context.tx, tables.customerPayments, numbered)
  return id
}

/** Returns the row as it was. */
export async function changePayment(
  context: WriteContext,
  target: Target,
  body: Body,
): Promise<PaymentRow> {
  const given = readBody(target.entity, context.version, body)
  const before = await lockDraft(context, target, true)
  const journalId = given.get('journalId')?.value ?? before.journal_id
  if (journalId !== before.journal_id)
    throw ruleBroken("'journalId' cannot be changed.", 'journalId')
  const wanted = await filled(context, given, before)
  const isMoved = wanted.line_number !== before.line_number
  if (isMoved) await lockJournal(context, before.journal_id)
  const line_number = isMoved ? await lineNumberOf(context, wanted) : before.line_number
  const changed = changedCells<PaymentRow>(before, { ...wanted, line_number })
  if (Object.keys(changed).length === 0) return before
  await updateRow(context.tx, tables.customerPayments, before.id, {
    ...changed,
    last_modified_date_time: context.now,
  })
  return before
}

export async function removePayment(context: WriteContext, target: Target): Promise<void> {
  const { id } = await lockDraft(context, target, false)
  await deleteRows(context.tx, tables.customerPayments, { id })
}

/** Posts all payments of the journal, or none. They leave it and stay as posted payments. */
export async function postJournal(context: WriteContext, target: Target): Promise<void> {
  const { tx, companyId } = context
  const journal = await lockJournal(context, target.id)
  checkTag(target, journal, false, context.conflictStatus)
  const lock = lockFor(context, 'change')
  const where = `where journal_id = ? and company_id = ? order by line_number${lock}`
  const payments = await allRows(tx, tables.customerPayments, where, journal.id, companyId)
  // One writes as many rows as ten lines.
  spendWhole(context, 10 * payments.length)
  if (payments.length === 0) throw ruleBroken('There is nothing to post: the journal is empty.')
  // All invoices before any balance, in one order.
  for (const id of [...new Set(payments.map((one) => one.applies_to_invoice_id))].sort())
    await lockRow(context, tables.documents, { id })
  for (const payment of payments) {
    const applied = await apply(context, payment)
    await book(context, payment, applied, journal)
    await updateRow(tx, tables.customerPayments, payment.id, {
      journal_id: noGuid,
      line_number: 0,
      payment_discount: applied.discount,
      last_modified_date_time: context.now,
    })
  }
  await updateRow(tx, tables.customerPaymentJournals, journal.id, {
    last_modified_date_time: context.now,
  })
}

async function lockJournal(context: WriteContext, id: string) {
  const { companyId } = context
  const cells = { id, company_id: companyId }
  const journal = await lockRow(context, tables.customerPaymentJournals, cells)
  if (journal !== undefined) return journal
  throw refuse.Internal_RecordNotFound(
    { property: 'journalId', type: 'customerPaymentJournal', key: `the id '${id}'` },
    { target: 'journalId' },
  )
}

async function lockDraft(
  context: WriteContext,
  target: Target,
  isTagRequired: boolean,
): Promise<PaymentRow> {
  const { entity, id } = target
  const cells = { id, company_id: context.companyId }
  const row = await lockRow(context, tables.customerPayments, cells)
  if (row === undefined) {
    throw refuse.BadRequest_ResourceNotFound({ type: entity.type, key: `the id '${id}'` })
  }
  checkTag(target, row, isTagRequired, context.conflictStatus)
  if (row.journal_id !== noGuid) return row
  throw ruleBroken(
    'The payment is posted and stays as it is; one with a negative amount takes it back.',
  )
}

/** The number given to a payment in its journal, or the next one. The journal is locked. */
async function lineNumberOf(
  { tx }: WriteContext,
  { id, journal_id: journalId, line_number: wanted }: PaymentRow,
): Promise<number> {
  const [row] = await tx.all(
    `select count(*) as n, coalesce(max(line_number), 0) as last,
       coalesce(sum(case when line_number = ? then 1 else 0 end), 0) as taken
       from business_customer_payments where journal_id = ? and id <> ?`,
    wanted,
    journalId,
    id,
  )
  if (Number(row?.['n']) >= journalPaymentsMax)
    throw ruleBroken(`The journal has ${journalPaymentsMax} payments; post it, or use another.`)
  if (wanted === 0) {
    const next = Number(row?.['last']) + lineNumberStep
    if (next <= lineNumberMax) return next
    throw badValue('lineNumber', 'the journal has no number left behind its last; name a free one.')
  }
  if (Number(row?.['taken']) > 0)
    throw badValue('lineNumber', `another payment of the journal has the number ${wanted}.`)
  return wanted
}

/**
 * The payment with the given values. It names one customer, and if it names an invoice, that customer must pay it.
 */
async function filled(
  context: WriteContext,
  given: GivenFields,
  before: PaymentRow,
): Promise<PaymentRow> {
  const textOf = (name: string, known: string) => {
    const value = given.get(name)?.value
    return typeof value === 'string' ? value : known
  }
  const numberOf = (name: string, known: number) => Number(given.get(name)?.value ?? known)
  const lookups = createLookups(context)
  const isNamed = given.has('appliesToInvoiceId') || given.has('appliesToInvoiceNumber')
  const named = await lookups.agree(
    tables.documents,
    'invoice',
    isNamed
      ? [
          reference('appliesToInvoiceId', 'id', given.get('appliesToInvoiceId')?.value),
          reference('appliesToInvoiceNumber', 'number', given.get('appliesToInvoiceNumber')?.value),
        ]
      : [reference('appliesToInvoiceId', 'id', before.applies_to_invoice_id)],
  )
  const asked = await lookups.agree(tables.customers, 'customer', [
    reference('customerId', 'id', given.get('customerId')?.value),
    reference('customerNumber', 'number', given.get('customerNumber')?.value),
  ])
  const payerId = named === undefined ? before.customer_id : named.bill_to_customer_id
  if (asked !== undefined && named !== undefined && asked.id !== payerId) {
    throw badValue('customerId', 'the invoice is another customer’s to pay.')
  }
  const customerId = asked === undefined ? payerId : asked.id
  const customer = await findRow(context.tx, tables.customers, { id: customerId })
  if (customer === undefined) {
    throw refuse.BadRequest_RequiredParamNotProvided(
      { name: 'customerId', reason: 'a payment is a customer’s; name one, or an invoice.' },
      { target: 'customerId' },
    )
  }
  const amount = numberOf('amount', before.amount)
  if (amount === 0) {
    throw refuse.BadRequest_RequiredParamNotProvided(
      { name: 'amount', reason: 'it is what was paid; negative when it went back.' },
      { target: 'amount' },
    )
  }
  const line_number = numberOf('lineNumber', before.line_number)
  if (line_number < 0) throw badValue('lineNumber', 'a number above zero was expected.')
  const posting_date = textOf('postingDate', before.posting_date)
  return {
    ...before,
    line_number,
    customer_id: customerId,
    customer_number: customer.number,
    posting_date: posting_date === noDate ? today(context) : posting_date,
    external_document_number: textOf('externalDocumentNumber', before.external_document_number),
    amount,
    applies_to_invoice_id: named === undefined ? noGuid : named.id,
    applies_to_invoice_number: named === undefined ? '' : named.number,
    description: textOf('description', before.description) || customer.display_name,
    comment: textOf('comment', before.comment),
  }
}

/**
 * Posts the bank amount at the rate of its day against the customer's debt at the rate of the invoice; the
 * difference is a gain or a loss.
 */
async function book(
  context: WriteContext,
  payment: PaymentRow,
  { invoice, discount, credit, unapplied }: Applied,
  journal?: Journal,
): Promise<void> {
  const { amount, posting_date: day } = payment
  await lockLedger(context)
  const own = await ownCurrency(context)
  const posting = new Posting(context, {
    type: 'Payment',
    number: payment.document_number,
    id: payment.id,
    date: day,
    description: payment.description,
    customer: { id: payment.customer_id, number: payment.customer_number },
  })
  const paid = invoice === undefined ? amount : localReduction(invoice, amount, own)
  const received =
    invoice === undefined ? amount : await worthOn(context, invoice, { amount, day, own })
  const balancing = journal?.balancing_account_id ?? noGuid
  if (balancing === noGuid) await posting.bookAs('Bank', received)
  else posting.book(balancing, received)
  const about = {
    currency_code: invoice === undefined ? '' : invoice.currency_code,
    applies_to_invoice_id: invoice === undefined ? noGuid : invoice.id,
  }
  const applied_amount = invoice === undefined ? 0 : -amount
  await posting.owe(-amount, -received, { ...about, applied_amount })
  const gain = received - paid
  if (gain !== 0) {
    await posting.owe(0, gain, {
      ...about,
      description: gain > 0 ? 'Exchange gain' : 'Exchange loss',
    })
    await posting.bookAs(gain > 0 ? 'Exchange Gains' : 'Exchange Losses', -gain)
  }
  if (discount !== 0 && invoice !== undefined) {
    const off = localReduction(invoice, amount + discount, own) - paid
    const description = 'Payment discount'
    await posting.owe(-discount, -off, { ...about, applied_amount: -discount, description })
    await posting.bookAs('Payment Discounts', off)
  }
  if (credit !== 0 && invoice !== undefined) {
    // The memo has lowered the debt already; only what rounding makes of it is left.
    const closed =
      localReduction(invoice, amount + discount + credit, own) -
      localReduction(invoice, amount + discount, own)
    const used = localReduction({ ...invoice, remaining_amount: unapplied }, credit, own)
    const description = 'Credit applied'
    await posting.owe(0, used - closed, { ...about, applied_amount: -credit, description })
    await posting.bookAs(used > closed ? 'Exchange Gains' : 'Exchange Losses', closed - used)
  }
  await posting.finish()
}

/** At the invoice's rate when the day has no other, so that the parts of an invoice leave no cent. */
async function worthOn(
  context: WriteContext,
  invoice: DocumentRow,
  {
    amount,
    day,
    own,
  }: { readonly amount: number; readonly day: string; readonly own: OwnCurrency },
): Promise<number> {
  const booked = invoice.exchange_rate_amount
  const rate = booked === 0 ? noRate : await rateOn(context, invoice.currency_id, day)
  const isSame =
    rate.exchange_rate_amount === 0 ||
    (rate.exchange_rate_amount === booked &&
      rate.relational_exchange_rate_amount === invoice.relational_exchange_rate_amount)
  return isSame ? localReduction(invoice, amount, own) : inLocal(amount, rate, own)
}

interface Settled {
  readonly paid: number
  /** For early payment. */
  readonly discounted: number
  /** The sum of its credit memos. */
  readonly credited: number
  /** What they left over, because the invoice was paid when they were posted. */
  readonly unapplied: number
}

/** The invoice before a payment, and what closes it besides. */
interface Applied {
  readonly invoice: DocumentRow | undefined
  /** For early payment. */
  readonly discount: number
  /** From credit memos that were left over before. */
  readonly credit: number
  readonly unapplied: number
}

const notApplied: Applied = { invoice: undefined, discount: 0, credit: 0, unapplied: 0 }

/** Changes the open amount of the invoice that the payment names. */
async function apply(context: WriteContext, payment: PaymentRow): Promise<Applied> {
  const { applies_to_invoice_id: id, customer_id: payerId, amount } = payment
  if (id === noGuid) {
    requireMultiple(amount, (await ownCurrency(context)).unit)
    return notApplied
  }
  const invoice = await lockRow(context, tables.documents, { id })
  if (invoice === undefined || invoice.kind !== 'invoice') {
    throw badValue('appliesToInvoiceId', 'an invoice was expected.')
  }
  if (invoice.bill_to_customer_id !== payerId)
    throw badValue('customerId', 'the invoice is another customer’s to pay.')
  const status = invoice.status
  if (status !== 'Open' && status !== 'Paid') {
    throw ruleBroken(
      `The invoice is '${status}'; one that is 'Open' can be paid.`,
      'appliesToInvoiceId',
    )
  }
  requireMultiple(amount, invoice.amount_precision)
  const open = invoice.remaining_amount
  const settled = await settledOf(context, invoice)
  const { paid, discounted, unapplied } = settled
  if (amount > Math.max(open, 0) || -amount > paid) {
    throw badValue(
      'amount',
      `of the invoice ${shown(open)} is open and ${shown(paid)} was paid; no more can be paid or taken back.`,
    )
  }
  // A returned payment takes back its invoice's discount: the invoice was not paid early any more.
  const discount = amount < 0 ? -discounted : earlyDiscount(invoice, settled, payment)
  const credit = Math.min(unapplied, open - amount - discount)
  const left = open - amount - discount - credit
  await updateRow(context.tx, tables.documents, id, {
    remaining_amount: left,
    status: left === 0 ? 'Paid' : 'Open',
    last_modified_date_time: context.now,
  })
  return { invoice, discount, credit, unapplied }
}

function requireMultiple(amount: number, unit: number): void {
  if (roundTo(amount, unit) === amount) return
  throw badValue('amount', `a multiple of ${shown(unit)} was expected, as its currency has it.`)
}

/** The remaining amount, if the payment is early enough and it is at most the discount of the invoice's terms. */
function earlyDiscount(
  invoice: DocumentRow,
  { credited }: Settled,
  { amount, posting_date: day }: PaymentRow,
): number {
  const { payment_discount_date: until, payment_discount_percent: percent } = invoice
  const rest = invoice.remaining_amount - amount
  if (rest <= 0 || percent === 0 || day > until) return 0
  const owed = invoice.total_amount_including_tax - credited
  const off = ratio(owed, percent, 100 * decimalUnit, invoice.amount_precision)
  return rest <= off ? rest : 0
}

/** What closed an invoice until now. */
export async function settledOf({ tx }: WriteContext, invoice: DocumentRow): Promise<Settled> {
  const { id, total_amount_including_tax: total, remaining_amount: open } = invoice
  const [row] = await tx.all(
    `select cast(coalesce(sum(amount), 0) as bigint) as paid,
       cast(coalesce(sum(payment_discount), 0) as bigint) as discounted,
       (select cast(coalesce(sum(total_amount_including_tax), 0) as bigint) from business_documents
         where invoice_id = ? and kind = 'creditMemo' and status = 'Corrective') as credited
       from business_customer_payments where applies_to_invoice_id = ? and journal_id = ?`,
    id,
    id,
    noGuid,
  )
  const [paid, discounted, credited] = [row?.['paid'], row?.['discounted'], row?.['credited']].map(
    (sum) => Number(sum ?? 0),
  ) as [number, number, number]
  return { paid, discounted, credited, unapplied: credited - (total - open - paid - discounted) }
}
