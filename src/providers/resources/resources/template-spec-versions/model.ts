/** One version of a template spec: a template, with those that it links to. */

import type { JsonObject } from '#template/plan.ts'

/** As the family calls the templates that come with the main one. */
export const includedTemplates = 'linkedTemplates'

export interface TemplateSpecVersion {
  readonly description?: string
  readonly mainTemplate: JsonObject
  /** What `relativePath` in links of the main template leads to. */
  readonly [includedTemplates]?: readonly { readonly path: string; readonly template: JsonObject }[]
  readonly metadata?: JsonObject
  /** Of a form in which people fill in parameters: kept, read by nobody here. */
  readonly uiFormDefinition?: JsonObject
}
