/** Rules of master data that field types cannot express: required properties, references, and use by other rows. */

import type { Table } from '#query/table.ts'
import { isDateFormula } from '../documents/date-formula.ts'
import { wrongLogo } from '../documents/logo.ts'
import { decimalUnit } from '../entity.ts'
import * as tables from '../tables.ts'
import type { Identified } from './lookups.ts'

/** Two properties that name the same row: either fills the other, and both must agree. */
interface Pair {
  readonly id: string
  readonly code: string
  readonly table: Table<Identified>
  readonly type: string
  /** The column of the code in that row. */
  readonly by: 'code' | 'number'
}

export interface MasterRules {
  readonly pairs?: readonly Pair[]
  /** Properties that must have a value at creation. */
  readonly required?: readonly string[]
  /** `number` comes from this series when none is given. */
  readonly series?: 'customer' | 'item'
  /** Stored in upper case. */
  readonly upper?: readonly string[]
  /** Default column values of a new row. */
  readonly defaults?: Readonly<Record<string, string | number>>
  /** The allowed ranges of decimals, in stored units. */
  readonly ranges?: Readonly<Record<string, readonly [low: number, high: number]>>
  /** What is wrong with a text, by its property. */
  readonly checks?: Readonly<Record<string, (text: string) => string | undefined>>
  /** Rows elsewhere that refer to one of these; while there is one, it cannot be deleted. */
  readonly usedBy?: readonly {
    readonly table: Table
    readonly column: string
    readonly what: string
  }[]
  /** Rows that are deleted with it. */
  readonly owns?: readonly { readonly table: Table; readonly column: string }[]
}

const coded = { required: ['code'], upper: ['code'] } as const
const named = (id: string, table: Table<Identified>, type: string): Pair => ({
  id,
  code: id.replace(/Id$/, 'Code'),
  table,
  type,
  by: 'code',
})
const currency = named('currencyId', tables.currencies, 'currency')
const taxArea = named('taxAreaId', tables.taxAreas, 'tax area')
const taxGroup = named('taxGroupId', tables.taxGroups, 'tax group')
const paymentTerms = named('paymentTermsId', tables.paymentTerms, 'payment term')
const shipmentMethod = named('shipmentMethodId', tables.shipmentMethods, 'shipment method')
const paymentMethod = named('paymentMethodId', tables.paymentMethods, 'payment method')
const item: Pair = {
  id: 'itemId',
  code: 'itemNumber',
  table: tables.items,
  type: 'item',
  by: 'number',
}
const account: Pair = {
  id: 'accountId',
  code: 'accountNumber',
  table: tables.accounts,
  type: 'account',
  by: 'number',
}

function usedAs(column: string, ...by: readonly Table[]) {
  return by.map((table) => ({
    table,
    column,
    what: table.name === tables.customers.name ? 'a customer' : 'a document',
  }))
}

const wrongFormula = (text: string) =>
  isDateFormula(text)
    ? undefined
    : "a formula of dates was expected, such as '30D', '1M+8D' or 'CM'."

