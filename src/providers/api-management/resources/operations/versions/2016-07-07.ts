/**
 * The wire form of operations in 2016-07-07: every field at the top level, no display name (contract, API operation
 * definition).
 */

import Type from 'typebox'
import type { Version } from '#plane/declare/wire.ts'
import { idPattern, idRule } from '../../../domain/names.ts'
import type { Operation } from '../model.ts'
import { operationProblems } from '../rules.ts'
import { type Features, type Loose, restrict } from './features.ts'
import { carry } from './preserve-fields.ts'
import { operationFields } from './shapes.ts'

const features: Features = { wrapped: false, sample: true, examples: false }
const fields = operationFields(features)
const body = Type.Object({
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      pattern: idPattern,
      description: 'The name of the operation: the last part of its path.',
    }),
  ),
  ...fields,
})

/** The shape under one of its versions. */
export function flat(date: string): Version<Operation> {
  return {
    date,
    body,
    answer: Type.Object(fields),
    unknownProperties: 'ignore',
    name: idRule(256),
    problems: (given: Loose<Operation>) => operationProblems(given, ''),
    toModel: (given: Loose<Operation>, previous) =>
      carry(restrict(given, features), previous, features),
    fromModel: (model) => ({ ...restrict(model, features) }),
  }
}
