/**
 * Turns a filter into a function of an item, which decides, and a condition on columns, which every matching row
 * meets. The condition may accept too many rows, never too few; the function is applied to what the store finds. A
 * test of each area compares the two.
 */

import type { Expression, SqlBool, Sql as SqlTag } from 'kysely'
import { compileFilter } from '#kernel/filter/evaluate.ts'
import { type FieldMap, findByPath } from '#kernel/filter/field-map.ts'
import type { CompareOperator, FilterNode, LiteralNode } from '#kernel/filter/nodes.ts'
import { parseFilter } from '#kernel/filter/parse.ts'
import type { FilterProblem } from '#kernel/filter/problem.ts'
import { lenientProfile } from '#kernel/filter/profile.ts'
import { valueAs } from '#kernel/filter/values.ts'

/** How the store holds a field. `text` is SQL from our own sources: a column or an expression. */
type FilterColumn =
  /** ASCII text that is never null, compared without regard to case. */
  | { readonly kind: 'word'; readonly text: string }
  /** Text in lower case. Only equality is pushed down: for a reader who may not see the field, `ne` holds. */
  | { readonly kind: 'folded'; readonly text: string }
  /** Values in lower case as `|a|b|`; `fold` converts a literal. Only equality is pushed down. */
  | { readonly kind: 'list'; readonly text: string; fold(value: string): string }
  /** Whole numbers. With a `scale`, the column holds the filter's number times the scale. */
  | { readonly kind: 'whole' | 'moment'; readonly text: string; readonly scale?: number }
  | { readonly kind: 'real'; readonly text: string }
  /** Only the presence of a value is pushed down. */
  | { readonly kind: 'presence'; readonly text: string }

export type FilterColumns = Readonly<Record<string, FilterColumn>>

export type Condition = Expression<SqlBool>

/** Writes the condition later; undefined where the columns say nothing. */
export type ConditionWriter = (sql: SqlTag) => Condition | undefined

export interface Predicate<T> {
  readonly ok: true
  readonly node: FilterNode
  matches(item: T): boolean
  readonly condition: ConditionWriter
}

export function parsePredicate<T>(
  text: string,
  fields: FieldMap<T>,
  columns: FilterColumns,
): Predicate<T> | FilterProblem {
  const parsed = parseFilter(text, lenientProfile)
  if (!parsed.ok) return parsed
  const compiled = compileFilter(parsed.node, fields)
  if (!compiled.ok) return compiled
  const columnOf = columnFinder(columns, fields)
  return {
    ok: true,
    node: parsed.node,
    matches: compiled.matches,
    condition: (sql) => pushdown(sql, parsed.node, columnOf),
  }
}

type ColumnFinder = (node: FilterNode) => FilterColumn | undefined

function columnFinder(
  columns: FilterColumns,
  map: Pick<FieldMap<unknown>, 'lenient' | 'optionalPrefix'>,
): ColumnFinder {
  return (node) => (node.kind === 'path' ? findByPath(columns, node.segments, map) : undefined)
}

const swapped: Readonly<Record<CompareOperator, CompareOperator>> = {
  eq: 'eq',
  ne: 'ne',
  gt: 'lt',
  ge: 'le',
  lt: 'gt',
  le: 'ge',
}

/** The part of a filter that the store can evaluate; undefined when there is none. */
function pushdown(sql: SqlTag, node: FilterNode, columnOf: ColumnFinder): Condition | undefined {
  switch (node.kind) {
    case 'in': {
      const column = columnOf(node.operand)
      if (column === undefined) return undefined
      return anyOf(
        sql,
        node.list.map((literal) => compared(sql, column, 'eq', literal)),
      )
    }
    case 'call': {
      const [path, word] = node.arguments
      const column = path === undefined ? undefined : columnOf(path)
      if (column?.kind !== 'word' || word?.kind !== 'literal') return undefined
      return searched(sql, column, node.name.toLowerCase(), word)
    }
    case 'unary': {
      const { operator, operand } = node
      if (operator !== 'not' || operand.kind !== 'binary') return undefined
      // `not` turns only `eq` and `ne` into each other for null as well.
      if (operand.operator !== 'eq' && operand.operator !== 'ne') return undefined
      const opposite = operand.operator === 'eq' ? 'ne' : 'eq'
      return pushdown(sql, { ...operand, operator: opposite }, columnOf)
    }
    case 'binary': {
      const { operator, left, right } = node
      if (operator === 'and' || operator === 'or') {
        const sides = [pushdown(sql, left, columnOf), pushdown(sql, right, columnOf)]
        return operator === 'or' ? anyOf(sql, sides) : allOf(sql, sides)
      }
      if (!isComparison(operator)) return undefined
      const [path, literal] = right.kind === 'literal' ? [left, right] : [right, left]
      const column = columnOf(path)
      if (column === undefined || literal.kind !== 'literal') return undefined
      return compared(sql, column, literal === right ? operator : swapped[operator], literal)
    }
    default:
      return undefined
  }
}

