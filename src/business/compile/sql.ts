/**
 * Writes checked expressions as SQL for either store, values as parameters only. Text is compared by code points,
 * null follows OData (`eq` and `ne` see it, order comparisons with it are false, `and`, `or`, `not` are three-valued).
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
} from '../entity.ts'
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

export type Dialect = 'sqlite' | 'postgres'

/** A piece of a statement and the values of its question marks, in order. */
export interface Fragment {
  readonly text: string
  readonly values: readonly SqlValue[]
}

export const nothing: Fragment = Object.freeze({ text: '', values: [] })

export function bare(text: string): Fragment {
  return { text, values: [] }
}

/** Texts and fragments one after another. */
export function joined(...parts: readonly (string | Fragment)[]): Fragment {
  let text = ''
  const values: SqlValue[] = []
  for (const part of parts) {
    if (typeof part === 'string') text += part
    else {
      text += part.text
      values.push(...part.values)
    }
  }
  return { text, values }
}

export function between(separator: string, parts: readonly Fragment[]): Fragment {
  return joined(...parts.flatMap((part, at) => (at === 0 ? [part] : [separator, part])))
}

const castNames: Readonly<Record<Kind, string>> = {
  text: 'text',
  guid: 'text',
  enum: 'text',
  date: 'text',
  integer: 'bigint',
  moment: 'bigint',
  decimal: 'bigint',
  real: 'double precision',
  boolean: 'bigint',
  null: 'text',
}

const comparisons = { eq: '=', ne: '<>', gt: '>', ge: '>=', lt: '<', le: '<=' } as const

const emptyOf: Partial<Readonly<Record<Kind, string>>> = {
  text: "''",
  enum: "''",
  guid: `'${noGuid}'`,
  date: `'${noDate}'`,
}

/** Decimals are integers of this unit. */
const unit = '100000.0'

/** One statement's worth of expressions: it gathers which joins they need. */
export class SqlWriter {
  readonly #dialect: Dialect
  readonly #joins = new Map<number, Set<string>>()
  /** Sources of which a column is asked that only their view has. */
  readonly #viewed = new Set<number>()

  constructor(dialect: Dialect) {
    this.#dialect = dialect
  }

  /** The name of a source's table in the statement. */
  alias(source: Source): string {
    return `t${source.number}`
  }

  column(source: Source, { column, join }: Column): string {
    if (join === undefined) {
      if (source.entity.view?.columns.has(column) === true) this.#viewed.add(source.number)
      return `${this.alias(source)}.${column}`
    }
    const used = this.#joins.get(source.number) ?? new Set()
    used.add(join)
    this.#joins.set(source.number, used)
    return `${this.alias(source)}_${join}.${column}`
  }

