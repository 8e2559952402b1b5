/**
 * The scope of an expression: the port between the evaluator, which knows the functions, and the template, which
 * knows parameters, variables, loops and resources.
 */

import type { EvaluationQuota } from './evaluation-quota.ts'
import type { ExpansionContext, Json } from './plan.ts'

/** A user function of a template's `functions` section, bound to its own scope. */
export interface UserFunction {
  /** The names of its parameters, in order. A call must have exactly as many arguments. */
  readonly parameters: readonly string[]
  /** The output's value. Throws `EvaluationError` when an argument or the output fails. */
  call(values: readonly Json[]): Json
}

/**
 * Every member that cannot answer throws `EvaluationError` with a message for the author of the template
 * (not declared, not allowed in this section, outside a loop). A member that hands out a secure value, or
 * anything made of one, notes that for whoever asked for the evaluation; the evaluator itself keeps no taint.
 */
export interface Scope {
  readonly context: ExpansionContext
  /**
   * The budget shared by all expressions of one expansion, so that user functions and variables in loops count too.
   * When absent, each expression has its own.
   */
  readonly quota?: EvaluationQuota
  /** `parameters('name')`; names without regard to case. */
  parameter(name: string): Json
  /** `variables('name')`; evaluated on first use, cycles refused. */
  variable(name: string): Json
  /** `externalInputs('name')`; absent outside of parameter files. */
  externalInput?(name: string): Json
  /** `namespace.name(…)`; absent when the template declares no such function. */
  userFunction(namespace: string, name: string): UserFunction | undefined
  /** `copyIndex()` or `copyIndex('loop')`, without its offset. */
  copyIndex(loop: string | undefined): number
  /** `deployment()`: name, properties and, outside group scope, location. */
  deployment(): Json
  /**
   * `reference(target, apiVersion, 'Full')`. The target is a name or id of this template's resources, a
   * symbolic name, or an id elsewhere. Throws `Unanswered` when the answer must be fetched first.
   */
  reference(target: string, apiVersion: string | undefined, full: boolean): Json
  /** `target('Full')`: the resource that the expression belongs to as it is stored now, or null. It may throw `Unanswered`. */
  target(full: boolean): Json
  /** `references('symbolicLoop', 'Full')`: the answers of all instances of a loop, in order. */
  references(symbolicName: string, full: boolean): Json
  /** `resourceInfo('symbolicName')`: what is known of a resource before it exists (id, name, type, apiVersion). */
  resourceInfo(symbolicName: string): Json
  /** `list*(target, apiVersion, body)`, with `action` as it was written. It may throw `Unanswered` too. */
  list(action: string, target: string, apiVersion: string, body: Json | undefined): Json
}

/** An expression failed. `at` is the offset in its text when the evaluator knows it. */
export class EvaluationError extends Error {
  readonly at: number | undefined

  constructor(message: string, at?: number) {
    super(message)
    this.name = 'EvaluationError'
    this.at = at
  }
}

/** Not a failure: an answer must be fetched before the expression has a value. The scope noted which one. */
export class Unanswered extends Error {
  constructor() {
    super('an answer that has to be fetched first is needed')
    this.name = 'Unanswered'
  }
}

/** The only instance. It carries nothing, and a stack for each would cost more than the evaluation. */
export const unanswered = new Unanswered()
