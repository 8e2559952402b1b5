/**
 * Evaluates checked expressions in memory over whole tables: slow and obvious, the oracle for `sql.ts`. Null
 * follows OData, as there. No request is ever answered by it.
 */

import { withoutTrailing } from '#kernel/trailing.ts'
import type { SqlRow, SqlValue } from '#stores/store.ts'
import type {
  ArithmeticExpression,
  CallExpression,
  ColumnExpression,
  CompareExpression,
  Expression,
  OrderExpression,
  Source,
} from '../compile/expression.ts'
import { type Column, type ColumnIs, decimalUnit, type Entity, noDate, noGuid } from '../entity.ts'

/** Every row of a table, or of the view that replaces it, by the table's name. */
export type Tables = (table: string) => readonly SqlRow[]

/** Values are in the stored form; conditions are true, false or unknown (null). */
type Value = SqlValue | boolean

/** The rows of an expression, by the number of their source. */
type Scope = ReadonlyMap<number, SqlRow>

/** Whether the condition is true of the row. */
export function holds(condition: Expression, row: SqlRow, tables: Tables): boolean {
  return new Evaluator(tables).value(condition, new Map([[0, row]])) === true
}

/** Negative when `left` comes first. Null comes before every value. */
export function byOrder(
  order: readonly OrderExpression[],
  tables: Tables,
): (left: SqlRow, right: SqlRow) => number {
  const evaluator = new Evaluator(tables)
  const key = ({ expression }: OrderExpression, row: SqlRow): SqlValue => {
    const value = evaluator.value(expression, new Map([[0, row]]))
    // Anything that is not true counts as false here.
    if (expression.kind === 'boolean') return value === true ? 1 : 0
    return value as SqlValue // no boolean, by its kind
  }
  return (left, right) => {
    for (const term of order) {
      const [one, other] = [key(term, left), key(term, right)]
      const found =
        one === null ? (other === null ? 0 : -1) : other === null ? 1 : compared(one, other)
      if (found !== 0) return term.descending ? -found : found
    }
    return 0
  }
}

/** The rows of a set: those of its kind, when several sets share a table. */
export function rowsOf(entity: Entity, tables: Tables): readonly SqlRow[] {
  const { discriminator: of } = entity
  return tables(entity.table.name).filter((row) => of === undefined || row[of.column] === of.value)
}

class Evaluator {
  readonly #tables: Tables

  constructor(tables: Tables) {
    this.#tables = tables
  }

  value(expression: Expression, scope: Scope): Value {
    switch (expression.form) {
      case 'constant':
        return expression.value
      case 'column':
        return this.#column(expression, scope)
      case 'related': {
        const [row] = this.#rows(expression.source, scope)
        return row === undefined
          ? null
          : this.value(expression.value, within(scope, expression, row))
      }
      case 'count':
        return this.#rows(expression.source, scope).length
      case 'any':
      case 'all': {
        const { predicate } = expression
        const meets = (row: SqlRow): boolean =>
          predicate === undefined || this.value(predicate, within(scope, expression, row)) === true
        const rows = this.#rows(expression.source, scope)
        return expression.form === 'any' ? rows.some(meets) : rows.every(meets)
      }
      case 'compare':
        return this.#compare(expression, scope)
      case 'in': {
        const value = this.value(expression.operand, scope)
        if (value === null) return expression.orNull
        // No column here holds bytes.
        return expression.values.includes(value as string | number | boolean)
      }
      case 'not': {
        const value = this.value(expression.operand, scope)
        return value === null ? null : value !== true
      }
      case 'and':
      case 'or': {
        const decisive = expression.form === 'or'
        const values = expression.terms.map((term) => this.value(term, scope))
        if (values.includes(decisive)) return decisive
        return values.includes(null) ? null : !decisive
      }
      case 'arithmetic':
        return this.#arithmetic(expression, scope)
      case 'call':
        return this.#call(expression, scope)
    }
  }

