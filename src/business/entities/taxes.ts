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

const calculated = { write: 'never' } as const
const taxTypes = ['Sales Tax', 'VAT'] as const

export const taxAreas: Entity = defineCode('taxAreas', 'taxArea', tables.taxAreas)
export const taxGroups: Entity = defineCode('taxGroups', 'taxGroup', tables.taxGroups)

/** A code with its name and the type of tax it is for. */
function defineCode(set: string, type: string, table: Entity['table']): Entity {
  return defineEntity({
    set,
    type,
    table,
    fields: [
      guid('id', { write: 'create' }),
      text('code', 20, { write: 'create' }),
      text('displayName', 100),
      oneOf('taxType', 'taxType', taxTypes, calculated),
      moment('lastModifiedDateTime', calculated),
    ],
    alternateKeys: [['code']],
    allows: editable,
    defaultOrder: ['code'],
  })
}

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
})
