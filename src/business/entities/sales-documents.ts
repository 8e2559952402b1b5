/**
 * Sales documents: invoices, quotes and credit memos, one table for the three (business facts 5.7, 9 and 14). Shapes and
 * names of actions only; the life of a document stands in `documents/`.
 */

import {
  type BoundAction,
  boolean,
  date,
  decimal,
  defineEntity,
  type Entity,
  editable,
  type Field,
  guid,
  moment,
  oneOf,
  text,
  toMany,
  toOne,
  versions,
} from '../entity.ts'
import * as tables from '../tables.ts'
import type { DocumentKind } from './sales-lines.ts'

const calculated = { write: 'never' } as const
const v2 = { versions: ['v2.0'] } as const

const invoiceStatuses = ['Draft', 'In Review', 'Open', 'Paid', 'Canceled', 'Corrective'] as const

const quoteStatuses = ['Draft', 'Sent', 'Accepted', 'Expired'] as const

function address(prefix: 'sellTo' | 'shipTo' | 'billTo'): readonly Field[] {
  const write = prefix === 'billTo' ? calculated : {}
  return [
    text(`${prefix}AddressLine1`, 100, { ...v2, ...write }),
    text(`${prefix}AddressLine2`, 50, { ...v2, ...write }),
    text(`${prefix}City`, 30, { ...v2, ...write }),
    text(`${prefix}Country`, 10, { ...v2, ...write }),
    text(`${prefix}State`, 30, { ...v2, ...write }),
    text(`${prefix}PostCode`, 20, { ...v2, ...write }),
  ]
}

const customer: readonly Field[] = [
  guid('customerId'),
  text('customerNumber', 20),
  text('customerName', 100, calculated),
  text('billToName', 100, calculated),
  guid('billToCustomerId'),
  text('billToCustomerNumber', 20),
  text('shipToName', 100, v2),
  text('shipToContact', 100, v2),
  ...address('sellTo'),
  ...address('shipTo'),
  ...address('billTo'),
]

const terms: readonly Field[] = [
  guid('currencyId'),
  text('currencyCode', 10),
  guid('shipmentMethodId'),
  guid('paymentTermsId'),
  text('salesperson', 20),
]

const totals: readonly Field[] = [
  decimal('discountAmount'),
  boolean('discountAppliedBeforeTax', calculated),
  decimal('totalAmountExcludingTax', calculated),
  decimal('totalTaxAmount', calculated),
  decimal('totalAmountIncludingTax', calculated),
]

const last: readonly Field[] = [
  moment('lastModifiedDateTime', calculated),
  text('phoneNumber', 30),
  text('email', 80),
]

function actions(...names: readonly string[]): readonly BoundAction[] {
  return names.map((name) => ({ name, versions }))
}

interface Shape {
  readonly kind: DocumentKind
  readonly type: string
  readonly own: readonly Field[]
  readonly middle: readonly Field[]
  readonly status: Field
  readonly actions: readonly BoundAction[]
}

function salesDocuments(shape: Shape): Entity {
  const { kind, type } = shape
  return defineEntity({
    set: `${type}s`,
    type,
    table: tables.documents,
    discriminator: { column: 'kind', value: kind },
    fields: [
      guid('id', { write: 'create' }),
      text('number', 20, calculated),
      text('externalDocumentNumber', 35),
      ...shape.own,
      ...customer,
      ...terms,
      ...shape.middle,
      ...totals,
      shape.status,
      ...last,
    ],
    alternateKeys: [['number']],
    navigations: [
      toMany(`${type}Lines`, `${type}Lines`, 'document_id', { deepInsert: true }),
      toOne('customer', 'customers', 'customer_id'),
      toOne('currency', 'currencies', 'currency_id'),
    ],
    actions: shape.actions,
    allows: editable,
    defaultOrder: ['number'],
  })
}

export const salesInvoices: Entity = salesDocuments({
  kind: 'invoice',
  type: 'salesInvoice',
  own: [
    date('invoiceDate', { column: 'document_date' }),
    date('postingDate', v2),
    date('dueDate'),
    text('customerPurchaseOrderReference', 35),
  ],
  middle: [
    guid('orderId', calculated),
    text('orderNumber', 20, calculated),
    boolean('pricesIncludeTax', calculated),
    decimal('remainingAmount', calculated),
    date('paymentDiscountDate', { ...v2, ...calculated, isAdded: true }),
    decimal('paymentDiscountPercent', { ...v2, ...calculated, isAdded: true }),
  ],
  status: oneOf('status', 'salesInvoiceEntityBufferStatus', [' ', ...invoiceStatuses], calculated),
  actions: actions(
    'post',
    'postAndSend',
    'send',
    'cancel',
    'cancelAndSend',
    'makeCorrectiveCreditMemo',
    'sendToReview',
    'reopen',
  ),
})

export const salesQuotes: Entity = salesDocuments({
  kind: 'quote',
  type: 'salesQuote',
  own: [date('documentDate'), date('postingDate', v2), date('dueDate')],
  middle: [date('validUntilDate'), moment('sentDate', calculated), date('acceptedDate')],
  status: oneOf('status', 'salesQuoteEntityBufferStatus', quoteStatuses),
  actions: actions('send', 'makeInvoice', 'makeOrder'),
})

export const salesCreditMemos: Entity = salesDocuments({
  kind: 'creditMemo',
  type: 'salesCreditMemo',
  own: [
    date('creditMemoDate', { column: 'document_date' }),
    date('postingDate', v2),
    date('dueDate'),
    guid('invoiceId'),
    text('invoiceNumber', 20),
  ],
  middle: [boolean('pricesIncludeTax', calculated)],
  status: oneOf(
    'status',
    'salesCreditMemoEntityBufferStatus',
    [' ', ...invoiceStatuses],
    calculated,
  ),
  actions: actions(
    'post',
    'postAndSend',
    'send',
    'cancel',
    'cancelAndSend',
    'sendToReview',
    'reopen',
  ),
})
