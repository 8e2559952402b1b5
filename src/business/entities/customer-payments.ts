/**
 * Payments of customers: what closes an invoice, besides credit memos; and the journals in which they wait to be posted
 * together. Shapes only; `write/payments.ts` has the effects.
 */

import {
  added,
  date,
  decimal,
  defineEntity,
  type Entity,
  editable,
  guid,
  integer,
  moment,
  text,
  toMany,
  toOne,
} from '../entity.ts'
import * as tables from '../tables.ts'

const once = { write: 'create' } as const
const calculated = { write: 'never' } as const
const isAdded = { isAdded: true } as const

export const customerPaymentJournals: Entity = defineEntity({
  set: 'customerPaymentJournals',
  type: 'customerPaymentJournal',
  table: tables.customerPaymentJournals,
  fields: [
    guid('id', once),
    text('code', 10, once),
    text('displayName', 100),
    moment('lastModifiedDateTime', calculated),
    guid('balancingAccountId'),
    text('balancingAccountNumber', 20),
  ],
  alternateKeys: [['code']],
  navigations: [
    toMany('customerPayments', 'customerPayments', 'journal_id'),
    toOne('account', 'accounts', 'balancing_account_id'),
  ],
  actions: [{ name: 'post', versions: ['v2.0', 'v1.0'] }],
  allows: editable,
  defaultOrder: ['code'],
})

export const customerPayments: Entity = defineEntity({
  set: 'customerPayments',
  type: 'customerPayment',
  table: tables.customerPayments,
  fields: [
    guid('id', once),
    guid('journalId', { ...once, ...isAdded }),
    text('journalDisplayName', 100, {
      ...calculated,
      ...isAdded,
      column: 'display_name',
      join: 'journal',
    }),
    integer('lineNumber', isAdded),
    text('documentNumber', 20, calculated),
    guid('customerId'),
    text('customerNumber', 20),
    date('postingDate'),
    text('externalDocumentNumber', 35),
    decimal('amount'),
    decimal('paymentDiscount', { ...calculated, ...isAdded }),
    guid('appliesToInvoiceId'),
    text('appliesToInvoiceNumber', 20),
    text('description', 100),
    text('comment', 250),
    moment('lastModifiedDateTime', calculated),
  ],
  joins: [
    {
      name: 'journal',
      table: tables.customerPaymentJournals,
      on: [{ foreign: 'id', local: { column: 'journal_id' } }],
    },
  ],
  alternateKeys: [['documentNumber']],
  navigations: [
    toOne('customer', 'customers', 'customer_id'),
    toOne('invoice', 'salesInvoices', 'applies_to_invoice_id'),
    added(toOne('customerPaymentJournal', 'customerPaymentJournals', 'journal_id')),
  ],
  // Of those in a journal: what was received was received, and a payment that went back is one with the other sign.
  allows: editable,
  defaultOrder: ['documentNumber'],
})
