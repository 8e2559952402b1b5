/**
 * Turns the query of a list into a question for the ledger: which dimensions, which columns within which bounds, in
 * which order, and what must be checked entry by entry. It refuses what it does not understand.
 */

import { compileFilter } from '#kernel/filter/evaluate.ts'
import { findByPath } from '#kernel/filter/field-map.ts'
import type { CompareOperator, FilterNode, LiteralNode } from '#kernel/filter/nodes.ts'
import { compileOrderBy, parseOrderBy } from '#kernel/filter/order-by.ts'
import { parseFilter } from '#kernel/filter/parse.ts'
import { lenientProfile } from '#kernel/filter/profile.ts'
import { pathsOf, termsOf } from '#kernel/filter/rows.ts'
import { valueAs } from '#kernel/filter/values.ts'
import { roundNearWhole } from '#query/predicate.ts'
import { emptyCells } from '#query/table.ts'
import type { SqlValue } from '#stores/store.ts'
import { refuseBilling } from '../../errors.ts'
import { entries } from '../tables.ts'
import type { Dimension, Entry, Statement } from './entry.ts'
import type { LedgerField, LedgerFields } from './fields.ts'

/** A condition on columns only. What it accepts is checked again. */
export interface Condition {
  readonly column: string
  readonly text: string
  readonly values: readonly SqlValue[]
}

export interface OrderTerm {
  readonly field: LedgerField
  readonly descending: boolean
}

export interface LedgerQuery {
  readonly conditions: readonly Condition[]
  /** Evaluates the terms that depend only on the dimension. */
  ofDimension(dimension: Dimension, statement: Statement): boolean
  readonly asksDimensions: boolean
  /** Evaluates the whole filter. */
  holds(entry: Entry): boolean
  /** Whether something depends on neither dimensions nor conditions. */
  readonly needsEntries: boolean
  /** The filter's text as sent. */
  readonly filterText: string
  readonly order: readonly OrderTerm[]
  readonly orderText: string
  /** Compares by all terms of the order; 0 when all are equal. */
  compare(a: Entry, b: Entry): number
  /** Compares by this number of leading terms. */
  compareFirst(terms: number, a: Entry, b: Entry): number
}

export const noRow = entries.row(emptyCells(entries))

export function parseLedgerQuery(
  fields: LedgerFields,
  filter: string | null,
  orderBy: string | null,
): LedgerQuery {
  const parsed = filterOf(fields, filter)
  const terms = parsed === undefined ? [] : termsOf(parsed.node)
  const ofDimension: ((entry: Entry) => boolean)[] = []
  const conditions: Condition[] = []
  let needsEntries = false
  for (const term of terms) {
    if (isAboutDimensions(fields, term)) {
      const compiled = compileFilter(term, fields.map)
      if (!compiled.ok) throw refuseBilling.InvalidFilter({ reason: compiled.message })
      ofDimension.push(compiled.matches)
      continue
    }
    const condition = conditionOf(fields, term)
    if (condition === undefined) needsEntries = true
    else conditions.push(condition)
  }
  const order = orderOf(fields, orderBy)
  return {
    conditions,
    asksDimensions: ofDimension.length > 0,
    ofDimension: (dimension, statement) =>
      ofDimension.every((holds) => holds({ row: noRow, dimension, statement })),
    holds: parsed?.matches ?? (() => true),
    needsEntries,
    filterText: filter ?? '',
    order: order.terms,
    orderText: orderBy ?? '',
    compare: order.compare,
    compareFirst: (terms, a, b) => order.comparisons[terms - 1]?.(a, b) ?? 0,
  }
}

function filterOf(
  { map }: LedgerFields,
  filter: string | null,
): { readonly node: FilterNode; readonly matches: (entry: Entry) => boolean } | undefined {
  if (filter === null || filter.trim() === '') return undefined
  const parsed = parseFilter(filter, lenientProfile)
  if (!parsed.ok) throw refuseBilling.InvalidFilter({ reason: parsed.message })
  const compiled = compileFilter(parsed.node, map)
  if (!compiled.ok) throw refuseBilling.InvalidFilter({ reason: compiled.message })
  return { node: parsed.node, matches: compiled.matches }
}