function isComparison(operator: string): operator is CompareOperator {
  return Object.hasOwn(swapped, operator)
}

/** The conjunction of the known conditions; undefined when none is known. */
export function allOf(
  sql: SqlTag,
  conditions: readonly (Condition | undefined)[],
): Condition | undefined {
  const known = conditions.filter((one) => one !== undefined)
  if (known.length < 2) return known[0]
  return sql<SqlBool>`(${sql.join(known, sql` and `)})`
}

/** The disjunction; undefined unless all are known. */
function anyOf(sql: SqlTag, conditions: readonly (Condition | undefined)[]): Condition | undefined {
  const known = conditions.filter((one) => one !== undefined)
  if (known.length < conditions.length) return undefined
  return sql<SqlBool>`(${sql.join(known, sql` or `)})`
}

function compared(
  sql: SqlTag,
  column: FilterColumn,
  operator: CompareOperator,
  literal: LiteralNode,
): Condition | undefined {
  const cell = sql.raw(column.text)
  const isEquality = operator === 'eq' || operator === 'ne'
  if (column.kind === 'folded' || column.kind === 'list') {
    return operator === 'eq' ? oneOf(sql, column, literal) : undefined
  }
  if (literal.literal.type === 'null') {
    if (!isEquality) return undefined
    return operator === 'eq' ? sql<SqlBool>`${cell} is null` : sql<SqlBool>`${cell} is not null`
  }
  if (column.kind === 'presence') return undefined
  if (column.kind === 'word') {
    const word = isEquality ? wordOf(literal) : undefined
    if (word === undefined) return undefined
    return sql<SqlBool>`lower(${cell}) ${sql.raw(signs[operator])} ${word}`
  }
  // `ne` holds for null, which the store would leave out.
  if (operator === 'ne') return undefined
  const value = numberOf(column, literal)
  if (value === undefined) return undefined
  const sign = sql.raw(signs[operator])
  if (column.kind === 'real') return sql<SqlBool>`${cell} ${sign} ${value}`
  if (operator === 'eq') {
    if (!Number.isInteger(value)) return sql<SqlBool>`1 = 0`
    return Number.isSafeInteger(value) ? sql<SqlBool>`${cell} = ${value}` : undefined
  }
  const bound = operator === 'ge' || operator === 'lt' ? Math.ceil(value) : Math.floor(value)
  return sql<SqlBool>`${cell} ${sign} ${Math.max(-wholeMax, Math.min(wholeMax, bound))}`
}

const signs = { eq: '=', ne: '<>', gt: '>', ge: '>=', lt: '<', le: '<=' } as const

/** Larger than every number and moment in a column, and still exact in both stores. */
const wholeMax = Number.MAX_SAFE_INTEGER

function oneOf(
  sql: SqlTag,
  column: Extract<FilterColumn, { readonly kind: 'folded' | 'list' }>,
  { literal }: LiteralNode,
): Condition | undefined {
  // No stored text contains NUL.
  if (literal.type !== 'string' || literal.value.includes('\0')) return undefined
  const cell = sql.raw(column.text)
  if (column.kind === 'folded') return sql<SqlBool>`${cell} = ${literal.value.toLowerCase()}`
  return like(sql, column, `%|${escaped(column.fold(literal.value))}|%`)
}

/** Only ASCII: each store folds other letters differently. */
function wordOf({ literal }: LiteralNode): string | undefined {
  const text =
    literal.type === 'string' || literal.type === 'enum'
      ? literal.value
      : literal.type === 'guid'
        ? literal.text
        : undefined
  return text === undefined || /[^\u0020-\u007e]/.test(text) ? undefined : text.toLowerCase()
}

function numberOf(column: FilterColumn, { literal }: LiteralNode): number | undefined {
  const value = valueAs(literal, column.kind === 'moment' ? 'dateTime' : 'number', true)
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined
  const scale = column.kind === 'whole' ? (column.scale ?? 1) : 1
  return scale === 1 ? value : roundNearWhole(value * scale)
}

/** 12.34 × 10,000 differs from 123,400 by a rounding error. */
export function roundNearWhole(value: number): number {
  const whole = Math.round(value)
  return Math.abs(value - whole) < 1e-6 * Math.max(1, Math.abs(value) / 1e6) ? whole : value
}

function searched(
  sql: SqlTag,
  column: FilterColumn,
  name: string,
  literal: LiteralNode,
): Condition | undefined {
  const given = wordOf(literal)
  if (given === undefined) return undefined
  const word = escaped(given)
  const pattern = new Map([
    ['contains', `%${word}%`],
    ['startswith', `${word}%`],
    ['endswith', `%${word}`],
  ]).get(name)
  if (pattern === undefined) return undefined
  return like(sql, { text: `lower(${column.text})` }, pattern)
}

function like(sql: SqlTag, { text }: { readonly text: string }, pattern: string): Condition {
  return sql<SqlBool>`${sql.raw(text)} like ${pattern} escape '\\'`
}

function escaped(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}
