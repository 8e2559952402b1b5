/** What a currency is worth in the company's own from a day on (business facts 14). Shape only. */

import {
  date,
  decimal,
  defineEntity,
  type Entity,
  editable,
  guid,
  moment,
  text,
} from '../entity.ts'
import * as tables from '../tables.ts'

const once = { write: 'create' } as const

export const currencyExchangeRates: Entity = defineEntity({
  set: 'currencyExchangeRates',
  type: 'currencyExchangeRate',
  table: tables.currencyExchangeRates,
  versions: ['v2.0'],
  fields: [
    guid('id', once),
    guid('currencyId', once),
    text('currencyCode', 10, once),
    date('startingDate', once),
    decimal('exchangeRateAmount'),
    decimal('relationalExchangeRateAmount'),
    moment('lastModifiedDateTime', { write: 'never' }),
  ],
  alternateKeys: [['currencyCode', 'startingDate']],
  allows: editable,
  defaultOrder: ['currencyCode', 'startingDate'],
  // Their index has ids of currencies. One with codes would be taken for a filter of such an id, too.
  inOrderBy: [],
})
