/** Units of measure (business facts 14). Shape only. */

import { defineEntity, type Entity, editable, guid, moment, text } from '../entity.ts'
import * as tables from '../tables.ts'

export const unitsOfMeasure: Entity = defineEntity({
  set: 'unitsOfMeasure',
  type: 'unitOfMeasure',
  table: tables.unitsOfMeasure,
  fields: [
    guid('id', { write: 'create' }),
    text('code', 10, { write: 'create' }),
    text('displayName', 50),
    text('internationalStandardCode', 10),
    text('symbol', 10),
    moment('lastModifiedDateTime', { write: 'never' }),
  ],
  alternateKeys: [['code']],
  allows: editable,
  defaultOrder: ['code'],
})
