/**
 * Tax areas (the customer's side), tax groups (the product's side), and the rate where the two meet (business facts 5.6
 * and 14). Shapes only. Rates are ours: the facts name no set for them.
 */

import {
  decimal,
  defineEntity,
  type Entity,
  editable,
  guid,
  moment,
  oneOf,
  text,
} from '../entity.ts'
import * as tables from '../tables.ts'
import { defineCoded } from './coded.ts'

const calculated = { write: 'never' } as const

/** Which of the two it is for. */
const tax = {
  codeMax: 20,
  own: [oneOf('taxType', 'taxType', ['Sales Tax', 'VAT'], calculated)],
}

export const taxAreas: Entity = defineCoded({
  set: 'taxAreas',
  type: 'taxArea',
  table: tables.taxAreas,
  ...tax,
})

export const taxGroups: Entity = defineCoded({
  set: 'taxGroups',
  type: 'taxGroup',
  table: tables.taxGroups,
  ...tax,
})

export const taxRates: Entity = defineEntity({
  set: 'taxRates',
  type: 'taxRate',
  table: tables.taxRates,
  versions: ['v2.0'],
  fields: [
    guid('id', { write: 'create' }),
    guid('taxAreaId', { write: 'create' }),
    text('taxAreaCode', 20, { write: 'create' }),
    guid('taxGroupId', { write: 'create' }),
    text('taxGroupCode', 20, { write: 'create' }),
    decimal('taxPercent'),
    moment('lastModifiedDateTime', calculated),
  ],
  alternateKeys: [['taxAreaId', 'taxGroupId']],
  allows: editable,
  defaultOrder: ['taxAreaCode', 'taxGroupCode'],
  inOrderBy: [],
})
