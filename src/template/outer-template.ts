/**
 * Evaluates a nested template in its parent's (outer) scope. What the parent knows becomes plain data; what only
 * the nested deployment can know stays an expression. Secure values become parameters.
 */
import { compile } from './compile.ts'
import { ValueEvaluation, type Wanted } from './evaluate-value.ts'
import { callOf, type Expression } from './expression.ts'
import { fieldOf, isArray, isObject, objectOf } from './fields.ts'
import type { Json, JsonObject } from './plan.ts'
import { expressionOf, printExpression } from './print-expression.ts'
import { isDeploymentType } from './read-resources.ts'
import { childPath, type TemplatePath } from './template-path.ts'
import type { TemplateScope } from './template-scope.ts'

interface OuterTemplate {
  readonly template: JsonObject
  /** The arguments for the parameters that secure values became. */
  readonly parameters: JsonObject
}

export interface OuterEvaluation {
  readonly scope: TemplateScope
  readonly wanted: Wanted
  /** Collects problems and needs. */
  readonly whole: ValueEvaluation
}

export function outerTemplate(
  raw: JsonObject,
  path: TemplatePath | undefined,
  evaluation: OuterEvaluation,
): OuterTemplate {
  const outer = new Outer(evaluation)
  const dropped = new Set(['parameters', 'variables', 'functions'])
  const kept = Object.entries(raw).filter(([name]) => !dropped.has(name.toLowerCase()))
  const made = outer.value(objectOf(kept), path, false)
  const sections = isObject(made) ? Object.entries(made) : []
  const declared = objectOf(
    [...outer.secrets].map(([name, { type }]) => [name, objectOf([['type', type]])]),
  )
  return {
    template: objectOf([...sections, ['parameters', declared]]),
    parameters: objectOf(
      [...outer.secrets].map(([name, { value }]) => [name, objectOf([['value', value]])]),
    ),
  }
}

class Outer {
  readonly secrets = new Map<string, { readonly type: string; readonly value: Json }>()
  readonly #scope: TemplateScope
  readonly #wanted: Wanted
  readonly #whole: ValueEvaluation

  constructor({ scope, wanted, whole }: OuterEvaluation) {
    this.#scope = scope
    this.#wanted = wanted
    this.#whole = whole
  }

  value(value: Json, path: TemplatePath | undefined, isInLoop: boolean): Json {
    if (typeof value === 'string') return this.#text(value, path, isInLoop)
    if (isArray(value)) {
      return value.map((one, at) => this.value(one, childPath(path, at), isInLoop))
    }
    if (!isObject(value)) return value
    const inLoop = isInLoop || fieldOf(value, path, 'copy') !== undefined
    const entries = Object.entries(value).map(([name, one]) => {
      const at = childPath(path, name)
      const key = this.#text(name, at, inLoop)
      return [typeof key === 'string' ? key : name, this.value(one, at, inLoop)] as const
    })
    return this.#withInner(value, objectOf(entries))
  }

