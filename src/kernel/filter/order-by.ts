/**
 * `$orderby`: fields with directions, read by the filter's lexer and compiled to a comparison of two items.
 * Only fields may be ordered by; expressions are refused, but by `parseOrder`.
 */

import { type FieldMap, findByPath } from './field-map.ts'
import type { Value } from './functions.ts'
import { checkText, nextToken, type Token } from './lexer.ts'
import type { PathNode } from './nodes.ts'
import { describeToken, orderTermsMax } from './parse.ts'
import { type FilterProblem, filterProblem, quoted } from './problem.ts'
import type { FilterProfile } from './profile.ts'
import { heldValue } from './values.ts'

export interface OrderTerm {
  readonly path: PathNode
  readonly direction: 'asc' | 'desc'
}

type ParsedOrderBy = { readonly ok: true; readonly terms: readonly OrderTerm[] } | FilterProblem

/** Parses `date desc, name`. It never throws. */
export function parseOrderBy(text: string, profile: FilterProfile): ParsedOrderBy {
  const unfit = checkText(text, profile)
  if (unfit !== undefined) return unfit
  const terms: OrderTerm[] = []
  let token: Token = nextToken(text, 0, profile)
  for (;;) {
    if (terms.length >= orderTermsMax) {
      return filterProblem(token.position, `at most ${orderTermsMax} fields`, 'more')
    }
    const { position } = token
    const segments: string[] = []
    for (;;) {
      if (token.kind !== 'word') return refused(token, 'the name of a field')
      segments.push(...(profile.oldForms ? token.text.split('.') : [token.text]))
      token = nextToken(text, token.end, profile)
      if (!isMark(token, '/')) break
      token = nextToken(text, token.end, profile)
    }
    const direction = directionOf(token, profile)
    if (direction !== undefined) token = nextToken(text, token.end, profile)
    const path = Object.freeze({
      kind: 'path' as const,
      segments: Object.freeze(segments),
      position,
    })
    terms.push(Object.freeze({ path, direction: direction ?? 'asc' }))
    if (token.kind === 'end') return { ok: true, terms: Object.freeze(terms) }
    if (!isMark(token, ',')) return refused(token, '"asc", "desc", "," or the end of the text')
    token = nextToken(text, token.end, profile)
  }
}

function directionOf(token: Token, profile: FilterProfile): 'asc' | 'desc' | undefined {
  if (token.kind !== 'word') return undefined
  const text = profile.anyCase ? token.text.toLowerCase() : token.text
  return text === 'asc' || text === 'desc' ? text : undefined
}

function isMark(token: Token, text: string): boolean {
  return token.kind === 'punctuation' && token.text === text
}

function refused(token: Token, expected: string): FilterProblem {
  if (token.kind === 'bad') return token.problem
  return filterProblem(token.position, expected, describeToken(token))
}

type CompiledOrderBy<T> =
  | { readonly ok: true; readonly compare: (left: T, right: T) => number }
  | FilterProblem

/** Null comes before every value, as OData requires. Equal items keep their order (stable sort). */
export function compileOrderBy<T>(
  terms: readonly OrderTerm[],
  fields: FieldMap<T>,
): CompiledOrderBy<T> {
  const comparisons: ((left: T, right: T) => number)[] = []
  for (const { path, direction } of terms) {
    const field = findByPath(fields.fields, path.segments, fields)
    if (field === undefined || field.rows !== undefined) {
      const known = Object.keys(fields.fields).filter((one) => !fields.fields[one]?.rows)
      const expected = `a field to order by (${known.sort().join(', ')})`
      return filterProblem(path.position, expected, quoted(path.segments.join('/')))
    }
    const sign = direction === 'desc' ? -1 : 1
    const value = (item: T): Value => {
      const held = heldValue(field.type, field.read(item))
      return field.ignoreCase && typeof held === 'string' ? held.toLowerCase() : held
    }
    comparisons.push((left, right) => sign * order(value(left), value(right)))
  }
  return {
    ok: true,
    compare: (left, right) => {
      for (const comparison of comparisons) {
        const result = comparison(left, right)
        if (result !== 0) return result
      }
      return 0
    },
  }
}

function order(left: Value, right: Value): number {
  if (left === right) return 0
  if (left === null) return -1
  if (right === null) return 1
  return left < right ? -1 : left > right ? 1 : 0
}
