/** Entries of the ledgers, which posting alone writes (`documents/posting.ts`). Shapes only. */

import {
  date,
  decimal,
  defineEntity,
  type Entity,
  type Field,
  guid,
  integer,
  moment,
  oneOf,
  readOnly,
  text,
  toOne,
} from '../entity.ts'
import * as tables from '../tables.ts'

const never = { write: 'never' } as const

const documentTypes = [' ', 'Payment', 'Invoice', 'Credit Memo'] as const
const itemEntryTypes = [' ', 'Sale', 'Positive Adjmt.', 'Negative Adjmt.'] as const

/** What every entry tells. */
const common: readonly Field[] = [
  guid('id', never),
  integer('entryNumber', never),
  date('postingDate', never),
  text('documentNumber', 20, never),
  oneOf('documentType', 'ledgerDocumentType', documentTypes, never),
]

const entries = {
  alternateKeys: [['entryNumber']],
  allows: readOnly,
  defaultOrder: ['entryNumber'],
} as const

export const generalLedgerEntries: Entity = defineEntity({
  ...entries,
  set: 'generalLedgerEntries',
  type: 'generalLedgerEntry',
  table: tables.generalLedgerEntries,
  fields: [
    ...common,
    guid('accountId', never),
    text('accountNumber', 20, never),
    text('description', 100, never),
    decimal('debitAmount', never),
    decimal('creditAmount', never),
    moment('lastModifiedDateTime', never),
  ],
  navigations: [toOne('account', 'accounts', 'account_id')],
})

/** Ours. Their local amounts add up to what the customer owes. */
export const customerLedgerEntries: Entity = defineEntity({
  ...entries,
  set: 'customerLedgerEntries',
  type: 'customerLedgerEntry',
  table: tables.customerLedgerEntries,
  versions: ['v2.0'],
  fields: [
    ...common,
    guid('customerId', never),
    text('customerNumber', 20, never),
    text('description', 100, never),
    text('currencyCode', 10, never),
    decimal('amount', never),
    decimal('amountLocal', never),
    decimal('appliedAmount', never),
    guid('appliesToInvoiceId', never),
    moment('lastModifiedDateTime', never),
  ],
  navigations: [
    toOne('customer', 'customers', 'customer_id'),
    toOne('invoice', 'salesInvoices', 'applies_to_invoice_id'),
  ],
})

/** Ours: what is owed to whom the tax goes to. */
export const taxEntries: Entity = defineEntity({
  ...entries,
  set: 'taxEntries',
  type: 'taxEntry',
  table: tables.taxEntries,
  versions: ['v2.0'],
  fields: [
    ...common,
    guid('customerId', never),
    decimal('taxPercent', never),
    decimal('base', never),
    decimal('amount', never),
    moment('lastModifiedDateTime', never),
  ],
  navigations: [toOne('customer', 'customers', 'customer_id')],
})

export const itemLedgerEntries: Entity = defineEntity({
  ...entries,
  set: 'itemLedgerEntries',
  type: 'itemLedgerEntry',
  table: tables.itemLedgerEntries,
  versions: ['v2.0'],
  fields: [
    ...common,
    guid('itemId', never),
    text('itemNumber', 20, never),
    oneOf('entryType', 'itemLedgerEntryType', itemEntryTypes, never),
    text('sourceNumber', 20, never),
    text('description', 100, never),
    decimal('quantity', never),
    moment('lastModifiedDateTime', never),
  ],
  navigations: [toOne('item', 'items', 'item_id')],
})
