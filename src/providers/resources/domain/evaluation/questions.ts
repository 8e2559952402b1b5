/**
 * What is asked of the thread that evaluates templates, and what it answers: plain data both ways, templates as JSON
 * text. A plan stays in the thread; what is told of it is what the engine of deployments goes by.
 */

import type {
  ExpansionContext,
  JsonObject,
  Need,
  NodeBody,
  Plan,
  PlanNode,
  PlanOutput,
  Tainted,
  TemplateProblem,
} from '#template/plan.ts'
import type { ParameterArgument, Read } from '#template/template.ts'

/** A context without functions: their answers are included. */
export interface PlainContext
  extends Omit<ExpansionContext, 'uuid' | 'zones' | 'provider' | 'invented' | 'roleDefinition'> {
  /** The only source of ids that expressions draw. */
  readonly run: string
  /** By namespace in lower case. Left out where the thread has them from an earlier question. */
  readonly offers?: Readonly<Record<string, JsonObject>>
  /** Accepts any type, even unknown ones. */
  readonly takesAnyType: boolean
  /** Ids of the built-in roles, by name in lower case. */
  readonly roles: Readonly<Record<string, string>>
}

export interface ExpandQuestion {
  readonly kind: 'expand'
  /** The number by which the plan is used afterwards. */
  readonly plan: number
  readonly template: string
  readonly parameters: string
  readonly context: PlainContext
}

export interface LateQuestion {
  readonly kind: 'late'
  readonly plan: number
  readonly of:
    | { readonly node: string }
    | { readonly output: number }
    /** Whether this node is ready. */
    | { readonly ready: string }
  readonly answers: ReadonlyMap<string, Tainted>
  /** A forgotten plan is made again from this in the same question, so that it cannot be forgotten in between. */
  readonly again?: ExpandQuestion
}

export type Question =
  | { readonly kind: 'template'; readonly text: string }
  | { readonly kind: 'parameters'; readonly text: string; readonly isText: boolean }
  | { readonly kind: 'secure'; readonly template: string }
  | ExpandQuestion
  | LateQuestion

/** The context by which a question makes a plan, if it may have to. */
export function contextIn(sent: Question): PlainContext | undefined {
  if (sent.kind === 'expand') return sent.context
  return sent.kind === 'late' ? sent.again?.context : undefined
}

export type ShownNode = Omit<PlanNode, 'needs' | 'evaluate' | 'readiness'>
/** What it depends on by position among the nodes: keys are long texts, and each would be sent again. */
export type SentNode = Omit<ShownNode, 'dependsOn'> & { readonly dependsOn: readonly number[] }
export type ShownOutput = Omit<PlanOutput, 'needs' | 'evaluate'>

export interface ShownPlan {
  readonly nodes: readonly SentNode[]
  readonly outputs: readonly ShownOutput[]
  readonly parameters: Plan['parameters']
  readonly characters: number
  /** Texts that came in as secure parameters. */
  readonly secrets: readonly string[]
}

interface LinkedTemplate {
  readonly source: JsonObject
  readonly contentVersion: string
}

/** The result of a node before any need is answered, and those of the nodes after it, as far as time allowed. */
export type NodeAnswer = (
  | { readonly kind: 'needs'; readonly needs: readonly Need[] }
  | { readonly kind: 'body'; readonly body: NodeBody }
) & {
  /** In the order of the plan, undefined for an existing one: keys are long texts, and each would be sent again. */
  readonly ahead?: readonly (NodeAnswer | undefined)[]
}

export type LateAnswer =
  | NodeAnswer
  | { readonly kind: 'output'; readonly value: Tainted | undefined }
  /** The thread does not know the plan: it was forgotten, or never made here. */
  | { readonly kind: 'gone' }

/** Nothing is answered: the thread lets go of the plan. */
export interface Release {
  readonly kind: 'release'
  readonly plan: number
}

/** The answer to each kind of question. */
export interface Answers {
  readonly template: Read<LinkedTemplate>
  readonly parameters: Read<Readonly<Record<string, ParameterArgument>>>
  /** Names of secure parameters, in lower case. */
  readonly secure: readonly string[]
  readonly expand: Read<ShownPlan>
  readonly late: LateAnswer
}

/** The form in which answers are sent. A bug is thrown again by the asking side. */
export type Told =
  /** The first message: the code is loaded. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly answer: Answers[keyof Answers] }
  | { readonly kind: 'refused'; readonly problems: readonly TemplateProblem[] }
  | { readonly kind: 'fault'; readonly message: string; readonly stack: string | undefined }
