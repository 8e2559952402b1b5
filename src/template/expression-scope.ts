/**
 * A scope for expressions outside of any template: a context, and optionally parameters, variables and a loop
 * index. It has no resources, so expressions that read a running one are refused.
 */

import { EvaluationQuota } from './evaluation-quota.ts'
import { isObject } from './fields.ts'
import { memberOf } from './functions/values.ts'
import type { ExpansionContext, Json, JsonObject } from './plan.ts'
import { EvaluationError, type Scope, type UserFunction } from './scope.ts'

interface ExpressionEnvironment {
  /** Absent: the expression may read neither its place nor the time, nor draw ids. */
  readonly context?: ExpansionContext
  readonly parameters?: JsonObject
  readonly variables?: JsonObject
  readonly externalInputs?: JsonObject
  /** The answer of `copyIndex()`, whatever the loop's name. Absent: there is no loop. */
  readonly copyIndex?: number
}

export class ExpressionScope implements Scope {
  readonly #environment: ExpressionEnvironment

  constructor(environment: ExpressionEnvironment) {
    this.#environment = environment
  }

  get context(): ExpansionContext {
    const { context } = this.#environment
    if (context === undefined) {
      throw new EvaluationError('the place, the time and new ids are not known here')
    }
    return context
  }

  parameter(name: string): Json {
    return named(this.#environment.parameters, name, 'parameter')
  }

  variable(name: string): Json {
    return named(this.#environment.variables, name, 'variable')
  }

  externalInput(name: string): Json {
    return named(this.#environment.externalInputs, name, 'external input')
  }

  userFunction(): UserFunction | undefined {
    return undefined
  }

  copyIndex(): number {
    const { copyIndex } = this.#environment
    if (copyIndex === undefined) throw new EvaluationError('there is no copy loop here')
    return copyIndex
  }

  deployment(): Json {
    const { deploymentName, location, scope } = this.context
    const where = scope === 'resourceGroup' || location === undefined ? {} : { location }
    return { name: deploymentName, ...where, properties: { mode: 'Incremental' } }
  }

  reference(target: string): Json {
    return noResources(`reference('${target}')`)
  }

  target(_full: boolean): Json {
    return noResources('target()')
  }

  references(symbolicName: string): Json {
    return noResources(`references('${symbolicName}')`)
  }

  resourceInfo(symbolicName: string): Json {
    return noResources(`resourceInfo('${symbolicName}')`)
  }

  list(action: string, target: string): Json {
    return noResources(`${action}('${target}')`)
  }
}

function named(values: JsonObject | undefined, name: string, what: string): Json {
  const found = isObject(values) ? memberOf(values, name, new EvaluationQuota()) : undefined
  if (found === undefined) throw new EvaluationError(`there is no ${what} '${name}' here`)
  return found
}

function noResources(what: string): never {
  throw new EvaluationError(`${what} asks for a resource of a deployment; there is none here`)
}
