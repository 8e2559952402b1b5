/**
 * Makes values of a template ready to be evaluated often: every string is read once, and what has no
 * expression in it is kept as it stands. It evaluates nothing.
 */
import { type Expression, ExpressionError, parseTemplateString } from './expression.ts'
import { isArray, isObject, objectOf } from './fields.ts'
import { type Place, placeIn } from './place.ts'
import type { Json, JsonObject } from './plan.ts'
import type { Problems } from './problems.ts'

export interface CompiledExpression {
  readonly kind: 'expression'
  readonly expression: Expression
  readonly place: Place | undefined
}

export interface CompiledCopy {
  /** The property it makes, and the name of its loop. */
  readonly name: Compiled
  readonly count: Compiled
  readonly input: Compiled
  readonly place: Place
}

export interface CompiledMember {
  readonly name: string | CompiledExpression
  readonly value: Compiled
  readonly place: Place
}

export type Compiled =
  | { readonly kind: 'static'; readonly value: Json }
  /** It could not be read, and that has been told. */
  | { readonly kind: 'broken' }
  | CompiledExpression
  | { readonly kind: 'array'; readonly items: readonly Compiled[] }
  | {
      readonly kind: 'object'
      readonly members: readonly CompiledMember[]
      readonly copies: readonly CompiledCopy[]
    }

export interface CompileParts {
  readonly problems: Problems
  /** Looks an expression over before anything is evaluated: names that are declared nowhere. */
  check(expression: Expression, place: Place | undefined): void
}

/** Is `copy` in an object a loop, or a property like any other? */
export type Loops = 'loops' | 'data'

export function compile(
  value: Json,
  place: Place | undefined,
  parts: CompileParts,
  loops: Loops = 'data',
): Compiled {
  if (typeof value === 'string') return compileString(value, place, parts)
  if (isArray(value)) return compileArray(value, place, parts, loops)
  if (isObject(value)) return compileObject(value, place, parts, loops)
  return { kind: 'static', value }
}

function compileString(
  text: string,
  place: Place | undefined,
  { problems, check }: CompileParts,
): Extract<Compiled, { kind: 'static' | 'broken' }> | CompiledExpression {
  // Most strings are no expressions.
  if (text.charCodeAt(0) !== 91) return { kind: 'static', value: text }
  try {
    const read = parseTemplateString(text)
    if (read.kind === 'literal') return { kind: 'static', value: read.value }
    check(read.expression, place)
    return { kind: 'expression', expression: read.expression, place }
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    problems.add(place, error.message, error.at)
    return { kind: 'broken' }
  }
}

function compileArray(
  value: readonly Json[],
  place: Place | undefined,
  parts: CompileParts,
  loops: Loops,
): Compiled {
  const items = value.map((one, at) => compile(one, placeIn(place, at), parts, loops))
  const still = items.every((one) => one.kind === 'static')
  if (!still) return { kind: 'array', items }
  const values = items.map((one) => one.value)
  const isSame = values.every((one, at) => one === value[at])
  return { kind: 'static', value: isSame ? value : values }
}

function compileObject(
  value: JsonObject,
  place: Place | undefined,
  parts: CompileParts,
  loops: Loops,
): Compiled {
  const copies: CompiledCopy[] = []
  const members: CompiledMember[] = []
  for (const [name, one] of Object.entries(value)) {
    const at = placeIn(place, name)
    if (loops === 'loops' && name.toLowerCase() === 'copy' && isCopy(one)) {
      for (const [index, copy] of one.entries()) {
        const made = compileCopy(copy, placeIn(at, index), parts)
        if (made !== undefined) copies.push(made)
      }
      continue
    }
    const key = compileString(name, at, parts)
    const compiled = compile(one, at, parts, loops)
    if (key.kind === 'broken') members.push({ name, value: key, place: at })
    else if (key.kind === 'expression') members.push({ name: key, value: compiled, place: at })
    else members.push({ name: String(key.value), value: compiled, place: at })
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

/** One element of a `copy` of properties or variables: name, count and input. */
export function compileCopy(
  copy: JsonObject,
  place: Place,
  parts: CompileParts,
): CompiledCopy | undefined {
  const { name, count, input } = copy
  if (name === undefined || count === undefined || input === undefined) {
    parts.problems.add(place, "an element of 'copy' needs 'name', 'count' and 'input'")
    return undefined
  }
  return {
    name: compile(name, placeIn(place, 'name'), parts),
    count: compile(count, placeIn(place, 'count'), parts),
    input: compile(input, placeIn(place, 'input'), parts, 'loops'),
    place,
  }
}
