/** Locks on the wire, version 2016-09-01 (facts 9.8). */

import Type, { type Static } from 'typebox'
import type { Version } from '#plane/declare/wire.ts'
import { type Lock, lockLevels } from '../model.ts'

const properties = Type.Object({
  level: Type.Enum([...lockLevels], {
    description:
      '`CanNotDelete` keeps from being deleted, `ReadOnly` from any change. A lock without a level locks nothing, so there is none.',
  }),
  notes: Type.Optional(Type.String({ maxLength: 512 })),
  owners: Type.Optional(
    Type.Array(Type.Object({ applicationId: Type.String({ maxLength: 256 }) }), { maxItems: 20 }),
  ),
})
const body = Type.Object({ properties })

export const v2016_09_01: Version<Lock> = {
  date: '2016-09-01',
  body,
  answer: Type.Object({ properties }),
  unknownProperties: 'ignore',
  patch: 'none',
  toModel: ({ properties: { level, notes, owners } }: Static<typeof body>) => ({
    level,
    ...(notes === undefined ? {} : { notes }),
    ...(owners === undefined
      ? {}
      : { owners: owners.map(({ applicationId }) => ({ applicationId })) }),
  }),
  fromModel: (model) => ({ properties: { ...model } }),
}