  /** A template with inner scope, further inside, is not evaluated by this parent. */
  #withInner(raw: JsonObject, made: JsonObject): JsonObject {
    const type = fieldOf(raw, undefined, 'type')?.value
    if (typeof type !== 'string' || !isDeploymentType(type)) return made
    const properties = fieldOf(raw, undefined, 'properties')
    const inside = properties?.value
    if (properties === undefined || !isObject(inside)) return made
    const options = fieldOf(inside, undefined, 'expressionEvaluationOptions')?.value
    const scope = isObject(options) ? fieldOf(options, undefined, 'scope')?.value : undefined
    const template = fieldOf(inside, undefined, 'template')
    const evaluated = made[properties.path.key]
    if (String(scope).toLowerCase() !== 'inner' || !template || !isObject(evaluated)) return made
    const kept = objectOf([
      ...Object.entries(evaluated),
      [String(template.path.key), template.value],
    ])
    return objectOf([...Object.entries(made), [String(properties.path.key), kept]])
  }

  #text(text: string, path: TemplatePath | undefined, isInLoop: boolean): Json {
    const read = compile(text, path, { problems: this.#wanted.problems, check: () => undefined })
    if (read.kind === 'broken') {
      this.#whole.isFailed = true
      return null
    }
    // Literals keep their escapes, because the nested deployment parses them again.
    if (read.kind !== 'expression') return text
    const { expression } = read
    if (this.#isNested(expression, isInLoop)) {
      return `[${printExpression(this.#rest(expression, path, isInLoop))}]`
    }
    const found = this.#evaluated(expression, path)
    if (found.secret !== undefined) return `[${printExpression(found.secret)}]`
    return escaped(found.value)
  }

  #evaluated(
    expression: Expression,
    path: TemplatePath | undefined,
  ): { readonly value: Json; readonly secret: Expression | undefined } {
    const one = new ValueEvaluation(this.#wanted)
    const value = one.of({ kind: 'expression', expression, path }, this.#scope)
    this.#whole.absorb(one)
    if (!one.isSecure || one.isFailed || one.isWaiting) return { value, secret: undefined }
    return { value, secret: this.#secret(value, expression.at) }
  }

  #secret(value: Json, at: number): Expression {
    const name = `secure${this.secrets.size}`
    const isText = typeof value === 'string'
    const kept = isText ? value : objectOf([['value', value]])
    this.secrets.set(name, { type: isText ? 'securestring' : 'secureobject', value: kept })
    const call = callOf(at, 'parameters', { kind: 'string', value: name, at })
    const index: Expression = { kind: 'string', value: 'value', at }
    return isText ? call : { kind: 'member', of: call, index, safe: false, at }
  }

  /** The expression with everything inserted that the parent knows. */
  #rest(expression: Expression, path: TemplatePath | undefined, isInLoop: boolean): Expression {
    if (expression.kind === 'string' || expression.kind === 'integer') return expression
    if (!this.#isNested(expression, isInLoop) && !namesLambdaVariables(expression)) {
      const found = this.#evaluated(expression, path)
      return found.secret ?? expressionOf(found.value, expression.at)
    }
    if (expression.kind === 'member') {
      const of = this.#rest(expression.of, path, isInLoop)
      return { ...expression, of, index: this.#rest(expression.index, path, isInLoop) }
    }
    const rest = expression.arguments.map((one) => this.#rest(one, path, isInLoop))
    return { ...expression, arguments: rest }
  }

  /** Whether it reads what only the nested deployment has: its loops and resources. */
  #isNested(expression: Expression, isInLoop: boolean): boolean {
    if (expression.kind === 'member') {
      return this.#isNested(expression.of, isInLoop) || this.#isNested(expression.index, isInLoop)
    }
    if (expression.kind !== 'call') return false
    if (expression.arguments.some((one) => this.#isNested(one, isInLoop))) return true
    if (expression.namespace !== undefined) return false
    const name = expression.name.toLowerCase()
    const [first] = expression.arguments
    if (name === 'copyindex') return this.#isNestedLoop(first, isInLoop)
    if (name === 'target') return true
    const asks = ['reference', 'references', 'resourceinfo'].includes(name)
    if (!asks && !name.startsWith('list')) return false
    if (first === undefined || namesLambdaVariables(first)) return false
    const probe = new ValueEvaluation({ ...this.#wanted, needs: 'none' })
    const target = probe.of({ kind: 'expression', expression: first, path: undefined }, this.#scope)
    return typeof target === 'string' && this.#scope.expansion.resources.find(target) === undefined
  }

  #isNestedLoop(first: Expression | undefined, isInLoop: boolean): boolean {
    const { loops } = this.#scope
    if (first?.kind !== 'string') return isInLoop || !loops.some((loop) => loop.isMain === true)
    return !loops.some((loop) => loop.name === first.value.toLowerCase())
  }
}

function namesLambdaVariables(expression: Expression): boolean {
  if (expression.kind === 'member') {
    return namesLambdaVariables(expression.of) || namesLambdaVariables(expression.index)
  }
  if (expression.kind !== 'call') return false
  const name = expression.name.toLowerCase()
  if (name === 'lambda' || name === 'lambdavariables') return true
  return expression.arguments.some(namesLambdaVariables)
}

/** Escapes texts that would look like expressions. */
function escaped(value: Json): Json {
  if (typeof value === 'string') return escapedText(value)
  if (isArray(value)) return value.map(escaped)
  if (!isObject(value)) return value
  return objectOf(Object.entries(value).map(([name, one]) => [escapedText(name), escaped(one)]))
}

function escapedText(text: string): string {
  return text.startsWith('[') && text.endsWith(']') ? `[${text}` : text
}
