/** A template spec as it is stored: what it is called; its templates are its versions. */

export interface TemplateSpec {
  readonly displayName?: string
  readonly description?: string
  readonly metadata?: Readonly<Record<string, unknown>>
}
