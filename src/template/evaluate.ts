/**
 * Evaluates one expression in a scope. It knows how nodes become values and how functions get their arguments.
 * `functions/` knows what a function does, and the scope what a name means. The work is bounded.
 */

import { EvaluationQuota } from './evaluation-quota.ts'
import type { Expression } from './expression.ts'
import { isArray, isObject, kindOf } from './fields.ts'
import { checkCall, counted } from './functions/check-call.ts'
import type { Call, Lambda, LazyCall } from './functions/define.ts'
import { exactInteger, isInteger, memberOf } from './functions/values.ts'
import { inventedMember } from './open-answers.ts'
import type { Json } from './plan.ts'
import { EvaluationError, type Scope } from './scope.ts'

/**
 * The value. Throws `EvaluationError`, with the offset of the call that failed, and whatever the scope throws.
 * The work counts against the scope's budget when it has one, else against one for this expression alone.
 */
export function evaluate(expression: Expression, scope: Scope): Json {
  const evaluation = new Evaluation(scope, scope.quota ?? new EvaluationQuota())
  try {
    return evaluation.value(expression, undefined)
  } catch (error) {
    // Values, lambdas and functions can exceed the stack together, although each is bounded.
    if (error instanceof RangeError && error.message.includes('call stack')) {
      throw new EvaluationError('this is nested too deeply', evaluation.at)
    }
    // Functions and scopes do not know their position in the text. Subclasses have other meanings.
    if (error instanceof EvaluationError && error.constructor === EvaluationError) {
      const { message, at = evaluation.at } = error
      const isLong = message.length > messageMax
      throw new EvaluationError(isLong ? `${message.slice(0, messageMax)}…` : message, at)
    }
    throw error
  }
}

/** Messages quote what they refuse, whatever its length. */
const messageMax = 1_000

/** The variables of the enclosing lambdas, the innermost first. */
interface Variables {
  /** In lower case. */
  readonly names: readonly string[]
  readonly values: readonly Json[]
  readonly outer: Variables | undefined
}

type CallNode = Extract<Expression, { kind: 'call' }>
type MemberNode = Extract<Expression, { kind: 'member' }>

class Evaluation {
  readonly scope: Scope
  readonly quota: EvaluationQuota
  /** The position in the text of the function that is being evaluated. */
  at = 0

  constructor(scope: Scope, quota: EvaluationQuota) {
    this.scope = scope
    this.quota = quota
  }

  /** `isHolder`: a member of the value is read next. */
  value(node: Expression, variables: Variables | undefined, isHolder = false): Json {
    this.quota.spend(1)
    switch (node.kind) {
      case 'string':
        return node.value
      case 'integer':
        this.at = node.at
        return exactInteger(node.value, 'the integer')
      case 'member':
        return this.#chain(node, variables, isHolder) ?? null
      case 'call':
        return node.namespace === undefined
          ? this.#call(node, variables)
          : this.#callUser(node, node.namespace, variables)
      default:
        return node satisfies never
    }
  }

