/** Policies of operations on the wire: one shape in every version (facts 3.2, decision 0016). */

import Type, { type Static } from 'typebox'
import type { Version } from '#plane/declare/wire.ts'
import { type OperationPolicy, policyFormats } from '../model.ts'

const properties = Type.Object({
  value: Type.String({ maxLength: 262_144 }),
  format: Type.Optional(Type.Enum([...policyFormats])),
})
const body = Type.Object({ properties })

export function operationPolicy(date: string): Version<OperationPolicy> {
  return {
    date,
    body,
    answer: Type.Object({ properties }),
    unknownProperties: 'ignore',
    patch: 'none',
    toModel: ({ properties: { value, format } }: Static<typeof body>) => ({
      value,
      format: format ?? 'xml',
    }),
    fromModel: (model) => ({ properties: { ...model } }),
  }
}
