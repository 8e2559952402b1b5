/** What the master data's field types cannot say: what is required, what names what, what is still in use. */

import type { Table } from '#query/table.ts'
import type { series } from '../documents/numbers.ts'
import * as tables from '../tables.ts'
import type { Identified } from './lookups.ts'

/** Two properties that name the same row: either fills the other, both must agree. */
interface Pair {
  readonly id: string
  readonly code: string
  readonly table: Table<Identified>
  readonly type: string
  /** The column of the code there. */
  readonly by: 'code' | 'number'
}

export interface MasterRules {
  readonly pairs?: readonly Pair[]
  /** Properties that must say something at creation. */
  readonly required?: readonly string[]
  /** `number` comes from this series when none is given. */
  readonly series?: keyof typeof series
  /** Stored in upper case. */
  readonly upper?: readonly string[]
  /** Column values of a new row where the body says nothing. */
  readonly defaults?: Readonly<Record<string, string | number>>
  /** Decimals that must lie in a range, in stored units. */
  readonly ranges?: Readonly<Record<string, readonly [low: number, high: number]>>
  /** Rows elsewhere that name one of these: as long as there is one, it is not deleted. */
  readonly usedBy?: readonly {
    readonly table: Table
    readonly column: string
    readonly what: string
  }[]
  /** Rows that go with it. */
  readonly owns?: readonly { readonly table: Table; readonly column: string }[]
}

const unit = 100_000
const coded = { required: ['code'], upper: ['code'] } as const
const currency: Pair = {
  id: 'currencyId',
  code: 'currencyCode',
  table: tables.currencies,
  type: 'currency',
  by: 'code',
}
const taxArea: Pair = {
  id: 'taxAreaId',
  code: 'taxAreaCode',
  table: tables.taxAreas,
  type: 'tax area',
  by: 'code',
}
const taxGroup: Pair = {
  id: 'taxGroupId',
  code: 'taxGroupCode',
  table: tables.taxGroups,
  type: 'tax group',
  by: 'code',
}
const item: Pair = {
  id: 'itemId',
  code: 'itemNumber',
  table: tables.items,
  type: 'item',
  by: 'number',
}

export const masterRules: Readonly<Record<string, MasterRules>> = {
  customers: {
    required: ['displayName'],
    series: 'customer',
    pairs: [currency, taxArea],
    usedBy: [
      { table: tables.documents, column: 'customer_id', what: 'a document' },
      { table: tables.documents, column: 'bill_to_customer_id', what: 'a document' },
      { table: tables.customerPayments, column: 'customer_id', what: 'a payment' },
    ],
  },
  items: {
    required: ['displayName'],
    series: 'item',
    defaults: { allow_invoice_discount: 1 },
    pairs: [
      taxGroup,
      {
        id: 'baseUnitOfMeasureId',
        code: 'baseUnitOfMeasureCode',
        table: tables.unitsOfMeasure,
        type: 'unit of measure',
        by: 'code',
      },
    ],
    usedBy: [{ table: tables.lines, column: 'item_id', what: 'a line' }],
    owns: [
      { table: tables.itemVariants, column: 'item_id' },
      { table: tables.itemUnits, column: 'item_id' },
    ],
  },
  itemVariants: { ...coded, pairs: [item], required: ['code', 'itemId'] },
  itemUnitsOfMeasure: {
    required: ['itemId', 'unitOfMeasureId'],
    pairs: [
      item,
      {
        id: 'unitOfMeasureId',
        code: 'unitOfMeasureCode',
        table: tables.unitsOfMeasure,
        type: 'unit of measure',
        by: 'code',
      },
    ],
    defaults: { quantity_per_unit: unit },
    ranges: { quantityPerUnit: [1, 1_000_000 * unit] },
  },
  unitsOfMeasure: {
    ...coded,
    usedBy: [
      { table: tables.items, column: 'base_unit_of_measure_id', what: 'an item' },
      { table: tables.itemUnits, column: 'unit_of_measure_id', what: 'an item' },
    ],
  },
  taxAreas: {
    ...coded,
    usedBy: [
      { table: tables.customers, column: 'tax_area_id', what: 'a customer' },
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
    ranges: { taxPercent: [0, 100 * unit] },
  },
  currencies: {
    ...coded,
    defaults: { amount_rounding_precision: 1_000, amount_decimal_places: '2:2' },
    ranges: { amountRoundingPrecision: [1, 1_000 * unit] },
    usedBy: [
      { table: tables.customers, column: 'currency_id', what: 'a customer' },
      { table: tables.documents, column: 'currency_id', what: 'a document' },
    ],
  },
  locations: coded,
  accessRights: { required: ['principalId'] },
}
