/** A template as it was read: its sections with every string compiled. Data only; nothing here is evaluated. */
import type { Compiled, CompiledCopy, CompiledMember } from './compile.ts'
import type { Json } from './plan.ts'
import type { Locate } from './problems.ts'
import type { ParsedTemplate } from './template.ts'
import type { TemplatePath } from './template-path.ts'
import type { Definitions, Schema } from './types.ts'

export const templateLimits = {
  parameters: 256,
  variables: 256,
  resources: 800,
  outputs: 64,
  /** Of one loop. */
  copies: 800,
  /** Of everything that is to be sent, as JSON. */
  characters: 4 * 1024 * 1024,
  /** Templates within templates. */
  nesting: 8,
} as const

export interface ParameterSection {
  readonly name: string
  readonly schema: Schema
  readonly secure: boolean
  readonly defaultValue: Compiled | undefined
  /** The default is an expression, and its text is one of the allowed values: then so is what it comes to. */
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
  /** Steps of work that a call costs before anything is evaluated: its types are gone through each time. */
  readonly weight: number
  readonly path: TemplatePath
}

/** A deployment inside the template. */
export interface NestedSection {
  /** In the inner scope the template is data; in the outer one the parent evaluates it. */
  readonly isInner: boolean
  readonly template: { readonly raw: Json; readonly compiled: Compiled } | undefined
  readonly parameters: Compiled | undefined
}

/** Where a deployment goes, or what exists already is, when that is not the place that is deployed to. */
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
  /** What it would become cannot be told; why has been. */
  readonly isBroken: boolean
  readonly path: TemplatePath
  readonly symbolicName: string | undefined
  /** It stands in this one's `resources`. */
  readonly parent: ResourceSection | undefined
  /** Whole, also of a resource inside another. */
  readonly type: string
  /** How the type of a resource inside another was written: without the other's, with it, or it is of no child. */
  readonly written: 'short' | 'whole' | 'foreign'
  /** Absent: the profile of the template says it. */
  readonly apiVersion: Compiled | undefined
  readonly name: Compiled
  readonly condition: Compiled | undefined
  readonly scope: Compiled | undefined
  readonly dependsOn: { readonly value: Compiled; readonly path: TemplatePath } | undefined
  readonly copy: ResourceCopy | undefined
  readonly existing: boolean
  /** It is left alone where it is there already. */
  readonly onlyNew: boolean
  readonly nested: NestedSection | undefined
  readonly elsewhere: TargetScope
  /** What is sent: every other member. Known before anything runs, or (the second) perhaps only then. */
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

/** Maps go by names in lower case. */
/** What the template says of itself, and has to hold. */
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
  /** Nested ones after their parents. */
  readonly resources: readonly ResourceSection[]
  readonly outputs: readonly OutputSection[]
  readonly asserts: readonly AssertSection[]
}

/** What `parseTemplate` hands out, with what `expand` needs of it. */
export interface ReadTemplate extends ParsedTemplate {
  readonly document: TemplateDocument
  /** It has problems: expanding it can only find more of them. */
  readonly isPartial: boolean
  /** The schema could be read. */
  readonly isScopeKnown: boolean
}

export function isReadTemplate(template: ParsedTemplate): template is ReadTemplate {
  return 'document' in template
}
