/**
 * The wire form of operations in 2019-12-01: in `properties`, with display name, policies and headers of responses
 * (contract, API operation definition).
 */

import Type from 'typebox'
import { nameOf } from '#kernel/resource-id.ts'
import type { Version } from '#plane/declare/wire.ts'
import { idPattern, idRule } from '../../../domain/names.ts'
import type { Operation } from '../model.ts'
import { operationProblems } from '../rules.ts'
import { type Features, type Loose, restrict } from './features.ts'
import { carry } from './preserve-fields.ts'
import { operationFields } from './shapes.ts'

interface Body {
  readonly properties: Loose<Operation>
}

/** The shape with these features, for each of its dates. */
export function wrappedWith(features: Features): (date: string) => Version<Operation> {
  const properties = Type.Object(operationFields(features))
  const body = Type.Object({
    name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 80,
        pattern: idPattern,
        description: 'The name of the operation: the last part of its path.',
      }),
    ),
    properties,
  })
  return (date) => ({
    date,
    body,
    answer: Type.Object({ properties }),
    unknownProperties: 'ignore',
    name: idRule(80),
    problems: (given: Body) => operationProblems(given.properties, 'properties.'),
    toModel: (given: Body, previous) =>
      carry(restrict(given.properties, features), previous, features),
    fromModel: (model, { id }) => ({
      properties: { displayName: nameOf(id), ...restrict(model, features) },
    }),
  })
}

export const wrapped = wrappedWith({ wrapped: true, sample: false, examples: false })
