/** Shapes of answers that actions declare whole: types declare only what they add to the envelope. */

import Type, { type TObject, type TSchema } from 'typebox'

/** A resource inside its envelope. */
export function asResource({ properties }: TObject): TObject {
  const text = Type.String()
  return Type.Object({
    id: text,
    name: Type.Optional(text),
    type: Type.Optional(text),
    location: Type.Optional(text),
    tags: Type.Optional(Type.Record(text, text)),
    systemData: Type.Optional(Type.Record(text, text)),
    ...properties,
  })
}

export function pageOfItems(item: TSchema): TObject {
  return Type.Object({
    value: Type.Array(item),
    nextLink: Type.Optional(Type.String({ format: 'uri' })),
  })
}
