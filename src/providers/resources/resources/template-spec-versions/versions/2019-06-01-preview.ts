/** As versions of template specs were first published: the template and what it links to under other names. */

import Type from 'typebox'
import type { Version } from '#plane/declare/wire.ts'
import { includedTemplates, type TemplateSpecVersion } from '../model.ts'

const anyObject = Type.Object({}, { additionalProperties: true })
const artifact = Type.Object({
  kind: Type.Literal('template'),
  path: Type.String({ maxLength: 500 }),
  template: anyObject,
})
const properties = {
  description: Type.Optional(Type.String({ maxLength: 4096 })),
  template: anyObject,
  artifacts: Type.Optional(Type.Array(artifact, { maxItems: 500 })),
}

interface Body {
  readonly properties: {
    readonly description?: string
    readonly template: TemplateSpecVersion['mainTemplate']
    readonly artifacts?: TemplateSpecVersion[typeof includedTemplates]
  }
}

export const v2019_06_01_preview: Version<TemplateSpecVersion> = {
  date: '2019-06-01-preview',
  body: Type.Object({ properties: Type.Object(properties) }),
  answer: Type.Object({ properties: Type.Object(properties) }),
  unknownProperties: 'ignore',
  toModel({ properties: { description, template, artifacts } }: Body, previous) {
    // What this version does not know stays.
    const { metadata, uiFormDefinition } = previous ?? {}
    return {
      mainTemplate: template,
      ...(description === undefined ? {} : { description }),
      ...(artifacts === undefined
        ? {}
        : {
            [includedTemplates]: artifacts.map(({ path, template: one }) => ({
              path,
              template: one,
            })),
          }),
      ...(metadata === undefined ? {} : { metadata }),
      ...(uiFormDefinition === undefined ? {} : { uiFormDefinition }),
    }
  },
  fromModel: ({ mainTemplate, description, [includedTemplates]: included }) => ({
    properties: {
      ...(description === undefined ? {} : { description }),
      template: mainTemplate,
      ...(included === undefined
        ? {}
        : { artifacts: included.map((one) => ({ kind: 'template', ...one })) }),
    },
  }),
}
