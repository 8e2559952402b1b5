/** A parsed template: its sections with every string compiled. It is data; nothing here evaluates. */
import type { Compiled, CompiledCopy, CompiledMember } from './compile.ts'
import type { Json } from './plan.ts'
import type { Locate } from './problems.ts'
import type { ResourceOptions } from './read-options.ts'
import type { ParsedTemplate } from './template.ts'
import type { TemplatePath } from './template-path.ts'
import type { Definitions, Schema } from './types.ts'

export const templateLimits = {
  parameters: 256,
  variables: 256,
  resources: 800,
  outputs: 64,
  /** Iterations of one loop. */
  copies: 800,
  /** Characters of all bodies together, as JSON. */
  characters: 4 * 1024 * 1024,
  /** Characters of the texts that each resource of a loop has anew. */
  apiVersion: 50,
  names: 260,
  /** Levels of nested templates. */
  nesting: 8,
} as const

export interface ParameterSection {
  readonly name: string
  readonly schema: Schema
  readonly secure: boolean
  readonly defaultValue: Compiled | undefined
  /** The default is an expression whose text is one of the allowed values, so its result is allowed too. */
  readonly allowsDefault: boolean
  readonly path: TemplatePath
}

export interface VariableSection {
  readonly name: string
  readonly value: { readonly kind: 'value'; readonly value: Compiled } | VariableCopy
  readonly path: TemplatePath
}

/** A variable made by an element of `variables.copy`. */
interface VariableCopy {
  readonly kind: 'copy'
  readonly copy: CompiledCopy
}

export interface FunctionSection {
  /** `namespace.name` as written. */
  readonly name: string
  readonly parameters: readonly { readonly name: string; readonly schema: Schema }[]
  readonly output: { readonly schema: Schema; readonly value: Compiled }
  /** The steps a call costs before anything is evaluated: its types are checked each time. */
  readonly weight: number
  readonly path: TemplatePath
}

/** A deployment inside the template. */
export interface NestedSection {
  /** In the inner scope the template is data; in the outer scope the parent evaluates it. */
  readonly isInner: boolean
  readonly template: { readonly raw: Json; readonly compiled: Compiled } | undefined
  readonly parameters: Compiled | undefined
}

/** The scope of a nested deployment or an existing resource, where it is not the scope of the whole deployment. */
interface TargetScope {
  readonly subscriptionId: Compiled | undefined
  readonly resourceGroup: Compiled | undefined
}

export interface ResourceCopy {
  readonly name: Compiled
  readonly count: Compiled
  readonly isSerial: boolean
  readonly batchSize: number
  readonly path: TemplatePath
}

export interface ResourceSection {
  /** It could not be read, and the problem was reported. */
  readonly isBroken: boolean
  readonly path: TemplatePath
  readonly symbolicName: string | undefined
  /** The resource whose `resources` contains this one. */
  readonly parent: ResourceSection | undefined
  /** The full type, also of a resource inside another one. */
  readonly type: string
  /**
   * How the type of a resource inside another one was written: without the parent's type, with it, or as an
   * unrelated type.
   */
  readonly written: 'short' | 'whole' | 'foreign'
  /** Absent: the profile of the template says it. */
  readonly apiVersion: Compiled | undefined
  readonly name: Compiled
  readonly condition: Compiled | undefined
  readonly scope: Compiled | undefined
  readonly dependsOn: { readonly value: Compiled; readonly path: TemplatePath } | undefined
  readonly copy: ResourceCopy | undefined
  readonly existing: boolean
  readonly options: ResourceOptions
  readonly nested: NestedSection | undefined
  readonly elsewhere: TargetScope
  /** The members that are sent. The first can be evaluated before anything runs, the second perhaps only later. */
  readonly early: readonly CompiledMember[]
  readonly late: readonly CompiledMember[]
}

export interface OutputSection {
  readonly name: string
  readonly schema: Schema
  readonly secure: boolean
  readonly condition: Compiled | undefined
  readonly value:
    | { readonly kind: 'value'; readonly value: Compiled }
    | { readonly kind: 'copy'; readonly count: Compiled; readonly input: Compiled }
  readonly path: TemplatePath
}

/** Keys of the maps are names in lower case. */
/** A statement of the template that must hold. */
interface AssertSection {
  readonly name: string
  readonly condition: Compiled
  readonly path: TemplatePath
}

export interface TemplateDocument {
  readonly locate: Locate
  /** Gives api-versions to what has none. */
  readonly apiProfile: string | undefined
  readonly definitions: Definitions
  readonly parameters: ReadonlyMap<string, ParameterSection>
  readonly variables: ReadonlyMap<string, VariableSection>
  readonly functions: ReadonlyMap<string, FunctionSection>
  /** Nested resources come after their parents. */
  readonly resources: readonly ResourceSection[]
  readonly outputs: readonly OutputSection[]
  readonly asserts: readonly AssertSection[]
}

/** The result of `parseTemplate`, with what `expand` needs. */
export interface ReadTemplate extends ParsedTemplate {
  readonly document: TemplateDocument
  /** The template has problems. Expanding it can only find more of them. */
  readonly isPartial: boolean
  /** Whether the schema could be read. */
  readonly isScopeKnown: boolean
}

export function isReadTemplate(template: ParsedTemplate): template is ReadTemplate {
  return 'document' in template
}
