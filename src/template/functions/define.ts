/** What a function of the language is to the evaluator, and what its reference says of it. Knows no function. */

import type { EvaluationQuota } from '../evaluation-quota.ts'
import type { Expression } from '../expression.ts'
import type { Json } from '../plan.ts'
import type { Scope } from '../scope.ts'

type FunctionGroup =
  | 'array'
  | 'cidr'
  | 'comparison'
  | 'date'
  | 'deployment'
  | 'lambda'
  | 'logical'
  | 'numeric'
  | 'object'
  | 'resource'
  | 'scope'
  | 'string'

export interface FunctionDescription {
  /** As it is written in the reference; calls are matched without regard to case. */
  readonly name: string
  readonly group: FunctionGroup
  /** Its arguments by name, optional ones in brackets, for the reference. */
  readonly parameters: string
  readonly least: number
  /** Absent when there is no bound. */
  readonly most?: number
  /** One sentence for the reference. */
  readonly doc: string
}

/** One function written with `lambda`: called by the function that it is an argument of. */
export interface Lambda {
  /** How many variables it names. */
  readonly arity: number
  /** Values beyond its variables are left out. */
  call(...values: readonly Json[]): Json
}

/** One call, as the function sees it. */
export interface Call {
  /** As the author wrote it. */
  readonly name: string
  readonly scope: Scope
  readonly quota: EvaluationQuota
}

/** One call whose function decides what of its arguments is evaluated, and when. */
export interface LazyCall extends Call {
  readonly arguments: readonly Expression[]
  /** The argument's value; null when there is no such argument. */
  value(index: number): Json
  /** The argument has to be a `lambda` with so many variables. */
  lambda(index: number, least: number, most: number): Lambda
  /** `lambdaVariables(name)`: what the innermost lambda around that names it was called with. */
  variable(name: string): Json
}

/** A function of its arguments' values. */
export interface ValueFunction extends FunctionDescription {
  readonly apply: (values: readonly Json[], call: Call) => Json
}

/** A function that takes its arguments unevaluated. */
export interface LazyFunction extends FunctionDescription {
  readonly open: (call: LazyCall) => Json
}

export type TemplateFunction = ValueFunction | LazyFunction
