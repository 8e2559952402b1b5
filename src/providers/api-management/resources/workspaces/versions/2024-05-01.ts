/** The wire form of workspaces: one shape in all versions (facts 3.2, decision 0016). */

import Type, { type Static } from 'typebox'
import type { Version } from '#plane/declare/wire.ts'
import type { Workspace } from '../model.ts'

const properties = Type.Object({
  displayName: Type.String({ minLength: 1, maxLength: 256 }),
  description: Type.Optional(Type.String({ maxLength: 1000 })),
})
const body = Type.Object({ properties })

export function workspace(date: string): Version<Workspace> {
  return {
    date,
    body,
    answer: Type.Object({ properties }),
    unknownProperties: 'ignore',
    toModel: ({ properties: { displayName, description } }: Static<typeof body>) => ({
      displayName,
      ...(description === undefined ? {} : { description }),
    }),
    fromModel: (model) => ({ properties: { ...model } }),
  }
}
