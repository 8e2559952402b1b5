/** Entities whose rows have a code, a name and little else: terms of payment, currencies, units and their like. Shape only. */

import { defineEntity, type Entity, editable, type Field, guid, moment, text } from '../entity.ts'

interface Shape
  extends Pick<Parameters<typeof defineEntity>[0], 'set' | 'type' | 'table' | 'versions'> {
  readonly codeMax?: number
  readonly nameMax?: number
  readonly own?: readonly Field[]
}

export function defineCoded({ codeMax = 10, nameMax = 100, own = [], ...shape }: Shape): Entity {
  return defineEntity({
    ...shape,
    fields: [
      guid('id', { write: 'create' }),
      text('code', codeMax, { write: 'create' }),
      text('displayName', nameMax),
      ...own,
      moment('lastModifiedDateTime', { write: 'never' }),
    ],
    alternateKeys: [['code']],
    allows: editable,
    defaultOrder: ['code'],
  })
}
