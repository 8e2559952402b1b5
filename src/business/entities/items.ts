/** Items, their variants and the units they are sold in besides their base unit (business facts 14). Shapes only. */

import {
  boolean,
  decimal,
  defineEntity,
  type Entity,
  editable,
  guid,
  moment,
  oneOf,
  text,
  toMany,
  toOne,
} from '../entity.ts'
import * as tables from '../tables.ts'

const calculated = { write: 'never' } as const
const v2 = { versions: ['v2.0'] } as const

const itemTypes = ['Inventory', 'Service', 'Non-Inventory'] as const

export const items: Entity = defineEntity({
  set: 'items',
  type: 'item',
  table: tables.items,
  fields: [
    guid('id', { write: 'create' }),
    text('number', 20, { write: 'create' }),
    text('displayName', 100),
    text('displayName2', 50, v2),
    oneOf('type', 'itemType', itemTypes),
    boolean('blocked'),
    boolean('salesBlocked', v2),
    text('gtin', 14),
    decimal('inventory'),
    decimal('unitPrice'),
    boolean('priceIncludesTax'),
    decimal('unitCost'),
    guid('taxGroupId'),
    text('taxGroupCode', 20),
    guid('baseUnitOfMeasureId'),
    text('baseUnitOfMeasureCode', 10, v2),
    boolean('allowInvoiceDiscount', v2),
    moment('lastModifiedDateTime', calculated),
  ],
  alternateKeys: [['number']],
  navigations: [
    toOne('baseUnitOfMeasure', 'unitsOfMeasure', 'base_unit_of_measure_id', ['v2.0']),
    toMany('itemVariants', 'itemVariants', 'item_id'),
    toMany('itemUnitsOfMeasure', 'itemUnitsOfMeasure', 'item_id'),
  ],
  allows: editable,
  defaultOrder: ['number'],
})

export const itemVariants: Entity = defineEntity({
  set: 'itemVariants',
  type: 'itemVariant',
  table: tables.itemVariants,
  versions: ['v2.0'],
  fields: [
    guid('id', { write: 'create' }),
    guid('itemId', { write: 'create' }),
    text('itemNumber', 20, { write: 'create' }),
    text('code', 10, { write: 'create' }),
    text('description', 100),
    moment('lastModifiedDateTime', calculated),
  ],
  alternateKeys: [['itemId', 'code']],
  navigations: [toOne('item', 'items', 'item_id')],
  allows: editable,
  defaultOrder: ['itemNumber', 'code'],
  // Their indexes have ids of items. One with numbers would be taken for a filter of such an id, too.
  inOrderBy: [],
})

/** Ours: the facts name no set for the units of one item, and without one only base units could be sold. */
export const itemUnitsOfMeasure: Entity = defineEntity({
  set: 'itemUnitsOfMeasure',
  type: 'itemUnitOfMeasure',
  table: tables.itemUnits,
  versions: ['v2.0'],
  fields: [
    guid('id', { write: 'create' }),
    guid('itemId', { write: 'create' }),
    guid('unitOfMeasureId', { write: 'create' }),
    text('unitOfMeasureCode', 10, calculated),
    decimal('quantityPerUnit'),
    moment('lastModifiedDateTime', calculated),
  ],
  alternateKeys: [['itemId', 'unitOfMeasureId']],
  navigations: [
    toOne('item', 'items', 'item_id'),
    toOne('unitOfMeasure', 'unitsOfMeasure', 'unit_of_measure_id'),
  ],
  allows: editable,
  defaultOrder: ['itemId', 'unitOfMeasureCode'],
})
