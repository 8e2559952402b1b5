/**
 * The library's public interface as types: parse a template, bind its parameters, expand it to a plan. Nothing here
 * fetches or writes; `ExpansionContext` holds what must be known from outside.
 */
import type { ExpansionContext, Json, JsonObject, Plan, TemplateProblem } from './plan.ts'

/** A parsed and well-formed template. */
export interface ParsedTemplate {
  /** The scope that the schema's file name stands for. */
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
  /** Its values are sealed in the store, and never returned or logged. */
  readonly secure: boolean
  readonly required: boolean
}

/** An argument as read from a parameter file or a deployment's body; its expression was evaluated. */
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

/** The result, or every independent reason why there is none. */
export type Read<T> = { readonly ok: true; readonly value: T } | Unreadable

/** `partial` is what could be parsed. Expanding it finds problems that parsing alone does not. */
export type ReadTemplateText =
  | { readonly ok: true; readonly value: ParsedTemplate }
  | (Unreadable & { readonly partial?: ParsedTemplate })

/** The functions of the language that deployments use. */
export interface TemplateLanguage {
  /** Problems of a text have lines and columns; those of an object only paths. Never throws. */
  parseTemplate(template: string | JsonObject): ReadTemplateText
  /** A parameter file (with `parameters`) or the bare map of arguments. Never throws. */
  parseParameters(
    parameters: string | JsonObject,
  ): Read<Readonly<Record<string, ParameterArgument>>>
  /** Secret references must have been replaced by their values. Never throws. */
  expand(
    template: ParsedTemplate,
    parameters: Readonly<Record<string, ParameterArgument>>,
    context: ExpansionContext,
  ): Read<Plan>
}