const wrongColor = (text: string) =>
  /^(?:#[0-9a-f]{6})?$/i.test(text) ? undefined : "a colour was expected, such as '#0a5c36'."

/** An IBAN has its check digits in front: moved behind, and with letters as numbers, it leaves 1 (ISO 13616). */
function wrongIban(text: string): string | undefined {
  const plain = text.replaceAll(' ', '').toUpperCase()
  if (plain === '') return undefined
  const isFormed = /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(plain)
  const moved = plain.slice(4) + plain.slice(0, 4)
  const digits = moved.replace(/[A-Z]/g, (letter) => String(Number.parseInt(letter, 36)))
  if (isFormed && BigInt(digits) % 97n === 1n) return undefined
  return 'the number of a bank account was expected, with the right check digits.'
}

export const masterRules: Readonly<Record<string, MasterRules>> = {
  customers: {
    required: ['displayName'],
    series: 'customer',
    pairs: [currency, taxArea, paymentTerms, shipmentMethod, paymentMethod],
    usedBy: [
      { table: tables.documents, column: 'customer_id', what: 'a document' },
      { table: tables.documents, column: 'bill_to_customer_id', what: 'a document' },
      { table: tables.customerPayments, column: 'customer_id', what: 'a payment' },
      { table: tables.customerLedgerEntries, column: 'customer_id', what: 'an entry' },
    ],
  },
  items: {
    required: ['displayName'],
    series: 'item',
    defaults: { allow_invoice_discount: 1 },
    pairs: [taxGroup, named('baseUnitOfMeasureId', tables.unitsOfMeasure, 'unit of measure')],
    usedBy: [
      { table: tables.lines, column: 'item_id', what: 'a line' },
      { table: tables.itemLedgerEntries, column: 'item_id', what: 'an entry' },
    ],
    owns: [
      { table: tables.itemVariants, column: 'item_id' },
      { table: tables.itemUnits, column: 'item_id' },
    ],
  },
  accounts: {
    required: ['number', 'displayName'],
    upper: ['taxGroupCode'],
    defaults: { account_type: 'Posting', direct_posting: 1 },
    usedBy: [
      { table: tables.postingAccounts, column: 'account_id', what: 'what is posted' },
      { table: tables.generalLedgerEntries, column: 'account_id', what: 'an entry' },
      { table: tables.lines, column: 'account_id', what: 'a line' },
      {
        table: tables.customerPaymentJournals,
        column: 'balancing_account_id',
        what: 'a payment journal',
      },
    ],
  },
  customerPaymentJournals: {
    ...coded,
    pairs: [{ ...account, id: 'balancingAccountId', code: 'balancingAccountNumber' }],
    owns: [{ table: tables.customerPayments, column: 'journal_id' }],
  },
  postingAccounts: { pairs: [account] },
  itemVariants: {
    ...coded,
    pairs: [item],
    required: ['code', 'itemId'],
    usedBy: [{ table: tables.lines, column: 'item_variant_id', what: 'a line' }],
  },
  itemUnitsOfMeasure: {
    required: ['itemId', 'unitOfMeasureId'],
    pairs: [item, named('unitOfMeasureId', tables.unitsOfMeasure, 'unit of measure')],
    defaults: { quantity_per_unit: decimalUnit },
    ranges: { quantityPerUnit: [1, 1_000_000 * decimalUnit] },
  },
  unitsOfMeasure: {
    ...coded,
    usedBy: [
      { table: tables.items, column: 'base_unit_of_measure_id', what: 'an item' },
      { table: tables.itemUnits, column: 'unit_of_measure_id', what: 'an item' },
      { table: tables.lines, column: 'unit_of_measure_id', what: 'a line' },
    ],
  },
  taxAreas: {
    ...coded,
    usedBy: [
      { table: tables.customers, column: 'tax_area_id', what: 'a customer' },
      { table: tables.documents, column: 'tax_area_id', what: 'a document' },
      { table: tables.taxRates, column: 'tax_area_id', what: 'a tax rate' },
    ],
  },
  taxGroups: {
    ...coded,
    usedBy: [
      { table: tables.items, column: 'tax_group_id', what: 'an item' },
      { table: tables.taxRates, column: 'tax_group_id', what: 'a tax rate' },
    ],
  },
  taxRates: {
    required: ['taxAreaId', 'taxGroupId'],
    pairs: [taxArea, taxGroup],
    ranges: { taxPercent: [0, 100 * decimalUnit] },
  },
  currencies: {
    ...coded,
    defaults: { amount_rounding_precision: 1_000, amount_decimal_places: '2:2' },
    ranges: { amountRoundingPrecision: [1, 1_000 * decimalUnit] },
    usedBy: [
      { table: tables.customers, column: 'currency_id', what: 'a customer' },
      { table: tables.documents, column: 'currency_id', what: 'a document' },
    ],
    owns: [{ table: tables.currencyExchangeRates, column: 'currency_id' }],
  },
  currencyExchangeRates: {
    required: ['currencyId', 'relationalExchangeRateAmount'],
    pairs: [currency],
    defaults: { exchange_rate_amount: decimalUnit },
    ranges: {
      exchangeRateAmount: [1, 1_000_000_000 * decimalUnit],
      relationalExchangeRateAmount: [1, 1_000_000_000 * decimalUnit],
    },
  },
  locations: {
    ...coded,
    usedBy: [{ table: tables.lines, column: 'location_id', what: 'a line' }],
  },
  paymentTerms: {
    ...coded,
    checks: { dueDateCalculation: wrongFormula, discountDateCalculation: wrongFormula },
    ranges: { discountPercent: [0, 100 * decimalUnit] },
    usedBy: usedAs('payment_terms_id', tables.customers, tables.documents),
  },
  paymentMethods: { ...coded, usedBy: usedAs('payment_method_id', tables.customers) },
  shipmentMethods: {
    ...coded,
    usedBy: usedAs('shipment_method_id', tables.customers, tables.documents),
  },
  companyInformation: {
    checks: { logo: wrongLogo, documentColor: wrongColor, iban: wrongIban },
  },
  companies: { upper: ['localCurrencyCode'] },
  accessRights: { required: ['principalId'] },
}
