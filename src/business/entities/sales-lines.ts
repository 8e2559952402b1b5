/**
 * Sales document lines: of invoices, quotes and credit memos, one table for the three (contract, "Resources and
 * their fields"; business facts 3 and 12). Shapes only; how amounts come about stands in `amounts/`.
 */

import {
  boolean,
  complex,
  date,
  decimal,
  defineEntity,
  type Entity,
  editable,
  type Field,
  guid,
  integer,
  type Join,
  noGuid,
  nothing,
  oneOf,
  text,
  toOne,
} from '../entity.ts'
import * as tables from '../tables.ts'
import { lineView } from './line-view.ts'

/** The kinds a document may have, as its rows and those of its lines carry them in the column `kind`. */
const documentKinds = ['invoice', 'quote', 'creditMemo'] as const
export type DocumentKind = (typeof documentKinds)[number]

/** Business facts 4, in the order of their numbers; 6 to 9 are not used by the interface. */
const lineTypes = [
  'Comment',
  'Account',
  'Item',
  'Resource',
  'Fixed Asset',
  'Charge',
  'Allocation Account',
] as const
export type LineType = (typeof lineTypes)[number]

const v2 = { versions: ['v2.0'] } as const
const v1 = { versions: ['v1.0'] } as const
const calculated = { write: 'never' } as const

const joins: readonly Join[] = [
  {
    name: 'unit',
    table: tables.unitsOfMeasure,
    on: [{ foreign: 'id', local: { column: 'unit_of_measure_id' } }],
  },
  {
    name: 'conversion',
    table: tables.itemUnits,
    on: [
      { foreign: 'item_id', local: { column: 'item_id' } },
      { foreign: 'unit_of_measure_id', local: { column: 'unit_of_measure_id' } },
    ],
  },
  { name: 'item', table: tables.items, on: [{ foreign: 'id', local: { column: 'item_id' } }] },
]

/** v1.0: what the line is about, as an object. Its description is only ever read from a body (business facts 12). */
const lineDetails = complex(
  'lineDetails',
  'salesLineDetails',
  [
    text('number', 20, { column: 'line_object_number' }),
    text('displayName', 100, { column: 'object_name' }),
    nothing('description'),
  ],
  { ...v1, write: 'create', absent: { column: 'line_object_number', value: '' } },
)

/** v1.0: the unit as an object; the conversion is null for the item's base unit (business facts 12). */
const unitOfMeasure = complex(
  'unitOfMeasure',
  'unitOfMeasureObject',
  [
    text('code', 10, { column: 'unit_of_measure_code' }),
    text('displayName', 50, { column: 'display_name', join: 'unit' }),
    text('symbol', 10, { column: 'symbol', join: 'unit', nullWhenEmpty: true }),
    complex(
      'unitConversion',
      'unitConversion',
      [
        text('toUnitOfMeasure', 10, { column: 'base_unit_of_measure_code', join: 'item' }),
        decimal('fromToConversionRate', { column: 'quantity_per_unit', join: 'conversion' }),
      ],
      { absent: { column: 'id', join: 'conversion', value: null } },
    ),
  ],
  { ...v1, absent: { column: 'unit_of_measure_id', value: noGuid } },
)

/** In the order of the contract's examples. */
function lineFields(kind: DocumentKind): readonly Field[] {
  const isQuote = kind === 'quote'
  return [
    guid('id', { ...v2, ...calculated }),
    text('id', 60, {
      ...v1,
      ...calculated,
      column: 'legacy_id',
      made: ['document_id', 'sequence'],
    }),
    guid('documentId', { write: 'create' }),
    integer('sequence', { write: 'create' }),
    guid('itemId'),
    guid('accountId'),
    oneOf('lineType', 'invoiceLineAggLineType', lineTypes),
    text('lineObjectNumber', 20, { ...v2, write: 'create' }),
    lineDetails,
    text('description', 100),
    text('description2', 50, v2),
    guid('unitOfMeasureId'),
    text('unitOfMeasureCode', 10, v2),
    unitOfMeasure,
    decimal('unitPrice'),
    decimal('quantity'),
    decimal('discountAmount'),
    decimal('discountPercent'),
    boolean('discountAppliedBeforeTax', calculated),
    decimal('amountExcludingTax', calculated),
    text('taxCode', 50),
    decimal('taxPercent', calculated),
    decimal('totalTaxAmount', calculated),
    decimal('amountIncludingTax', calculated),
    ...(isQuote ? [] : [decimal('invoiceDiscountAllocation', calculated)]),
    decimal('netAmount', calculated),
    decimal('netTaxAmount', calculated),
    decimal('netAmountIncludingTax', calculated),
    ...(isQuote ? [] : [date('shipmentDate')]),
    guid('itemVariantId', v2),
    guid('locationId', v2),
  ]
}

function salesLines(kind: DocumentKind, set: string, type: string, document: string): Entity {
  const documentSet = `${document}s`
  return defineEntity({
    set,
    type,
    table: tables.lines,
    view: lineView,
    discriminator: { column: 'kind', value: kind },
    fields: lineFields(kind),
    joins,
    alternateKeys: [['documentId', 'sequence']],
    navigations: [
      toOne(document, documentSet, 'document_id'),
      toOne('item', 'items', 'item_id'),
      toOne('account', 'accounts', 'account_id'),
      toOne('unitOfMeasure', 'unitsOfMeasure', 'unit_of_measure_id', ['v2.0']),
      toOne('itemVariant', 'itemVariants', 'item_variant_id', ['v2.0']),
      toOne('location', 'locations', 'location_id', ['v2.0']),
    ],
    allows: editable,
    defaultOrder: ['documentId', 'sequence'],
    inOrderBy: ['document_id'],
    listNeeds: 'documentId',
  })
}

export const salesInvoiceLines: Entity = salesLines(
  'invoice',
  'salesInvoiceLines',
  'salesInvoiceLine',
  'salesInvoice',
)
export const salesQuoteLines: Entity = salesLines(
  'quote',
  'salesQuoteLines',
  'salesQuoteLine',
  'salesQuote',
)
export const salesCreditMemoLines: Entity = salesLines(
  'creditMemo',
  'salesCreditMemoLines',
  'salesCreditMemoLine',
  'salesCreditMemo',
)
