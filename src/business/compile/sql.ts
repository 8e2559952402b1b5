/**
 * Writes checked expressions as SQL for either store, with values only as parameters. Text is compared by code
 * points. Null follows OData: `eq` and `ne` treat it as a value, order comparisons with it are false, and `and`,
 * `or`, `not` are three-valued.
 */

import type { SqlValue } from '#stores/store.ts'
import {
  type Column,
  type ColumnIs,
  type Entity,
  type Field,
  type Join,
  noDate,
  noGuid,
  type Period,
} from '../entity.ts'
import { asNumber, isLargeSum, withinTime } from '../tables.ts'
import type {
  ArithmeticExpression,
  CallExpression,
  ColumnExpression,
  CompareExpression,
  ConstantExpression,
  Expression,
  InExpression,
  Kind,
  OrderExpression,
  Source,
} from './expression.ts'
import {
  bare,
  between,
  computed,
  type Dialect,
  type Fragment,
  joined,
  parameter,
  type SqlContext,
} from './fragment.ts'
import { callOf } from './sql-functions.ts'

const comparisons = { eq: '=', ne: '<>', gt: '>', ge: '>=', lt: '<', le: '<=' } as const

const emptyOf: Partial<Readonly<Record<Kind, string>>> = {
  text: "''",
  enum: "''",
  guid: `'${noGuid}'`,
  date: `'${noDate}'`,
}

/** The expressions of one statement; collects the joins they need. */
export class SqlWriter {
  readonly #dialect: Dialect
  /** One moment for the whole statement. */
  readonly #now: number
  readonly #joins = new Map<number, Set<string>>()
  /** Sources that need a column which only their view has. */
  readonly #viewed = new Set<number>()
  readonly #period: Period | undefined

  /** `period`: of the values that the view of the requested rows computes. */
  constructor({ dialect, clock }: SqlContext, period?: Period) {
    this.#period = period
    this.#dialect = dialect
    this.#now = clock.now()
  }

  /** The name of a source's table in the statement. */
  alias(source: Source): string {
    return `t${source.number}`
  }

  column(source: Source, { column, join }: Column): string {
    if (join === undefined) {
      if (source.entity.view?.columns.has(column) === true) this.#viewed.add(source.number)
      const text = `${this.alias(source)}.${column}`
      return isLargeSum(source.entity.table, column) ? asNumber(text) : text
    }
    const used = this.#joins.get(source.number) ?? new Set()
    used.add(join)
    this.#joins.set(source.number, used)
    return `${this.alias(source)}_${join}.${column}`
  }

