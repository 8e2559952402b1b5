/** Payments of customers: what closes an invoice, besides credit memos. Shape only; `write/payments.ts` has the effects. */

import { date, decimal, defineEntity, type Entity, guid, moment, text, toOne } from '../entity.ts'
import * as tables from '../tables.ts'

const once = { write: 'create' } as const
const calculated = { write: 'never' } as const

export const customerPayments: Entity = defineEntity({
  set: 'customerPayments',
  type: 'customerPayment',
  table: tables.customerPayments,
  fields: [
    guid('id', once),
    text('documentNumber', 20, calculated),
    guid('customerId', once),
    text('customerNumber', 20, once),
    date('postingDate', once),
    text('externalDocumentNumber', 35, once),
    decimal('amount', once),
    guid('appliesToInvoiceId', once),
    text('appliesToInvoiceNumber', 20, once),
    text('description', 100, once),
    text('comment', 250, once),
    moment('lastModifiedDateTime', calculated),
  ],
  alternateKeys: [['documentNumber']],
  navigations: [
    toOne('customer', 'customers', 'customer_id'),
    toOne('invoice', 'salesInvoices', 'applies_to_invoice_id'),
  ],
  // What was received was received; a payment that went back is one with the other sign.
  allows: { create: true, change: false, delete: false },
  defaultOrder: ['documentNumber'],
})
