/** Locations goods are shipped from (business facts 14). Shape only. */

import { boolean, type Entity, text } from '../entity.ts'
import * as tables from '../tables.ts'
import { defineCoded } from './coded.ts'

export const locations: Entity = defineCoded({
  set: 'locations',
  type: 'location',
  table: tables.locations,
  versions: ['v2.0'],
  own: [
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
  ],
})