  /** Undefined where a safe access found nothing: then the rest of the chain is not evaluated. */
  #chain(node: MemberNode, variables: Variables | undefined, isHolder: boolean): Json | undefined {
    const { of: before } = node
    if (before.kind === 'member') this.quota.spend(1)
    const of =
      before.kind === 'member'
        ? this.#chain(before, variables, true)
        : this.value(before, variables, true)
    if (of === undefined || (node.safe && of === null)) return undefined
    const index = this.value(node.index, variables)
    this.at = node.at
    const found = this.#member(of, index, node.safe, isHolder)
    return node.safe && found === null ? undefined : found
  }

  #call(node: CallNode, variables: Variables | undefined): Json {
    const checked = checkCall(node)
    if (!checked.ok) throw new EvaluationError(checked.message, node.at)
    const found = checked.called
    if ('open' in found) return found.open(new OpenNodeCall(this, node, variables))
    const values = node.arguments.map((argument) => this.value(argument, variables))
    this.at = node.at
    for (const value of values) {
      // Reading a long text takes time even when the result is short.
      if (typeof value === 'string' && value.length >= 64) this.quota.spend(value.length >>> 4)
    }
    const made = found.apply(values, new NodeCall(this, node.name))
    if (typeof made === 'string') this.quota.produce(made.length)
    else if (isArray(made)) this.quota.produceElements(made.length)
    return made
  }

  #callUser(node: CallNode, namespace: string, variables: Variables | undefined): Json {
    const whole = `${namespace}.${node.name}`
    this.at = node.at
    const found = this.scope.userFunction(namespace, node.name)
    if (found === undefined) {
      throw new EvaluationError(`the function '${whole}' is not declared`, node.at)
    }
    const count = found.parameters.length
    if (node.arguments.length !== count) {
      throw new EvaluationError(
        `${whole}() takes ${counted(count)}, not ${node.arguments.length}`,
        node.at,
      )
    }
    const values = node.arguments.map((argument) => this.value(argument, variables))
    this.at = node.at
    return found.call(values)
  }

  /** Own members only: names of prototypes are ordinary names. */
  #member(of: Json, index: Json, safe: boolean, isHolder: boolean): Json {
    if (!isObject(of) && !isArray(of)) throw new EvaluationError(`${kindOf(of)} has no properties`)
    const name = typeof index === 'bigint' ? Number(index) : index
    const invented = (): Json | undefined =>
      typeof name === 'string' || typeof name === 'number'
        ? inventedMember(of, name, isHolder, this.scope.context)
        : undefined
    if (isObject(of)) {
      const value = typeof index === 'string' ? memberOf(of, index, this.quota) : undefined
      if (value !== undefined) return value
      if (safe && typeof index === 'string') return null
      const made = invented()
      if (made !== undefined) return made
      if (typeof index === 'string') {
        throw new EvaluationError(`the object has no property '${index}'${known(of)}`)
      }
      throw new EvaluationError(`a property is named by a string, not by ${kindOf(index)}`)
    }
    if (!isInteger(index)) {
      throw new EvaluationError(`an element is named by an integer, not by ${kindOf(index)}`)
    }
    const value = of[Number(index)]
    if (value !== undefined) return value
    if (safe) return null
    const made = of.length === 0 ? invented() : undefined
    if (made !== undefined) return made
    throw new EvaluationError(`the array has ${of.length} elements, none at ${index}`)
  }
}

class NodeCall implements Call {
  readonly name: string
  readonly #evaluation: Evaluation

  constructor(evaluation: Evaluation, name: string) {
    this.#evaluation = evaluation
    this.name = name
  }

  get scope(): Scope {
    return this.#evaluation.scope
  }

  get quota(): EvaluationQuota {
    return this.#evaluation.quota
  }
}

class OpenNodeCall extends NodeCall implements LazyCall {
  readonly #own: Evaluation
  readonly #node: CallNode
  readonly #variables: Variables | undefined

  constructor(evaluation: Evaluation, node: CallNode, variables: Variables | undefined) {
    super(evaluation, node.name)
    this.#own = evaluation
    this.#node = node
    this.#variables = variables
  }

  get arguments(): readonly Expression[] {
    return this.#node.arguments
  }

  value(index: number): Json {
    const argument = this.#node.arguments[index]
    if (argument === undefined) return null
    const value = this.#own.value(argument, this.#variables)
    this.#own.at = this.#node.at
    return value
  }

  lambda(index: number, least: number, most: number): Lambda {
    const node = this.#node.arguments[index]
    const at = node?.at ?? this.#node.at
    if (node?.kind !== 'call' || node.namespace !== undefined || !isLambda(node)) {
      throw new EvaluationError(`${this.name}() expects a lambda here`, at)
    }
    const body = node.arguments.at(-1)
    const names = node.arguments.slice(0, -1).map((one) => {
      if (one.kind !== 'string') {
        throw new EvaluationError('the variables of a lambda are named by strings', one.at)
      }
      return one.value.toLowerCase()
    })
    if (body === undefined || names.length < least || names.length > most) {
      const count = least === most ? counted(least, 'variable') : `${least} to ${most} variables`
      throw new EvaluationError(`the lambda of ${this.name}() names ${count}`, at)
    }
    if (new Set(names).size < names.length) {
      throw new EvaluationError('a lambda names each of its variables once', at)
    }
    const own = this.#own
    const outer = this.#variables
    const back = this.#node.at
    return {
      arity: names.length,
      call(...values) {
        const value = own.value(body, { names, values, outer })
        own.at = back
        return value
      },
    }
  }

  variable(name: string): Json {
    const lower = name.toLowerCase()
    for (let frame = this.#variables; frame !== undefined; frame = frame.outer) {
      const index = frame.names.indexOf(lower)
      if (index >= 0) return frame.values[index] ?? null
    }
    throw new EvaluationError(`no lambda around names the variable '${name}'`, this.#node.at)
  }
}

function isLambda(node: CallNode): boolean {
  return node.name.toLowerCase() === 'lambda'
}

function known(object: { readonly [name: string]: Json }): string {
  const names = Object.keys(object)
  if (names.length === 0) return '; it has none'
  const shown = names.slice(0, 8).map((name) => `'${name.slice(0, 40)}'`)
  return `; it has ${shown.join(', ')}${names.length > shown.length ? ' and others' : ''}`
}
