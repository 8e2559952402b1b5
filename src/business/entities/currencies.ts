/** Currencies and how amounts in them are rounded (business facts 5.1 and 14). Shape only. */

import { decimal, defineEntity, type Entity, editable, guid, moment, text } from '../entity.ts'
import * as tables from '../tables.ts'

export const currencies: Entity = defineEntity({
  set: 'currencies',
  type: 'currency',
  table: tables.currencies,
  fields: [
    guid('id', { write: 'create' }),
    text('code', 10, { write: 'create' }),
    text('displayName', 60),
    text('symbol', 10),
    text('amountDecimalPlaces', 5),
    decimal('amountRoundingPrecision'),
    moment('lastModifiedDateTime', { write: 'never' }),
  ],
  alternateKeys: [['code']],
  allows: editable,
  defaultOrder: ['code'],
})
