/** Template specs on the wire, as published. */

import Type from 'typebox'
import { added } from '#plane/declare/added.ts'
import type { Version } from '#plane/declare/wire.ts'
import type { TemplateSpec } from '../model.ts'

const properties = {
  displayName: Type.Optional(Type.String({ maxLength: 64 })),
  description: Type.Optional(Type.String({ maxLength: 4096 })),
  metadata: Type.Optional(Type.Object({}, { additionalProperties: true })),
}

/** What `$expand=versions` shows of each. */
const version = Type.Object({
  description: Type.Optional(Type.String()),
  timeCreated: Type.String(),
  timeModified: Type.String(),
})

interface Body {
  readonly properties?: TemplateSpec
}

export const v2022_02_01: Version<TemplateSpec> = {
  date: '2022-02-01',
  body: Type.Object({ properties: Type.Optional(Type.Object(properties)) }),
  answer: Type.Object({
    properties: Type.Object({
      ...properties,
      versions: added(Type.Record(Type.String(), version, { readOnly: true })),
    }),
  }),
  unknownProperties: 'ignore',
  toModel({ properties: given = {} }: Body) {
    const { displayName, description, metadata } = given
    return {
      ...(displayName === undefined ? {} : { displayName }),
      ...(description === undefined ? {} : { description }),
      ...(metadata === undefined ? {} : { metadata }),
    }
  },
  fromModel: (model) => ({ properties: { ...model } }),
}
