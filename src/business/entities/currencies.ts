/** Currencies and how amounts in them are rounded (business facts 5.1 and 14). Shape only. */

import { decimal, type Entity, text } from '../entity.ts'
import * as tables from '../tables.ts'
import { defineCoded } from './coded.ts'

export const currencies: Entity = defineCoded({
  set: 'currencies',
  type: 'currency',
  table: tables.currencies,
  nameMax: 60,
  own: [text('symbol', 10), text('amountDecimalPlaces', 5), decimal('amountRoundingPrecision')],
})