  /** `table as t0 left join …`, with every join and column used so far; so it is to be called last. */
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
    const rows = isViewed ? `(${view.select})` : table.name
    return `${rows} as ${name}${parts.join('')}`
  }

  /** Rows of the source's own set. */
  ofSet(source: Source): readonly Fragment[] {
    const { discriminator } = source.entity
    if (discriminator === undefined) return []
    const column = `${this.alias(source)}.${discriminator.column}`
    return [joined(`${column} = `, this.parameter('text', discriminator.value))]
  }

  parameter(kind: Kind, value: SqlValue): Fragment {
    const text = this.#dialect === 'postgres' ? `?::${castNames[kind]}` : '?'
    return { text, values: [value] }
  }

  /** An expression as a condition of `where`. */
  condition(expression: Expression): Fragment {
    switch (expression.form) {
      case 'constant':
        return bare(this.#truth(expression))
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
        const rows = this.#rowsOf(source, bare('1'), wanted)
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
        // Booleans were seen to above.
        return expression.value === null
          ? bare('null')
          : this.parameter(expression.kind, expression.value as string | number)
      case 'column':
        return this.#column(expression)
      case 'related':
        return this.#related(expression.source, this.value(expression.value))
      case 'count':
        return joined('(', this.#rowsOf(expression.source, bare('count(*)'), []), ')')
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

  /** The value as it is ordered by. */
  sortable(expression: Expression): Fragment {
    if (expression.kind !== 'boolean') return this.#collated(expression)
    // Both stores can order booleans, but only a number can be carried in a token and compared again.
    return joined('case when ', this.condition(expression), ' then 1 else 0 end')
  }

  #collated(expression: Expression): Fragment {
    const value = this.value(expression)
    const isText = ['text', 'guid', 'date', 'enum'].includes(expression.kind)
    return this.#dialect === 'postgres' && isText ? joined(value, ' collate "C"') : value
  }

  #truth({ value }: ConstantExpression): string {
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

  /** A column that is made of others is one of these texts: found by the index of those others. */
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
    if (operand.kind === 'boolean' || operand.kind === 'null') {
      const each = values.map((value) =>
        this.#compare({
          form: 'compare',
          kind: 'boolean',
          nullable: false,
          operator: 'eq',
          left: operand,
          right: { form: 'constant', kind: operand.kind, nullable: false, value },
        }),
      )
      const isNull = joined('((', this.value(operand), ') is null)')
      const terms = orNull ? [...each, isNull] : each
      return terms.length === 0 ? bare('(1 = 0)') : joined('(', between(' or ', terms), ')')
    }
    const value = this.value(operand)
    const alternatives: Fragment[] = []
    if (values.length > 0) {
      // Boolean operands went another way, so these are text and numbers.
      const list = values.map((one) => this.parameter(operand.kind, one as string | number))
      const found = joined(value, ' in (', between(', ', list), ')')
      const sure = joined('coalesce(', found, this.#dialect === 'postgres' ? ', false)' : ', 0)')
      alternatives.push(operand.nullable ? sure : found)
    }
    if (orNull) alternatives.push(joined('(', value, ') is null'))
    if (alternatives.length === 0) return bare('(1 = 0)')
    return joined('(', between(' or ', alternatives), ')')
  }

  /** The one row a navigation leads to, or null. */
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
        // A division by zero has no value; one of the stores would refuse it.
        return joined('(', one, ' / nullif(', other, ', 0))')
      case 'truncdiv':
        return joined('trunc(', one, ' / nullif(', other, ', 0))')
      case 'mod':
        return joined('(', one, ' - ', other, ' * trunc(', one, ' / nullif(', other, ', 0)))')
    }
  }

  #nullReal(): Fragment {
    return bare(this.#dialect === 'postgres' ? 'null::double precision' : 'null')
  }

  #call(call: CallExpression): Fragment {
    const isPostgres = this.#dialect === 'postgres'
    // A null constant makes the whole null; the stores would not know its type.
    if (call.arguments.some((one) => one.kind === 'null')) {
      return bare(
        isPostgres ? `null::${call.kind === 'boolean' ? 'boolean' : castNames[call.kind]}` : 'null',
      )
    }
    const list = call.arguments.map((one) => this.value(one))
    const [first = nothing, second = nothing, third] = list
    switch (call.name) {
      case 'real':
        return this.#real(call, first)
      case 'contains':
        return joined(isPostgres ? '(strpos(' : '(instr(', first, ', ', second, ') > 0)')
      case 'startswith':
        return joined('(substr(', first, ', 1, length(', second, ')) = ', second, ')')
      case 'endswith': {
        const from = joined('length(', first, ') - length(', second, ')')
        const tail = joined('substr(', first, ', ', from, ' + 1) = ', second)
        return joined('(', from, ' >= 0 and ', tail, ')')
      }
      case 'tolower':
        return joined('lower(', first, isPostgres ? ' collate "C")' : ')')
      case 'toupper':
        return joined('upper(', first, isPostgres ? ' collate "C")' : ')')
      case 'trim':
        return joined(
          isPostgres ? 'btrim(' : 'trim(',
          first,
          ', ',
          this.parameter('text', ' \t\n\r'),
          ')',
        )
      case 'concat':
        return joined('(', first, ' || ', second, ')')
      case 'length':
        return joined(isPostgres ? 'length(' : 'length(', first, ')')
      case 'indexof':
        return joined(isPostgres ? '(strpos(' : '(instr(', first, ', ', second, ') - 1)')
      case 'substring': {
        const from = joined(this.#position(second), ' + 1')
        if (third === undefined) return joined('substr(', first, ', ', from, ')')
        return joined('substr(', first, ', ', from, ', ', this.#position(third), ')')
      }
      case 'round':
        // Halves away from zero; the stores' own functions do not agree on them.
        return joined('(sign(', first, ') * floor(abs(', first, ') + 0.5))')
      case 'floor':
        return joined('floor(', first, ')')
      case 'ceiling':
        return joined('ceil(', first, ')')
      default:
        return this.#ofMoment(call, first)
    }
  }

  #real(call: CallExpression, value: Fragment): Fragment {
    const double = this.#dialect === 'postgres' ? 'double precision' : 'real'
    const number = joined('cast(', value, ` as ${double})`)
    if (call.arguments[0]?.kind !== 'decimal') return number
    return joined('(', number, ` / cast(${unit} as ${double}))`)
  }

  /** A place in a text, kept within what either store takes. */
  #position(value: Fragment): Fragment {
    return this.#dialect === 'postgres'
      ? joined('cast(least(greatest(', value, ', 0), 1000000) as integer)')
      : joined('cast(min(max(', value, ', 0), 1000000) as integer)')
  }

  /** Parts of dates, which are text, and of moments, which are milliseconds. */
  #ofMoment(call: CallExpression, value: Fragment): Fragment {
    const isMoment = call.arguments[0]?.kind === 'moment'
    const isPostgres = this.#dialect === 'postgres'
    const text = !isMoment
      ? value
      : isPostgres
        ? joined('to_char(to_timestamp(', value, " / 1000.0) at time zone 'UTC', 'YYYY-MM-DD')")
        : joined("strftime('%Y-%m-%d', ", value, " / 1000.0, 'unixepoch')")
    const digits = (from: number, length: number): Fragment =>
      joined('cast(substr(', text, `, ${from}, ${length}) as ${isPostgres ? 'bigint' : 'integer'})`)
    // Milliseconds of the day, also for moments before 1970.
    const day = 86_400_000
    const whole = isPostgres ? value : joined('cast(', value, ' as integer)')
    const time = joined('((', whole, ` % ${day}) + ${day}) % ${day}`)
    switch (call.name) {
      case 'date':
        return text
      case 'year':
        return digits(1, 4)
      case 'month':
        return digits(6, 2)
      case 'day':
        return digits(9, 2)
      case 'hour':
        return joined('((', time, ') / 3600000)')
      case 'minute':
        return joined('(((', time, ') / 60000) % 60)')
      case 'second':
        return joined('(((', time, ') / 1000) % 60)')
      default:
        throw new Error(`No SQL is known for ${call.name}.`)
    }
  }
}

/** The joins named and those they stand on, in the order the entity declares them. */
function neededJoins(entity: Entity, names: ReadonlySet<string>): readonly Join[] {
  const needed = new Set(names)
  for (const join of [...entity.joins].reverse()) {
    if (!needed.has(join.name)) continue
    for (const { local } of join.on) if (local.join !== undefined) needed.add(local.join)
  }
  return entity.joins.filter((join) => needed.has(join.name))
}

/** A column that is made of others. */
function madeBy(one: Expression) {
  if (one.form !== 'column' || one.join !== undefined) return undefined
  const { source, column } = one
  const by = source.entity.fields.find((field) => field.column === column && field.made)?.made
  return by && { source, column, by }
}
