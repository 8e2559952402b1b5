/** Companies: what everything else belongs to (business facts 2 and 14). Shape only. */

import { defineEntity, type Entity, editable, guid, moment, text } from '../entity.ts'
import * as tables from '../tables.ts'

const calculated = { write: 'never' } as const
const v2 = { versions: ['v2.0'] } as const

export const companies: Entity = defineEntity({
  set: 'companies',
  type: 'company',
  scope: 'installation',
  table: tables.companies,
  fields: [
    guid('id', { write: 'create' }),
    text('systemVersion', 20, calculated),
    text('timestamp', 20, { ...v2, ...calculated }),
    text('name', 30),
    text('displayName', 250),
    text('businessProfileId', 250),
    text('localCurrencyCode', 10, { ...v2, write: 'create' }),
    moment('systemCreatedAt', { ...v2, ...calculated }),
    guid('systemCreatedBy', { ...v2, ...calculated }),
    moment('systemModifiedAt', { ...v2, ...calculated }),
    guid('systemModifiedBy', { ...v2, ...calculated }),
  ],
  alternateKeys: [['name']],
  allows: editable,
  defaultOrder: ['name'],
})
