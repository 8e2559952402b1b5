/** Locations goods are shipped from (business facts 14). Shape only. */

import { boolean, defineEntity, type Entity, editable, guid, moment, text } from '../entity.ts'
import * as tables from '../tables.ts'

export const locations: Entity = defineEntity({
  set: 'locations',
  type: 'location',
  table: tables.locations,
  versions: ['v2.0'],
  fields: [
    guid('id', { write: 'create' }),
    text('code', 10, { write: 'create' }),
    text('displayName', 100),
    text('contact', 100),
    text('addressLine1', 100),
    text('addressLine2', 50),
    text('city', 30),
    text('state', 30),
    text('country', 10),
    text('postalCode', 20),
    text('phoneNumber', 30),
    text('email', 80),
    text('website', 80),
    boolean('useAsInTransit'),
    moment('lastModifiedDateTime', { write: 'never' }),
  ],
  alternateKeys: [['code']],
  allows: editable,
  defaultOrder: ['code'],
})