function orderOf(
  { map }: LedgerFields,
  orderBy: string | null,
): {
  readonly terms: readonly OrderTerm[]
  readonly compare: (a: Entry, b: Entry) => number
  /** Comparisons by the first term, the first two, and so on. */
  readonly comparisons: readonly ((a: Entry, b: Entry) => number)[]
} {
  const text = orderBy === null || orderBy.trim() === '' ? 'properties/date desc' : orderBy
  const parsed = parseOrderBy(text, lenientProfile)
  if (!parsed.ok) throw refuseBilling.InvalidOrderBy({ reason: parsed.message })
  const compiled = compileOrderBy(parsed.terms, map)
  if (!compiled.ok) throw refuseBilling.InvalidOrderBy({ reason: compiled.message })
  const terms = parsed.terms.map(({ path, direction }) => ({
    // The order was compiled, so every term names a field of the list.
    field: findByPath(map.fields, path.segments, map) as LedgerField,
    descending: direction === 'desc',
  }))
  const comparisons = parsed.terms.map((_, at) => {
    const part = compileOrderBy(parsed.terms.slice(0, at + 1), map)
    // It is a part of what was just compiled.
    if (!part.ok) throw new Error(part.message)
    return part.compare
  })
  return { terms, compare: compiled.compare, comparisons }
}

function fieldOf({ map }: LedgerFields, node: FilterNode): LedgerField | undefined {
  if (node.kind !== 'path') return undefined
  // The map's fields are the list's.
  return findByPath(map.fields, node.segments, map) as LedgerField | undefined
}

function isAboutDimensions(fields: LedgerFields, term: FilterNode): boolean {
  return pathsOf(term).every((path) => {
    const place = fieldOf(fields, path)?.place.kind
    return place === 'dimension' || place === 'statement'
  })
}

const flipped: Readonly<Record<CompareOperator, CompareOperator>> = {
  eq: 'eq',
  ne: 'ne',
  gt: 'lt',
  ge: 'le',
  lt: 'gt',
  le: 'ge',
}

function conditionOf(fields: LedgerFields, term: FilterNode): Condition | undefined {
  if (term.kind === 'in') {
    const column = columnOf(fieldOf(fields, term.operand))
    if (column === undefined) return undefined
    const values = term.list.map((node) => boundOf(column, node))
    if (values.some((value) => typeof value !== 'number' || !fits(column, value))) return undefined
    const marks = values.map(() => '?').join(', ')
    return { column: column.name, text: `${column.name} in (${marks})`, values: values as number[] }
  }
  if (term.kind !== 'binary') return undefined
  const [left, right] = [fieldOf(fields, term.left), fieldOf(fields, term.right)]
  const operator = term.operator
  if (!(operator in flipped)) return undefined
  // It was just found among the comparisons.
  const compare = operator as CompareOperator
  if (left !== undefined && term.right.kind === 'literal') {
    return compared(columnOf(left), compare, term.right)
  }
  if (right !== undefined && term.left.kind === 'literal') {
    return compared(columnOf(right), flipped[compare], term.left)
  }
  return undefined
}

interface Column {
  readonly name: string
  readonly field: LedgerField
  readonly whole: boolean
  readonly scale: number
}

/** Numbers and moments only; texts are compared entry by entry, since case may not count. */
function columnOf(field: LedgerField | undefined): Column | undefined {
  if (field === undefined || field.place.kind !== 'column') return undefined
  if (field.type !== 'number' && field.type !== 'dateTime') return undefined
  const { column, scale } = field.place
  const whole = scale !== undefined || field.type === 'dateTime' || field.integer === true
  return { name: column, field, whole, scale: scale ?? 1 }
}

/** In the column's form; undefined when it has none. */
function boundOf(column: Column, node: LiteralNode): number | null | undefined {
  const value = valueAs(node.literal, column.field.type, true)
  if (value === null) return null
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined
  return column.scale === 1 ? value : roundNearWhole(value * column.scale)
}

/** Larger than every amount and moment, and still a whole number in both dialects. */
const beyond = 9_007_199_254_740_991

function fits(column: Column, value: number): boolean {
  return !column.whole || Number.isSafeInteger(value)
}

function compared(
  column: Column | undefined,
  operator: CompareOperator,
  node: LiteralNode,
): Condition | undefined {
  if (column === undefined) return undefined
  const { name } = column
  const value = boundOf(column, node)
  if (value === undefined) return undefined
  if (value === null) {
    if (operator === 'eq') return { column: name, text: `${name} is null`, values: [] }
    if (operator === 'ne') return { column: name, text: `${name} is not null`, values: [] }
    return undefined
  }
  // `ne` accepts null, so it is checked entry by entry.
  if (operator === 'ne') return undefined
  if (!column.whole) return { column: name, text: `${name} ${signs[operator]} ?`, values: [value] }
  if (operator === 'eq') {
    if (!Number.isSafeInteger(value)) return undefined
    return { column: name, text: `${name} = ?`, values: [value] }
  }
  const up = operator === 'ge' || operator === 'lt'
  const whole = Math.max(-beyond, Math.min(beyond, up ? Math.ceil(value) : Math.floor(value)))
  return { column: name, text: `${name} ${signs[operator]} ?`, values: [whole] }
}

const signs = { eq: '=', gt: '>', ge: '>=', lt: '<', le: '<=' } as const
