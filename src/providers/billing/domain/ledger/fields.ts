/**
 * The fields of the contract's transaction: name, type, place and wire form. Filters, orders and answers use this
 * table.
 */

import type { Field, FieldMap } from '#kernel/filter/field-map.ts'
import type { ValueType } from '#kernel/filter/functions.ts'
import { brandField, type VendorWords } from '#kernel/vendor.ts'
import { invoiceIdOf, profileIdOf, transactionIdOf } from '../ids.ts'
import { minorScale, showMinor } from '../money/money.ts'
import type { Dimension, Entry } from './entry.ts'

/** The place of a field's value. */
type FieldPlace =
  /** Shared by many entries. */
  | { readonly kind: 'dimension' }
  /** The same for all entries of a statement. */
  | { readonly kind: 'statement' }
  /** A column of its own; `scale`: the factor from the filter's number to the column's. */
  | { readonly kind: 'column'; readonly column: string; readonly scale?: number }
  /** Computed from others; not usable in an order. */
  | { readonly kind: 'made' }

export interface LedgerField extends Field<Entry> {
  readonly path: string
  readonly place: FieldPlace
}

export const creditTypes = (words: VendorWords): readonly string[] => [
  'Other',
  `${words.brand}FreeCredit`,
  `${words.brand}CreditOffer`,
  'ServiceInterruption',
  'Refund',
]
export const kinds = ['Other', 'All', 'Reservation'] as const
export const taxationTypes = ['SubtotalLevel', 'InvoiceLevel'] as const

export interface LedgerFields {
  readonly list: readonly LedgerField[]
  readonly map: FieldMap<Entry>
}

export function ledgerFields(words: VendorWords): LedgerFields {
  const list: LedgerField[] = []
  const { add, shared, money, price, measure } = fieldWriters(list)

  add(
    'id',
    'string',
    { place: { kind: 'made' }, read: (entry) => transactionIdOf(words, entry) },
    {
      ignoreCase: true,
    },
  )
  measure('name', { column: 'name', type: 'string' }, (row) => row.name, { ignoreCase: true })
  money(brandField(words, 'CreditApplied'), 'credit', (row) => row.credit)
  shared(brandField(words, 'Plan'), (d) => d.plan)
  shared('billingCurrency', (d) => d.billingCurrency)
  shared('billingProfileDisplayName', (d) => d.billingProfileDisplayName)
  add(
    'properties/billingProfileId',
    'string',
    { place: { kind: 'statement' }, read: ({ statement }) => profileIdOf(words, statement) },
    { ignoreCase: true },
  )
  money('consumptionCommitmentDecremented', 'commitment', (row) => row.commitment)
  shared('creditType', (d) => d.creditType, 'enum', creditTypes(words))
  shared('customerDisplayName', (d) => d.customerDisplayName)
  shared('customerId', (d) => d.customerId)
  measure('properties/date', { column: 'date', type: 'dateTime' }, (row) => row.date)
  shared('discount', (d) => d.discount, 'number')
  price('effectivePrice', 'effective_price', (row) => row.effectivePrice)
  measure(
    'properties/exchangeRate',
    { column: 'exchange_rate', type: 'number' },
    (row) => row.exchangeRate,
  )
  add(
    'properties/invoice',
    'string',
    { place: { kind: 'statement' }, read: ({ statement }) => statement.invoice ?? 'Pending' },
    { ignoreCase: true },
  )
  add(
    'properties/invoiceId',
    'string',
    { place: { kind: 'statement' }, read: ({ statement }) => invoiceIdOf(words, statement) },
    { ignoreCase: true },
  )
  shared('invoiceSectionDisplayName', (d) => d.invoiceSectionDisplayName)
  shared('invoiceSectionId', (d) => d.invoiceSectionId)
  shared('isThirdParty', (d) => d.isThirdParty, 'boolean')
  shared('kind', (d) => d.kind, 'enum', kinds)
  price('marketPrice', 'market_price', (row) => row.marketPrice)
  shared('partNumber', (d) => d.partNumber)
  shared('pricingCurrency', (d) => d.pricingCurrency)
  shared('productDescription', (d) => d.productDescription)
  shared('productFamily', (d) => d.productFamily)
  shared('productType', (d) => d.productType)
  shared('productTypeId', (d) => d.productTypeId)
  measure('properties/quantity', { column: 'quantity', type: 'number' }, (row) => row.quantity, {
    integer: true,
  })
  shared('reasonCode', (d) => d.reasonCode)
  money('refundTransactionDetails/amountRefunded', 'refunded', (row) => row.refunded)
  money('refundTransactionDetails/amountRequested', 'requested', (row) => row.requested)
  measure(
    'properties/refundTransactionDetails/refundOperationId',
    { column: 'refund_operation', type: 'string' },
    (row) => row.refundOperation,
  )
  measure(
    'properties/servicePeriodStartDate',
    { column: 'period_start', type: 'dateTime' },
    (r) => r.periodStart,
  )
  measure(
    'properties/servicePeriodEndDate',
    { column: 'period_end', type: 'dateTime' },
    (r) => r.periodEnd,
  )
  shared('specialTaxationType', (d) => d.specialTaxationType, 'enum', taxationTypes)
  money('subTotal', 'sub_total', (row) => row.subTotal)
  money('tax', 'tax', (row) => row.tax)
  money('transactionAmount', 'amount', (row) => row.amount)
  shared('transactionType', (d) => d.transactionType)
  shared('unitOfMeasure', (d) => d.unitOfMeasure)
  shared('unitType', (d) => d.unitType)
  measure('properties/units', { column: 'units', type: 'number' }, (row) => row.units)

  return {
    list,
    map: {
      fields: Object.fromEntries(list.map((field) => [field.path, field])),
      lenient: true,
      optionalPrefix: 'properties',
    },
  }
}