  /** `table as t0 left join …`, with every join and column used so far, so call it last. */
  from(source: Source): string {
    const needed = neededJoins(source.entity, this.#joins.get(source.number) ?? new Set())
    const name = this.alias(source)
    const parts = needed.map((join) => {
      const on = join.on
        .map(
          ({ foreign, local }) => `${name}_${join.name}.${foreign} = ${this.column(source, local)}`,
        )
        .join(' and ')
      return ` left join ${join.table.name} as ${name}_${join.name} on ${on}`
    })
    const { table, view } = source.entity
    const isViewed = view !== undefined && this.#viewed.has(source.number)
    const period = source.number === 0 ? this.#period : undefined
    const rows = isViewed ? `(${view.select(this.#dialect, this.#now, period)})` : table.name
    return `${rows} as ${name}${parts.join('')}`
  }

  /** The condition for rows of the source's own set. */
  ofSet(source: Source): readonly Fragment[] {
    const { discriminator } = source.entity
    if (discriminator === undefined) return []
    const column = `${this.alias(source)}.${discriminator.column}`
    return [joined(`${column} = `, this.parameter('text', discriminator.value))]
  }

  /** What ends the statement when it has looked at rows of the source for too long. */
  withinTime(source: Source): readonly Fragment[] {
    // One that each index has: SQLite first passes over the rows that do not meet what it can tell by the index alone.
    const ofView = source.from?.navigation.on.foreign ?? 'company_id'
    const column = source.entity.view === undefined ? 'rowid' : ofView
    return withinTime(this.#dialect, `${this.alias(source)}.${column}`).map(bare)
  }

  /** The column, for which no index is used: what else is wanted finds few rows. */
  withoutIndex(column: string): string {
    // It has no statistics, and takes an index that has the rows in order for the best one.
    return this.#dialect === 'postgres' ? column : `+${column}`
  }

  parameter(kind: Kind, value: SqlValue): Fragment {
    return parameter(this.#dialect, kind, value)
  }

  /** An expression as a condition of `where`. */
  condition(expression: Expression): Fragment {
    switch (expression.form) {
      case 'constant':
        return bare(this.#truth(expression.value))
      case 'column':
        return joined('(', this.#column(expression), ' = 1)')
      case 'not':
        return joined('(not ', this.condition(expression.operand), ')')
      case 'and':
      case 'or': {
        const terms = expression.terms.map((term) => this.condition(term))
        return joined('(', between(` ${expression.form} `, terms), ')')
      }
      case 'compare':
        return this.#compare(expression)
      case 'in':
        return this.#in(expression)
      case 'any':
      case 'all': {
        const { source, predicate, form } = expression
        const meets = predicate === undefined ? undefined : this.condition(predicate)
        const wanted =
          meets === undefined ? [] : [form === 'any' ? meets : joined('(', meets, ') is not true')]
        const rows = this.#rowsOf(source, bare('1'), [...this.withinTime(source), ...wanted])
        return joined(form === 'any' ? 'exists (' : 'not exists (', rows, ')')
      }
      case 'related':
        return this.#related(expression.source, this.condition(expression.value))
      case 'call':
        return this.#call(expression)
      default:
        throw new Error(`A ${expression.form} is no condition.`)
    }
  }

  /** An expression as a value in the form of its kind; a boolean one as a condition. */
  value(expression: Expression): Fragment {
    if (expression.kind === 'boolean') return this.condition(expression)
    switch (expression.form) {
      case 'constant':
        // Booleans were handled above.
        return expression.value === null
          ? bare('null')
          : this.parameter(expression.kind, expression.value as string | number)
      case 'column':
        return this.#column(expression)
      case 'related':
        return this.#related(expression.source, this.value(expression.value))
      case 'count':
        return joined(
          '(',
          this.#rowsOf(expression.source, bare('count(*)'), this.withinTime(expression.source)),
          ')',
        )
      case 'arithmetic':
        return this.#arithmetic(expression)
      case 'call':
        return this.#call(expression)
      default:
        throw new Error(`A ${expression.form} is a condition, not a ${expression.kind}.`)
    }
  }

  /** Terms of `order by`; null comes before every value. */
  order(terms: readonly OrderExpression[]): Fragment {
    const parts = terms.map(({ expression, descending }) => {
      const value = this.sortable(expression)
      const nulls = expression.nullable ? (descending ? ' nulls last' : ' nulls first') : ''
      return joined(value, descending ? ' desc' : '', nulls)
    })
    return between(', ', parts)
  }

  /** The value that rows are ordered by. */
  sortable(expression: Expression): Fragment {
    if (expression.kind !== 'boolean') return this.#collated(expression)
    // Both stores can order booleans, but only a number fits into a token and can be compared again.
    return joined('case when ', this.condition(expression), ' then 1 else 0 end')
  }

  #collated(expression: Expression): Fragment {
    const value = this.value(expression)
    const isText = ['text', 'guid', 'date', 'enum'].includes(expression.kind)
    return this.#dialect === 'postgres' && isText ? joined(value, ' collate "C"') : value
  }

  #truth(value: ConstantExpression['value']): string {
    if (value === null) return this.#dialect === 'postgres' ? 'null::boolean' : 'null'
    return value === true ? '(1 = 1)' : '(1 = 0)'
  }

  #column(expression: ColumnExpression): Fragment {
    const { source, join, column, kind } = expression
    const place = join === undefined ? { column } : { column, join }
    const name = this.column(source, place)
    // A missing row of a join reads as the empty value.
    const empty = emptyOf[kind] ?? '0'
    const value = bare(join === undefined ? name : `coalesce(${name}, ${empty})`)
    if (expression.absent.length === 0) return value
    const absent = expression.absent.map((one) => this.#is(source, one))
    return joined('case when ', between(' or ', absent), ' then null else ', value, ' end')
  }

  #is(source: Source, one: ColumnIs): Fragment {
    const name = this.column(source, one)
    if (one.value === null) return bare(`${name} is null`)
    const kind = typeof one.value === 'number' ? 'integer' : 'text'
    return joined(`${name} = `, this.parameter(kind, one.value))
  }

  #compare({ operator, left, right }: CompareExpression): Fragment {
    const ordering = operator !== 'eq' && operator !== 'ne'
    const isNull = (one: Expression): boolean => one.form === 'constant' && one.value === null
    if (ordering) {
      if (isNull(left) || isNull(right)) return bare('(1 = 0)')
      const sides = [this.#collated(left), this.#collated(right)] as const
      const text = joined(sides[0], ` ${comparisons[operator]} `, sides[1])
      if (!left.nullable && !right.nullable) return joined('(', text, ')')
      return joined('coalesce(', text, this.#dialect === 'postgres' ? ', false)' : ', 0)')
    }
    if (isNull(right) || isNull(left)) {
      const other = isNull(right) ? left : right
      const is = operator === 'eq' ? ' is null)' : ' is not null)'
      return isNull(left) && isNull(right)
        ? bare(operator === 'eq' ? '(1 = 1)' : '(1 = 0)')
        : joined('((', this.value(other), ')', is)
    }
    const made = operator === 'eq' && right.form === 'constant' ? madeBy(left) : undefined
    if (made !== undefined && right.form === 'constant') {
      return this.#made(made.source, made.by, made, [String(right.value)])
    }
    const [one, other] = [this.value(left), this.value(right)]
    if (!left.nullable && !right.nullable) {
      return joined('(', one, ` ${comparisons[operator]} `, other, ')')
    }
    const is = operator === 'eq' ? ' is not distinct from ' : ' is distinct from '
    return joined('(', one, is, other, ')')
  }

  /** A field of the source is equal to a value of its kind. */
  equal(source: Source, field: Field, value: string | number): Fragment {
    if (field.made !== undefined) return this.#made(source, field.made, field, [String(value)])
    const kind = typeof value === 'number' ? 'integer' : 'text'
    return joined(`${this.column(source, field)} = `, this.parameter(kind, value))
  }

  /** A composed column equals one of these texts; the index of its parts finds it. */
  #made(
    source: Source,
    [text, number]: readonly [string, string],
    { column }: Column,
    values: readonly string[],
  ): Fragment {
    const parts = values.flatMap((value) => {
      const found = /^(.*)-(\d{1,10})$/s.exec(value)
      return found === null ? [] : [{ value, text: found[1] ?? '', number: Number(found[2]) }]
    })
    if (parts.length === 0) return bare('(1 = 0)')
    const among = (name: string, list: readonly Fragment[]): Fragment =>
      joined(`${this.alias(source)}.${name} in (`, between(', ', list), ')')
    const texts = parts.map((part) => this.parameter('text', part.text))
    const numbers = parts.map((part) => this.parameter('integer', part.number))
    const wholes = parts.map((part) => this.parameter('text', part.value))
    const terms = [among(text, texts), among(number, numbers), among(column, wholes)]
    return joined('(', between(' and ', terms), ')')
  }

  #in({ operand, values, orNull }: InExpression): Fragment {
    const made = madeBy(operand)
    if (made !== undefined) return this.#made(made.source, made.by, made, values.map(String))
    if (operand.kind === 'null') return bare(this.#truth(orNull))
    const value = this.value(operand)
    const isNull = joined('((', value, ') is null)')
    if (values.length === 0) return orNull ? isNull : bare('(1 = 0)')
    // Written once: lists in lists would multiply what they hold.
    const list = values.map((one) => this.#entry(operand.kind, one))
    const found = joined('(', value, ' in (', between(', ', list), '))')
    if (!operand.nullable) return found
    return joined('coalesce(', found, `, ${this.#truth(orNull)})`)
  }

  #entry(kind: Kind, value: string | number | boolean): Fragment {
    return typeof value === 'boolean' ? bare(this.#truth(value)) : this.parameter(kind, value)
  }

  /** The value of a single related row, or null. */
  #related(source: Source, value: Fragment): Fragment {
    return joined('(', this.#rowsOf(source, value, []), ' limit 1)')
  }

  #rowsOf(source: Source, what: Fragment, wanted: readonly Fragment[]): Fragment {
    const conditions = [...this.#belonging(source), ...this.ofSet(source), ...wanted]
    const tables = this.from(source)
    return joined('select ', what, ` from ${tables} where `, between(' and ', conditions))
  }

  #belonging(source: Source): readonly Fragment[] {
    const { from } = source
    if (from === undefined) throw new Error('Only rows of a navigation belong to other rows.')
    const { local, foreign } = from.navigation.on
    const [inner, outer] = [this.alias(source), this.alias(from.source)]
    const company = `${inner}.company_id = ${outer}.company_id`
    return [bare(`${inner}.${foreign} = ${outer}.${local}`), bare(company)]
  }

  #arithmetic({ operator, left, right }: ArithmeticExpression): Fragment {
    if (left.kind === 'null' || right.kind === 'null') return this.#nullReal()
    const one = this.value(left)
    const other = this.value(right)
    switch (operator) {
      case 'add':
        return joined('(', one, ' + ', other, ')')
      case 'sub':
        return joined('(', one, ' - ', other, ')')
      case 'mul':
        return joined('(', one, ' * ', other, ')')
      case 'div':
        // A division by zero is null; one of the stores would refuse it.
        return joined('(', one, ' / nullif(', other, ', 0))')
      case 'truncdiv':
        return joined('trunc(', one, ' / nullif(', other, ', 0))')
      case 'mod':
        return computed('v0 - v1 * trunc(v0 / nullif(v1, 0))', one, other)
    }
  }

  #nullReal(): Fragment {
    return bare(this.#dialect === 'postgres' ? 'null::double precision' : 'null')
  }

  #call(call: CallExpression): Fragment {
    return callOf(this.#dialect, call, () => call.arguments.map((one) => this.value(one)))
  }
}

/** The named joins and those they depend on, in order of declaration. */
function neededJoins(entity: Entity, names: ReadonlySet<string>): readonly Join[] {
  const needed = new Set(names)
  for (const join of [...entity.joins].reverse()) {
    if (!needed.has(join.name)) continue
    for (const { local } of join.on) if (local.join !== undefined) needed.add(local.join)
  }
  return entity.joins.filter((join) => needed.has(join.name))
}

/** The parts of a composed column. */
function madeBy(one: Expression) {
  if (one.form !== 'column' || one.join !== undefined) return undefined
  const { source, column } = one
  const by = source.entity.fields.find((field) => field.column === column && field.made)?.made
  return by && { source, column, by }
}
