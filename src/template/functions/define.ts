/** The type of a function of the language: how the evaluator calls it, and its entry in the reference. */

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
  /** The spelling in the reference. Calls are matched without regard to case. */
  readonly name: string
  readonly group: FunctionGroup
  /** The names of its arguments for the reference, optional ones in brackets. */
  readonly parameters: string
  readonly least: number
  /** Absent when there is no upper bound. */
  readonly most?: number
  /** One sentence for the reference. */
  readonly doc: string
}

/** A function written with `lambda`. The function that gets it as an argument calls it. */
export interface Lambda {
  /** The number of its variables. */
  readonly arity: number
  /** Values beyond its variables are dropped. */
  call(...values: readonly Json[]): Json
}

/** One call, as the function sees it. */
export interface Call {
  /** The name as the author wrote it. */
  readonly name: string
  readonly scope: Scope
  readonly quota: EvaluationQuota
}

/** One call whose function decides which of its arguments are evaluated, and when. */
export interface LazyCall extends Call {
  readonly arguments: readonly Expression[]
  /** The argument's value; null when there is no such argument. */
  value(index: number): Json
  /** The argument, which must be a `lambda` with so many variables. */
  lambda(index: number, least: number, most: number): Lambda
  /** `lambdaVariables(name)`: the value of that variable in the innermost lambda that has it. */
  variable(name: string): Json
}

/** A function of its arguments' values. */
export interface ValueFunction extends FunctionDescription {
  readonly apply: (values: readonly Json[], call: Call) => Json
}

/** A function that gets its arguments unevaluated. */
export interface LazyFunction extends FunctionDescription {
  readonly open: (call: LazyCall) => Json
}

export type TemplateFunction = ValueFunction | LazyFunction
