/**
 * The schema of an operation as a version has it (contract, API operation definition). Optional members may be
 * null, since clients send back what they read; schemas are data and decide nothing.
 */

import Type, { type Static, type TOptional, type TSchema, type TUnsafe } from 'typebox'
import type { Features } from './features.ts'

const itemsMax = 1000

/** Optional; null means left out. */
export function maybe<T extends TSchema>(schema: T): TOptional<TUnsafe<Static<T> | null>> {
  // Every given schema has a type.
  const type: unknown = Reflect.get(schema, 'type')
  return Type.Optional(Type.Unsafe<Static<T> | null>({ ...schema, type: [type, 'null'] }))
}

const text = (description?: string) => Type.String(description === undefined ? {} : { description })
const list = <T extends TSchema>(items: T) => Type.Array(items, { maxItems: itemsMax })

const example = Type.Object({
  summary: maybe(text()),
  description: maybe(text()),
  externalValue: maybe(text('A URL that points to the literal example.')),
  value: Type.Optional(Type.Unknown()),
})
const examples = maybe(Type.Record(Type.String(), example))

function parameter(features: Features) {
  return Type.Object({
    name: text(),
    type: text(),
    description: maybe(text()),
    defaultValue: maybe(text()),
    required: maybe(Type.Boolean()),
    values: maybe(list(Type.String())),
    ...(features.examples ? { schemaId: maybe(text()), typeName: maybe(text()), examples } : {}),
  })
}

function representation(features: Features) {
  return Type.Object({
    contentType: text(),
    ...(features.sample ? { sample: maybe(text()) } : {}),
    formParameters: maybe(list(parameter(features))),
    schemaId: maybe(text('Only when contentType is no form.')),
    typeName: maybe(text('Only when contentType is no form.')),
    ...(features.examples ? { examples } : {}),
  })
}

function request(features: Features) {
  return Type.Object({
    description: maybe(text()),
    headers: maybe(list(parameter(features))),
    queryParameters: maybe(list(parameter(features))),
    representations: maybe(list(representation(features))),
  })
}

function response(features: Features) {
  return Type.Object({
    statusCode: features.wrapped ? Type.Integer() : Type.Integer({ minimum: 100, maximum: 599 }),
    description: maybe(text()),
    ...(features.wrapped ? { headers: maybe(list(parameter(features))) } : {}),
    representations: maybe(list(representation(features))),
  })
}

/** The fields, in `properties` or at the top level as the version has them. */
export function operationFields(features: Features) {
  return {
    ...(features.wrapped
      ? { displayName: Type.String({ minLength: 1, maxLength: 300 }), policies: maybe(text()) }
      : {}),
    description: maybe(Type.String({ maxLength: 1000, description: 'May include HTML tags.' })),
    method: text('`GET`, `PUT`, `POST` or any other.'),
    urlTemplate: Type.String({
      minLength: 1,
      maxLength: 1000,
      description: 'A relative URL, its parameters in braces: `/pets/{petId}`.',
    }),
    templateParameters: maybe(list(parameter(features))),
    request: maybe(request(features)),
    responses: maybe(list(response(features))),
  }
}
