/** Versions of template specs on the wire, as published. */

import Type from 'typebox'
import type { Version } from '#plane/declare/wire.ts'
import { includedTemplates, type TemplateSpecVersion } from '../model.ts'

const anyObject = Type.Object({}, { additionalProperties: true })
const properties = {
  description: Type.Optional(Type.String({ maxLength: 4096 })),
  mainTemplate: anyObject,
  [includedTemplates]: Type.Optional(
    Type.Array(Type.Object({ path: Type.String({ maxLength: 500 }), template: anyObject }), {
      maxItems: 500,
    }),
  ),
  metadata: Type.Optional(anyObject),
  uiFormDefinition: Type.Optional(anyObject),
}

interface Body {
  readonly properties: TemplateSpecVersion
}

export const v2022_02_01: Version<TemplateSpecVersion> = {
  date: '2022-02-01',
  body: Type.Object({ properties: Type.Object(properties) }),
  answer: Type.Object({ properties: Type.Object(properties) }),
  unknownProperties: 'ignore',
  toModel({ properties: given }: Body) {
    const {
      description,
      mainTemplate,
      [includedTemplates]: included,
      metadata,
      uiFormDefinition,
    } = given
    return {
      mainTemplate,
      ...(description === undefined ? {} : { description }),
      ...(included === undefined ? {} : { [includedTemplates]: included }),
      ...(metadata === undefined ? {} : { metadata }),
      ...(uiFormDefinition === undefined ? {} : { uiFormDefinition }),
    }
  },
  fromModel: (model) => ({ properties: { ...model } }),
}