  /** The rows of a navigation, from the current row of its source. */
  #rows(source: Source, scope: Scope): readonly SqlRow[] {
    const { from } = source
    const outer = from === undefined ? undefined : scope.get(from.source.number)
    if (from === undefined || outer === undefined) throw new Error('A source hangs on no row.')
    const { local, foreign } = from.navigation.on
    return rowsOf(source.entity, this.#tables).filter(
      (row) => row[foreign] === outer[local] && row['company_id'] === outer['company_id'],
    )
  }

  #column(expression: ColumnExpression, scope: Scope): Value {
    const { source, kind } = expression
    const row = scope.get(source.number)
    if (row === undefined) throw new Error('A column is of no row.')
    if (expression.absent.some((one) => this.#is(source.entity, row, one))) return null
    const { column, join } = expression
    const cell = this.#cell(source.entity, row, join === undefined ? { column } : { column, join })
    const value = cell ?? emptyOf[kind] ?? 0
    return kind === 'boolean' ? value === 1 : value
  }

  #is(entity: Entity, row: SqlRow, one: ColumnIs): boolean {
    return this.#cell(entity, row, one) === one.value
  }

  /** Null when the join has no row. */
  #cell(entity: Entity, row: SqlRow, { column, join: name }: Column): SqlValue {
    if (name === undefined) return row[column] ?? null
    const join = entity.joins.find((one) => one.name === name)
    if (join === undefined) throw new Error(`${entity.set} has no join ${name}.`)
    const wanted = join.on.map(({ foreign, local }) => [foreign, this.#cell(entity, row, local)])
    const found = this.#tables(join.table.name).find((other) =>
      wanted.every(([foreign, cell]) => cell !== null && other[String(foreign)] === cell),
    )
    return found?.[column] ?? null
  }

  #compare({ operator, left, right }: CompareExpression, scope: Scope): Value {
    const [one, other] = [this.value(left, scope), this.value(right, scope)]
    if (operator === 'eq') return one === other
    if (operator === 'ne') return one !== other
    if (one === null || other === null) return false
    const found = compared(one, other)
    switch (operator) {
      case 'gt':
        return found > 0
      case 'ge':
        return found >= 0
      case 'lt':
        return found < 0
      case 'le':
        return found <= 0
    }
  }

  #arithmetic({ operator, left, right }: ArithmeticExpression, scope: Scope): Value {
    const [one, other] = [this.value(left, scope), this.value(right, scope)]
    if (one === null || other === null) return null
    const [a, b] = [Number(one), Number(other)]
    switch (operator) {
      case 'add':
        return a + b
      case 'sub':
        return a - b
      case 'mul':
        return a * b
      case 'div':
        return b === 0 ? null : a / b
      case 'truncdiv':
        return b === 0 ? null : Math.trunc(a / b)
      case 'mod':
        return b === 0 ? null : a - b * Math.trunc(a / b)
    }
  }

  #call(call: CallExpression, scope: Scope): Value {
    const given = call.arguments.map((one) => this.value(one, scope))
    if (given.includes(null)) return null
    const kind = call.arguments[0]?.kind
    if (call.name === 'real') return Number(given[0]) / (kind === 'decimal' ? decimalUnit : 1)
    const apply = functions[call.name]
    if (apply === undefined) throw new Error(`No meaning is known for ${call.name}.`)
    const texts = kind === 'moment' ? [dateTime(Number(given[0]))] : given.map(String)
    return apply(texts, given.map(Number))
  }
}

function within(scope: Scope, at: { readonly source: Source }, row: SqlRow): Scope {
  return new Map([...scope, [at.source.number, row]])
}

const emptyOf: Readonly<Record<string, string>> = {
  text: '',
  enum: '',
  guid: noGuid,
  date: noDate,
}

/** Numbers by size, text by code points, false before true. */
function compared(one: Value, other: Value): number {
  if (typeof one === 'string' && typeof other === 'string') return comparedTexts(one, other)
  return Number(one) - Number(other)
}

function comparedTexts(one: string, other: string): number {
  const [left, right] = [[...one], [...other]]
  for (const [at, character] of left.entries()) {
    const against = right[at]
    if (against === undefined) return 1
    const found = (character.codePointAt(0) ?? 0) - (against.codePointAt(0) ?? 0)
    if (found !== 0) return found
  }
  return left.length - right.length
}

function dateTime(at: number): string {
  return new Date(at).toISOString()
}

type Apply = (texts: readonly string[], numbers: readonly number[]) => string | number | boolean

const positionMax = 1_000_000
const position = (value: number): number => Math.min(Math.max(value, 0), positionMax)
const digits =
  (from: number, to: number): Apply =>
  ([text = '']) =>
    Number(text.slice(from, to))

/** A moment is text, `2026-01-31T12:00:00.000Z`. Only ASCII case is folded; lengths count characters. */
const functions: Readonly<Record<string, Apply>> = {
  contains: ([text = '', part = '']) => text.includes(part),
  startswith: ([text = '', part = '']) => text.startsWith(part),
  endswith: ([text = '', part = '']) => text.endsWith(part),
  tolower: ([text = '']) => text.replace(/[A-Z]/g, (one) => one.toLowerCase()),
  toupper: ([text = '']) => text.replace(/[a-z]/g, (one) => one.toUpperCase()),
  trim: ([text = '']) => withoutTrailing(text, ' \t\n\r').replace(/^[ \t\n\r]+/, ''),
  concat: ([text = '', more = '']) => text + more,
  length: ([text = '']) => [...text].length,
  indexof: ([text = '', part = '']) => {
    const at = text.indexOf(part)
    return at < 0 ? -1 : [...text.slice(0, at)].length
  },
  substring: ([text = ''], [, from = 0, length = positionMax]) =>
    [...text].slice(position(from), position(from) + position(length)).join(''),
  round: (_, [value = 0]) => Math.sign(value) * Math.floor(Math.abs(value) + 0.5),
  floor: (_, [value = 0]) => Math.floor(value),
  ceiling: (_, [value = 0]) => Math.ceil(value),
  date: ([text = '']) => text.slice(0, 10),
  year: digits(0, 4),
  month: digits(5, 7),
  day: digits(8, 10),
  hour: digits(11, 13),
  minute: digits(14, 16),
  second: digits(17, 19),
}
