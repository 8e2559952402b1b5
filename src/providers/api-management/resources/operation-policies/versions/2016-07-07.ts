/**
 * The wire form of policies: one shape in every version (facts 3.2, decision 0016). Clients before 2019 use other
 * names for the two members; every version accepts them and answers such clients with them.
 */

import Type, { type Static } from 'typebox'
import type { Problem } from '#kernel/error.ts'
import { added, relaxed } from '#plane/declare/added.ts'
import type { Version } from '#plane/declare/wire.ts'
import { type OperationPolicy, policyFormats } from '../model.ts'

const value = Type.String({ maxLength: 262_144 })
const format = Type.Enum([...policyFormats])
const older = { policyContent: added(value), contentFormat: added(format) }
const properties = { value: relaxed(value), format: Type.Optional(format), ...older }
const body = Type.Object({ properties: Type.Object(properties) })
const answered = { value, format: Type.Optional(format), ...older }

/** The first version whose clients use `value` and `format`. */
const firstNewer = '2019-01-01'

export function operationPolicy(date: string): Version<OperationPolicy> {
  return {
    date,
    body,
    answer: Type.Object({ properties: Type.Object(answered) }),
    unknownProperties: 'ignore',
    patch: 'none',
    problems: ({ properties: given }: Static<typeof body>): readonly Problem[] =>
      (given.value ?? given.policyContent) === undefined
        ? [{ path: 'properties.value', message: 'is required' }]
        : [],
    toModel: ({ properties: given }: Static<typeof body>) => ({
      value: given.value ?? given.policyContent ?? '',
      format: given.format ?? given.contentFormat ?? 'xml',
    }),
    fromModel: (model) => ({
      properties: {
        ...model,
        ...(date < firstNewer ? { policyContent: model.value, contentFormat: model.format } : {}),
      },
    }),
  }
}