/** Functions that add a field of one sort to the list. */
function fieldWriters(list: LedgerField[]) {
  const add = (
    path: string,
    type: ValueType,
    { place, read }: Pick<LedgerField, 'place' | 'read'>,
    extra: Partial<Field<Entry>> = {},
  ): void => {
    list.push({ path, type, place, read, ...extra })
  }
  const shared = (
    path: string,
    read: (dimension: Dimension) => unknown,
    type: ValueType = 'string',
    values?: readonly string[],
  ): void =>
    add(
      `properties/${path}`,
      type,
      { place: { kind: 'dimension' }, read: ({ dimension }) => read(dimension) },
      values === undefined ? {} : { values },
    )
  const money = (
    path: string,
    column: string,
    read: (row: Entry['row']) => number | null,
  ): void => {
    const place: FieldPlace = { kind: 'column', column, scale: minorScale }
    add(`properties/${path}/value`, 'number', {
      place,
      read: ({ row }) => {
        const minor = read(row)
        return minor === null ? null : showMinor(minor)
      },
    })
    // A missing amount has no currency either.
    const always = ['sub_total', 'tax', 'amount'].includes(column)
    add(`properties/${path}/currency`, 'string', {
      place: always ? { kind: 'dimension' } : { kind: 'made' },
      read: ({ row, dimension }) =>
        always || read(row) !== null ? dimension.billingCurrency : null,
    })
  }
  const price = (
    path: string,
    column: string,
    read: (row: Entry['row']) => number | null,
  ): void => {
    add(`properties/${path}/value`, 'number', {
      place: { kind: 'column', column },
      read: ({ row }) => read(row),
    })
    add(`properties/${path}/currency`, 'string', {
      place: { kind: 'made' },
      read: ({ row, dimension }) =>
        read(row) === null ? null : (dimension.pricingCurrency ?? dimension.billingCurrency),
    })
  }
  const measure = (
    path: string,
    { column, type }: { readonly column: string; readonly type: ValueType },
    read: (row: Entry['row']) => unknown,
    extra: Partial<Field<Entry>> = {},
  ): void =>
    add(path, type, { place: { kind: 'column', column }, read: ({ row }) => read(row) }, extra)
  return { add, shared, money, price, measure }
}
