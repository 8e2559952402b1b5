/**
 * Compiles values of a template for repeated evaluation: every string is parsed once, and a value without
 * expressions stays as it is. It evaluates nothing.
 */
import { type Expression, ExpressionError, parseTemplateString } from './expression.ts'
import { isArray, isObject, objectOf } from './fields.ts'
import type { Json, JsonObject } from './plan.ts'
import type { Problems } from './problems.ts'
import { childPath, type TemplatePath } from './template-path.ts'

export interface CompiledExpression {
  readonly kind: 'expression'
  readonly expression: Expression
  readonly path: TemplatePath | undefined
}

export interface CompiledCopy {
  /** The property that the loop makes, which is also the loop's name. */
  readonly name: Compiled
  readonly count: Compiled
  readonly input: Compiled
  readonly path: TemplatePath
}

export interface CompiledMember {
  readonly name: string | CompiledExpression
  readonly value: Compiled
  readonly path: TemplatePath
}

export type Compiled =
  | { readonly kind: 'static'; readonly value: Json }
  /** It could not be parsed, and the problem was reported. */
  | { readonly kind: 'broken' }
  | CompiledExpression
  | { readonly kind: 'array'; readonly items: readonly Compiled[] }
  | {
      readonly kind: 'object'
      readonly members: readonly CompiledMember[]
      readonly copies: readonly CompiledCopy[]
    }

export interface CompileDependencies {
  readonly problems: Problems
  /** Checks an expression for undeclared names before anything is evaluated. */
  check(expression: Expression, path: TemplatePath | undefined): void
}

/** Whether `copy` in an object is a loop or an ordinary property. */
type Loops = 'loops' | 'data'

export function compile(
  value: Json,
  path: TemplatePath | undefined,
  deps: CompileDependencies,
  loops: Loops = 'data',
): Compiled {
  if (typeof value === 'string') return compileString(value, path, deps)
  if (isArray(value)) return compileArray(value, path, deps, loops)
  if (isObject(value)) return compileObject(value, path, deps, loops)
  return { kind: 'static', value }
}

function compileString(
  text: string,
  path: TemplatePath | undefined,
  { problems, check }: CompileDependencies,
): Extract<Compiled, { kind: 'static' | 'broken' }> | CompiledExpression {
  // Most strings are no expressions.
  if (text.charCodeAt(0) !== 91) return { kind: 'static', value: text }
  try {
    const read = parseTemplateString(text)
    if (read.kind === 'literal') return { kind: 'static', value: read.value }
    check(read.expression, path)
    return { kind: 'expression', expression: read.expression, path }
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    problems.add(path, error.message, error.at)
    return { kind: 'broken' }
  }
}

function compileArray(
  value: readonly Json[],
  path: TemplatePath | undefined,
  deps: CompileDependencies,
  loops: Loops,
): Compiled {
  const items = value.map((one, at) => compile(one, childPath(path, at), deps, loops))
  const still = items.every((one) => one.kind === 'static')
  if (!still) return { kind: 'array', items }
  const values = items.map((one) => one.value)
  const isSame = values.every((one, at) => one === value[at])
  return { kind: 'static', value: isSame ? value : values }
}

function compileObject(
  value: JsonObject,
  path: TemplatePath | undefined,
  deps: CompileDependencies,
  loops: Loops,
): Compiled {
  const copies: CompiledCopy[] = []
  const members: CompiledMember[] = []
  for (const [name, one] of Object.entries(value)) {
    const at = childPath(path, name)
    if (loops === 'loops' && name.toLowerCase() === 'copy' && isCopy(one)) {
      for (const [index, copy] of one.entries()) {
        const made = compileCopy(copy, childPath(at, index), deps)
        if (made !== undefined) copies.push(made)
      }
      continue
    }
    const key = compileString(name, at, deps)
    const compiled = compile(one, at, deps, loops)
    if (key.kind === 'broken') members.push({ name, value: key, path: at })
    else if (key.kind === 'expression') members.push({ name: key, value: compiled, path: at })
    else members.push({ name: String(key.value), value: compiled, path: at })
  }
  const isStill = copies.length === 0 && members.every(isStatic)
  if (!isStill) return { kind: 'object', members, copies }
  const isSame = members.every(
    ({ name, value: one }) =>
      typeof name === 'string' && one.kind === 'static' && value[name] === one.value,
  )
  if (isSame) return { kind: 'static', value }
  return {
    kind: 'static',
    value: objectOf(
      members.flatMap(({ name, value: one }) =>
        typeof name === 'string' && one.kind === 'static' ? [[name, one.value] as const] : [],
      ),
    ),
  }
}

function isStatic({ name, value }: CompiledMember): boolean {
  return typeof name === 'string' && value.kind === 'static'
}

function isCopy(value: Json): value is readonly JsonObject[] {
  return isArray(value) && value.length > 0 && value.every((one) => isObject(one) && 'count' in one)
}

/** An element of a `copy` of properties or variables: name, count and input. */
export function compileCopy(
  copy: JsonObject,
  path: TemplatePath,
  deps: CompileDependencies,
): CompiledCopy | undefined {
  const { name, count, input } = copy
  if (name === undefined || count === undefined || input === undefined) {
    deps.problems.add(path, "an element of 'copy' needs 'name', 'count' and 'input'")
    return undefined
  }
  return {
    name: compile(name, childPath(path, 'name'), deps),
    count: compile(count, childPath(path, 'count'), deps),
    input: compile(input, childPath(path, 'input'), deps, 'loops'),
    path,
  }
}
