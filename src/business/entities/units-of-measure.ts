/** Units of measure (business facts 14). Shape only. */

import { type Entity, text } from '../entity.ts'
import * as tables from '../tables.ts'
import { defineCoded } from './coded.ts'

export const unitsOfMeasure: Entity = defineCoded({
  set: 'unitsOfMeasure',
  type: 'unitOfMeasure',
  table: tables.unitsOfMeasure,
  nameMax: 50,
  own: [text('internationalStandardCode', 10), text('symbol', 10)],
})
