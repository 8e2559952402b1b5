/**
 * Composes the SQL statement of one level of a request: its columns, order and page, and how its rows become JSON.
 * It does not run the statement.
 */

import type { SqlRow, SqlValue } from '#stores/store.ts'
import type { Source } from '../compile/expression.ts'
import {
  between,
  type Dialect,
  type Fragment,
  joined,
  type SqlContext,
} from '../compile/fragment.ts'
import { inList } from '../compile/in-list.ts'
import { rootSource } from '../compile/paths.ts'
import { SqlWriter } from '../compile/sql.ts'
import { type Entity, etagOf, type Version } from '../entity.ts'
import type { QueryOptions } from './options.ts'
import { afterToken, formatToken, totalOrder } from './paging.ts'
import { RowPlan } from './row-plan.ts'

export type Conditions = (writer: SqlWriter, source: Source) => readonly Fragment[]

/** A row from the store: its fields, and the values that adjacent levels need. */
export interface ReadRow {
  readonly id: string
  readonly etag: string
  readonly fields: Record<string, unknown>
  readonly cells: SqlRow
}

const tagName = '@odata.etag'

/** The statement of one level of a request, and the reader of its rows. */
export class LevelStatement {
  readonly #dialect: Dialect
  readonly #writer: SqlWriter
  readonly #source: Source
  readonly #options: QueryOptions
  readonly #plan: RowPlan
  readonly #fields: (row: SqlRow) => Record<string, unknown>
  readonly #id: string
  readonly #revision: string
  readonly #locals: readonly string[]
  readonly #order

  constructor(context: SqlContext, entity: Entity, version: Version, options: QueryOptions) {
    this.#dialect = context.dialect
    this.#writer = new SqlWriter(context, options.period)
    this.#source = rootSource(entity, version)
    this.#options = options
    this.#plan = new RowPlan(this.#writer, this.#source)
    this.#id = this.#plan.column({ column: 'id' })
    this.#revision = this.#plan.column({ column: 'revision' })
    this.#fields = this.#plan.fields(options.fields, {
      [tagName]: (row) => etagOf(String(row[this.#id]), Number(row[this.#revision])),
    })
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

  /**
   * Selects one row more than the page, to see whether there are more. With a token, the page begins after the
   * token's row.
   */
  page(conditions: Conditions, page: number, after?: string): Fragment {
    const columns = this.#columns()
    return joined('select ', columns, this.#ordered(conditions, page + 1, after))
  }

  /** Selects only the ids, which is cheap for many rows. `some` then reads the rows in pieces. */
  ids(conditions: Conditions, count: number, after: string): Fragment {
    return joined('select t0.id as id', this.#ordered(conditions, count, after))
  }

  /** The rows with these ids, in any order. */
  some(ids: readonly string[]): Fragment {
    const columns = this.#columns()
    const own = inList(this.#dialect, this.#writer, 'id', ids)
    return joined('select ', columns, ` from ${this.#writer.from(this.#source)} where `, own)
  }

  #ordered(conditions: Conditions, limit: number, after: string | undefined): Fragment {
    // A token holds its position, so it comes after the skipped rows.
    const skip = after === undefined ? this.#options.skip : 0
    const options = after === undefined ? this.#options : { ...this.#options, skipToken: after }
    const where = whereOf(
      { writer: this.#writer, source: this.#source },
      options,
      conditions,
      this.#order,
    )
    const order = this.#writer.order(this.#order)
    const from = this.#writer.from(this.#source)
    const range = ` limit ${limit}${skip > 0 ? ` offset ${skip}` : ''}`
    return joined(` from ${from}`, where, ' order by ', order, range)
  }

  /**
   * Selects a page for each value of a column in one statement, with the position of each row in its page. A row
   * that only holds the count may come before a page. Selects one row more than `page`, to see whether there are
   * more. `what` selects at most so many whole rows, or the ids of all.
   */
  pages(
    conditions: Conditions,
    column: string,
    page: number,
    what: { readonly rowsMax: number } | 'ids',
  ): Fragment {
    const { skip, count } = this.#options
    const where = whereOf({ writer: this.#writer, source: this.#source }, this.#options, conditions)
    const columns = what === 'ids' ? joined('t0.id as id') : this.#columns()
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
    // The first row holds the count, even if all rows may be skipped.
    const first = count && skip > 0 ? ' or place = 1' : ''
    const range = `(place > ${skip} and place <= ${skip + page + 1})${first}`
    const limit = what === 'ids' ? '' : ` limit ${what.rowsMax}`
    return joined('select * from (', inner, `) as ranked where ${range} order by place${limit}`)
  }

  /** True if a row of the statement equals a row of the table for the selected columns. */
  get isPlain(): boolean {
    return this.#plan.isPlain
  }

  row(row: SqlRow): ReadRow {
    const fields = this.#fields(row)
    const cells: Record<string, SqlValue> = {}
    for (const [at, name] of this.#locals.entries()) cells[`x${at}`] = row[name] ?? null
    // Made by the writer of the tag.
    return { id: String(row[this.#id]), etag: fields[tagName] as string, fields, cells }
  }

  /** The token of a page that ends with this row. */
  token(row: SqlRow): string {
    return formatToken(this.#order.map((_, at) => row[`k${at}`] ?? null))
  }
}

export function whereOf(
  { writer, source }: { readonly writer: SqlWriter; readonly source: Source },
  options: QueryOptions,
  conditions: Conditions,
  order?: ReturnType<typeof totalOrder>,
): Fragment {
  const { filter, orderBy, skipToken } = options
  const isLong = filter !== undefined || orderBy.length > 0
  const all = [
    ...conditions(writer, source),
    ...writer.ofSet(source),
    ...(isLong ? writer.withinTime(source) : []),
    ...(filter === undefined ? [] : [writer.condition(filter)]),
    ...(order === undefined || skipToken === undefined
      ? []
      : [afterToken(skipToken, order, writer)]),
  ]
  return all.length === 0 ? joined('') : joined(' where ', between(' and ', all))
}
