/** Who may do what in a company (`access.ts` says what the roles mean). Shape only; ours, the facts have no set. */

import { defineEntity, type Entity, editable, guid, moment, oneOf, text } from '../entity.ts'
import * as tables from '../tables.ts'

export const roles = ['full', 'sales', 'read'] as const
export type Role = (typeof roles)[number]

export const accessRights: Entity = defineEntity({
  set: 'accessRights',
  type: 'accessRight',
  table: tables.accessRights,
  versions: ['v2.0'],
  fields: [
    guid('id', { write: 'create' }),
    guid('principalId', { write: 'create' }),
    oneOf('role', 'accessRole', roles),
    text('description', 250),
    moment('lastModifiedDateTime', { write: 'never' }),
  ],
  alternateKeys: [['principalId']],
  allows: editable,
  defaultOrder: ['principalId'],
})
