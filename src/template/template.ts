/**
 * The library's public interface as types: read a template, bind its parameters, expand it to a plan.
 * Nothing here fetches or writes; what must be known of the world comes in as `ExpansionContext`.
 */
import type { ExpansionContext, Json, JsonObject, Plan, TemplateProblem } from './plan.ts'

/** A template whose sections and expressions were read and found well formed. */
export interface ParsedTemplate {
  /** What the schema's file name says: where such a template may be deployed. */
  readonly scope: ExpansionContext['scope']
  readonly languageVersion: '1.0' | '2.0'
  readonly contentVersion: string
  readonly parameters: Readonly<Record<string, ParameterDeclaration>>
  /** The template as it was given, for the deployment's record and its export. */
  readonly source: JsonObject
}

export interface ParameterDeclaration {
  /** In lower case, after `$ref` was followed. */
  readonly type: 'string' | 'securestring' | 'int' | 'bool' | 'object' | 'secureobject' | 'array'
  /** Its values are sealed at rest, and never returned or logged. */
  readonly secure: boolean
  readonly required: boolean
}

/** A parameter as a parameter file or a deployment's body gives it. Values are literal, never expressions. */
export type ParameterArgument =
  | { readonly value: Json }
  | {
      readonly reference: {
        readonly keyVault: { readonly id: string }
        readonly secretName: string
        readonly secretVersion?: string
      }
    }

export interface Unreadable {
  readonly ok: false
  readonly problems: readonly TemplateProblem[]
}

/** Either the thing asked for, or every independent reason why not. */
export type Read<T> = { readonly ok: true; readonly value: T } | Unreadable

/** `partial` is what could be read nevertheless: expanding it finds the problems that reading alone does not. */
export type ReadTemplateText =
  | { readonly ok: true; readonly value: ParsedTemplate }
  | (Unreadable & { readonly partial?: ParsedTemplate })

/** The functions of the language, as the engine of deployments uses them. */
export interface TemplateLanguage {
  /** A text gives lines and columns in problems; an object gives paths only. Never throws. */
  parseTemplate(template: string | JsonObject): ReadTemplateText
  /** A parameter file (with `parameters`) or the bare map of arguments. Never throws. */
  parseParameters(
    parameters: string | JsonObject,
  ): Read<Readonly<Record<string, ParameterArgument>>>
  /** Secret references must have been fetched and handed in as values. Never throws. */
  expand(
    template: ParsedTemplate,
    parameters: Readonly<Record<string, ParameterArgument>>,
    context: ExpansionContext,
  ): Read<Plan>
}
