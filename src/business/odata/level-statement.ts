/**
 * The statement of one level of a request: its columns, its order, its page, and how a row of it becomes JSON. Runs
 * nothing itself.
 */

import type { SqlRow, SqlValue } from '#stores/store.ts'
import { rootSource } from '../compile/check.ts'
import type { Source } from '../compile/expression.ts'
import { between, type Dialect, type Fragment, joined, SqlWriter } from '../compile/sql.ts'
import { type Entity, etagOf, type Version } from '../entity.ts'
import type { QueryOptions } from './options.ts'
import { afterToken, formatToken, totalOrder } from './paging.ts'
import { RowPlan } from './row-plan.ts'

export type Conditions = (writer: SqlWriter, source: Source) => readonly Fragment[]

/** A row read: its JSON without context, and what its neighbours need. */
export interface ReadRow {
  readonly id: string
  readonly etag: string
  readonly body: Record<string, unknown>
  readonly cells: SqlRow
}

/** Rows that an answer may still hold; counted down by every level. */
export interface Budget {
  rows: number
}

/** Lists that hang on rows of the level above, by the value of one column. */
export interface Hanging {
  readonly column: string
  readonly values: readonly string[]
}

/** The statement of one level of a request, and how its rows are read. */
export class LevelStatement {
  readonly #writer: SqlWriter
  readonly #source: Source
  readonly #options: QueryOptions
  readonly #plan: RowPlan
  readonly #fill: (row: SqlRow, into: Record<string, unknown>) => void
  readonly #id: string
  readonly #revision: string
  readonly #locals: readonly string[]
  readonly #order

  constructor(dialect: Dialect, entity: Entity, version: Version, options: QueryOptions) {
    this.#writer = new SqlWriter(dialect)
    this.#source = rootSource(entity, version)
    this.#options = options
    this.#plan = new RowPlan(this.#writer, this.#source)
    this.#id = this.#plan.column({ column: 'id' })
    this.#revision = this.#plan.column({ column: 'revision' })
    this.#fill = this.#plan.fields(options.fields)
    this.#locals = options.expand.map((one) =>
      this.#plan.column({ column: one.navigation.on.local }),
    )
    this.#order = totalOrder(options.orderBy, this.#source)
  }

  #columns(): Fragment {
    const keys = this.#order.map(({ expression }, at) =>
      joined(this.#writer.sortable(expression), ` as k${at}`),
    )
    return between(', ', [{ text: this.#plan.columns, values: [] }, ...keys])
  }

  /** One more row than the page, to see whether there is one. */
  page(conditions: Conditions, page: number): Fragment {
    const { skip } = this.#options
    const where = whereOf(this.#writer, this.#source, this.#options, conditions, this.#order)
    const columns = this.#columns()
    const order = this.#writer.order(this.#order)
    const from = this.#writer.from(this.#source)
    const limit = ` limit ${page + 1}${skip > 0 ? ` offset ${skip}` : ''}`
    return joined('select ', columns, ` from ${from}`, where, ' order by ', order, limit)
  }

  /** A page for each value of a column, in one statement; before it may stand a row that only tells the count. */
  pages(conditions: Conditions, column: string, page: number): Fragment {
    const { skip, count } = this.#options
    const where = whereOf(this.#writer, this.#source, this.#options, conditions)
    const columns = this.#columns()
    const order = this.#writer.order(this.#order)
    const from = this.#writer.from(this.#source)
    const number = joined(
      `, row_number() over (partition by t0.${column} order by `,
      order,
      ') as place',
    )
    const total = count ? `, count(*) over (partition by t0.${column}) as total` : ''
    const inner = joined(
      'select ',
      columns,
      `, t0.${column} as hanging`,
      number,
      total,
      ` from ${from}`,
      where,
    )
    // The first row tells how many there are, though all of them may be skipped.
    const first = count && skip > 0 ? ' or place = 1' : ''
    const range = `(place > ${skip} and place <= ${skip + page + 1})${first}`
    return joined('select * from (', inner, `) as ranked where ${range} order by place`)
  }

  /** A row of the statement is one of the table, as far as the statement asks. */
  get isPlain(): boolean {
    return this.#plan.isPlain
  }

  row(row: SqlRow): ReadRow {
    const id = String(row[this.#id])
    const etag = etagOf(id, Number(row[this.#revision]))
    const body: Record<string, unknown> = { '@odata.etag': etag }
    this.#fill(row, body)
    const cells: Record<string, SqlValue> = {}
    for (const [at, name] of this.#locals.entries()) cells[`x${at}`] = row[name] ?? null
    return { id, etag, body, cells }
  }

  token(row: SqlRow): string {
    return formatToken(this.#order.map((_, at) => row[`k${at}`] ?? null))
  }
}

export function whereOf(
  writer: SqlWriter,
  source: Source,
  options: QueryOptions,
  conditions: Conditions,
  order?: ReturnType<typeof totalOrder>,
): Fragment {
  const { filter, skipToken } = options
  const all = [
    ...conditions(writer, source),
    ...writer.ofSet(source),
    ...(filter === undefined ? [] : [writer.condition(filter)]),
    ...(order === undefined || skipToken === undefined
      ? []
      : [afterToken(skipToken, order, writer)]),
  ]
  return all.length === 0 ? joined('') : joined(' where ', between(' and ', all))
}
