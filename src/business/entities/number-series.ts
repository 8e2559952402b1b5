/** Ours: how documents and master data are numbered. One of each purpose; none is made or deleted. Shape only. */

import { defineEntity, type Entity, guid, integer, moment, text } from '../entity.ts'
import * as tables from '../tables.ts'

const never = { write: 'never' } as const

export const numberSeries: Entity = defineEntity({
  set: 'numberSeries',
  type: 'numberSeries',
  table: tables.numberSeries,
  versions: ['v2.0'],
  fields: [
    guid('id', never),
    text('code', 20, never),
    text('displayName', 100),
    text('prefix', 15),
    integer('digits'),
    integer('lastNumber', { column: 'last' }),
    moment('lastModifiedDateTime', never),
  ],
  alternateKeys: [['code']],
  allows: { create: false, change: true, delete: false },
  defaultOrder: ['code'],
})
