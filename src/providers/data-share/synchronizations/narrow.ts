/**
 * What the store can say of a filter ahead of looking: a condition that every detail meets which the filter holds for.
 * What it lets through is looked at again, so it may say too little and must not say too much.
 */

import { type FieldMap, findByPath } from '#kernel/filter/field-map.ts'
import type { CompareOperator, FilterNode, LiteralNode } from '#kernel/filter/nodes.ts'
import { valueAs } from '#kernel/filter/values.ts'
import type { SqlValue } from '#stores/store.ts'
import type { Detail } from '../ledger/runs.ts'

export interface Narrowing {
  readonly text: string
  readonly values: readonly SqlValue[]
}

/** `text`: only whether there is any is asked of the store. */
interface Column {
  readonly type: 'word' | 'whole' | 'moment' | 'text'
  readonly text: string
}

/** Words of these are of ASCII alone, so that both sides fold their case alike. */
const columns: Readonly<Record<string, Column>> = {
  dataSetId: { type: 'word', text: 'data_set_id' },
  dataSetType: { type: 'word', text: 'data_set_type' },
  name: { type: 'word', text: 'name' },
  status: { type: 'word', text: 'status' },
  message: { type: 'text', text: 'message' },
  startTime: { type: 'moment', text: 'started_at' },
  endTime: { type: 'moment', text: 'ended_at' },
  filesRead: { type: 'whole', text: 'files_read' },
  filesWritten: { type: 'whole', text: 'files_written' },
  rowsRead: { type: 'whole', text: '(rows_read + live_rows_read)' },
  rowsCopied: { type: 'whole', text: '(rows_copied + live_rows_copied)' },
  sizeRead: { type: 'whole', text: '(size_read + live_size_read)' },
  sizeWritten: { type: 'whole', text: '(size_written + live_size_written)' },
}

const nothing: Narrowing = { text: '1 = 0', values: [] }

/** Undefined where nothing is known. */
export function narrow(node: FilterNode, fields: FieldMap<Detail>): Narrowing | undefined {
  const columnOf = (path: FilterNode): Column | undefined =>
    path.kind === 'path' ? findByPath(columns, path.segments, fields) : undefined

  const of = (one: FilterNode): Narrowing | undefined => {
    if (one.kind === 'in') {
      const column = columnOf(one.operand)
      if (column === undefined) return undefined
      return anyOf(one.list.map((literal) => compared(column, 'eq', literal)))
    }
    if (one.kind === 'call') {
      const [path, word] = one.arguments
      const column = path === undefined ? undefined : columnOf(path)
      if (column?.type !== 'word' || word?.kind !== 'literal') return undefined
      return searched(column, one.name.toLowerCase(), word)
    }
    if (one.kind === 'unary' && one.operator === 'not' && one.operand.kind === 'binary') {
      const { operator } = one.operand
      // Of these two alone `not` says the other one, also of what is null.
      if (operator !== 'eq' && operator !== 'ne') return undefined
      return of({ ...one.operand, operator: operator === 'eq' ? 'ne' : 'eq' })
    }
    if (one.kind !== 'binary') return undefined
    if (one.operator === 'and') {
      const [left, right] = [of(one.left), of(one.right)]
      if (left === undefined || right === undefined) return left ?? right
      return joined([left, right], 'and')
    }
    if (one.operator === 'or') return anyOf([of(one.left), of(one.right)])
    const { left, right, operator } = one
    if (right.kind === 'literal' && isCompare(operator)) {
      const column = columnOf(left)
      return column === undefined ? undefined : compared(column, operator, right)
    }
    if (left.kind === 'literal' && isCompare(operator)) {
      const column = columnOf(right)
      return column === undefined ? undefined : compared(column, mirrored[operator], left)
    }
    return undefined
  }
  return of(node)
}

const mirrored: Readonly<Record<CompareOperator, CompareOperator>> = {
  eq: 'eq',
  ne: 'ne',
  gt: 'lt',
  ge: 'le',
  lt: 'gt',
  le: 'ge',
}

function isCompare(operator: string): operator is CompareOperator {
  return Object.hasOwn(mirrored, operator)
}

function anyOf(parts: readonly (Narrowing | undefined)[]): Narrowing | undefined {
  const known = parts.filter((one) => one !== undefined)
  return known.length === parts.length ? joined(known, 'or') : undefined
}

function joined(parts: readonly Narrowing[], word: 'and' | 'or'): Narrowing {
  return {
    text: `(${parts.map(({ text }) => text).join(` ${word} `)})`,
    values: parts.flatMap(({ values }) => values),
  }
}

function wordOf({ literal }: LiteralNode): string | undefined {
  const text =
    literal.type === 'string' || literal.type === 'enum'
      ? literal.value
      : literal.type === 'guid'
        ? literal.text
        : undefined
  return text === undefined || /[^\u0020-\u007e]/.test(text) ? undefined : text.toLowerCase()
}

function compared(
  column: Column,
  operator: CompareOperator,
  literal: LiteralNode,
): Narrowing | undefined {
  const isEqual = operator === 'eq'
  if (!isEqual && operator !== 'ne') return bounded(column, operator, literal)
  if (literal.literal.type === 'null') {
    return { text: `${column.text} is ${isEqual ? '' : 'not '}null`, values: [] }
  }
  if (column.type === 'text') return undefined
  if (column.type === 'word') {
    const word = wordOf(literal)
    if (word === undefined) return undefined
    return { text: `lower(${column.text}) ${isEqual ? '=' : '<>'} ?`, values: [word] }
  }
  const value = numberOf(column, literal)
  if (value === undefined || !isEqual) return undefined
  return Number.isInteger(value) ? { text: `${column.text} = ?`, values: [value] } : nothing
}

function bounded(
  column: Column,
  operator: Exclude<CompareOperator, 'eq' | 'ne'>,
  literal: LiteralNode,
): Narrowing | undefined {
  if (column.type !== 'whole' && column.type !== 'moment') return undefined
  const value = numberOf(column, literal)
  if (value === undefined) return undefined
  const [sign, bound] = (
    {
      gt: ['>', Math.floor(value)],
      ge: ['>=', Math.ceil(value)],
      lt: ['<', Math.ceil(value)],
      le: ['<=', Math.floor(value)],
    } as const
  )[operator]
  return { text: `${column.text} ${sign} ?`, values: [bound] }
}

function numberOf(column: Column, { literal }: LiteralNode): number | undefined {
  const value = valueAs(literal, column.type === 'moment' ? 'dateTime' : 'number', true)
  const isKnown = typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER
  return isKnown ? value : undefined
}

function searched(column: Column, name: string, literal: LiteralNode): Narrowing | undefined {
  const word = wordOf(literal)?.replace(/[\\%_]/g, '\\$&')
  if (word === undefined) return undefined
  const pattern = new Map([
    ['contains', `%${word}%`],
    ['startswith', `${word}%`],
    ['endswith', `%${word}`],
  ]).get(name)
  if (pattern === undefined) return undefined
  return { text: `lower(${column.text}) like ? escape '\\'`, values: [pattern] }
}
