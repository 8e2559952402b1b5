/**
 * The reads of the port over one SQLite connection, and the conversion of rows. Uses prepared statements only and
 * never waits: each call ends before it returns its promise.
 */

import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite'

import { keyRange, uniqueRange } from '../key-range.ts'
import { takeWithin } from '../list-budget.ts'
import { toOperation, toResource, toUniqueEntry } from '../row-cells.ts'
import type {
  ListQuery,
  OperationRow,
  Reads,
  ResourceRow,
  UniqueEntry,
  UniqueQuery,
} from '../store.ts'
import { translate } from './failure.ts'
import type { queries } from './statements.ts'

export type Cells = readonly SQLOutputValue[]

/** A prepared statement whose rows are arrays: a fifth cheaper than objects on a point read. */
interface CellStatement {
  get(...values: SQLInputValue[]): Cells | undefined
  all(...values: SQLInputValue[]): Cells[]
  iterate(...values: SQLInputValue[]): Iterable<Cells>
  run(...values: SQLInputValue[]): { readonly changes: number | bigint }
}

export type Prepared<T> = { readonly [K in keyof T]: CellStatement }

export function prepareAll<T extends Readonly<Record<string, string>>>(
  db: DatabaseSync,
  texts: T,
): Prepared<T> {
  const prepared = Object.entries(texts).map(([name, text]) => {
    const statement = db.prepare(text)
    statement.setReturnArrays(true)
    return [name, statement]
  })
  // Same keys as `texts`; rows are arrays by `setReturnArrays`, which the declared types do not follow.
  return Object.fromEntries(prepared) as Prepared<T>
}

// A number from a cell.
export function toNumber(cells: Cells | undefined): number | undefined {
  return cells?.[0] as number | undefined
}

export class SqliteReads implements Reads {
  protected readonly queries: Prepared<typeof queries>

  constructor(prepared: Prepared<typeof queries>) {
    this.queries = prepared
  }

  async get(key: string): Promise<ResourceRow | undefined> {
    return this.row(key)
  }

  async list(query: ListQuery): Promise<readonly ResourceRow[]> {
    if (query.limit <= 0) return []
    const { self, from, to } = keyRange(query)
    const own = self === undefined ? undefined : this.#matching(self, query)
    const rest = own === undefined ? query.limit : query.limit - 1
    const { bytesMax } = query
    return this.ask(() => {
      const found = this.#rangeOf('list', query)
      if (bytesMax === undefined) {
        const rows = found.all(...this.#valuesOf(query, from, to, rest)).map(toResource)
        return own === undefined ? rows : [own, ...rows]
      }
      // Rows are read one by one, so that rows beyond the limit are never in memory.
      const following = found.iterate(...this.#valuesOf(query, from, to, rest))
      return takeWithin(resourcesOf(own, following), bytesMax)
    })
  }

  async count(query: Omit<ListQuery, 'after'>): Promise<number> {
    return this.countNow(query)
  }

  protected countNow(query: Omit<ListQuery, 'after'>): number {
    if (query.limit <= 0) return 0
    const { self, from, to } = keyRange({ under: query.under })
    const own = self !== undefined && this.#matching(self, query) !== undefined ? 1 : 0
    const found = this.ask(() =>
      this.#rangeOf('count', query).all(...this.#valuesOf(query, from, to, query.limit - own)),
    )
    return own + (toNumber(found[0]) ?? 0)
  }

  async operation(id: string): Promise<OperationRow | undefined> {
    const cells = this.ask(() => this.queries.operation.get(id))
    return cells === undefined ? undefined : toOperation(cells)
  }

  async runningOperation(resourceKey: string): Promise<OperationRow | undefined> {
    const cells = this.ask(() => this.queries.runningOperation.get(resourceKey))
    return cells === undefined ? undefined : toOperation(cells)
  }

  async keyOfUnique(uniqueKey: string): Promise<string | undefined> {
    const cells = this.ask(() => this.queries.keyOfUnique.get(uniqueKey))
    return cells?.[0] as string | undefined // a text column
  }

  async listUnique(query: UniqueQuery): Promise<readonly UniqueEntry[]> {
    if (query.limit <= 0) return []
    const { from, to } = uniqueRange(query)
    return this.ask(() => this.queries.listUnique.all(from, to, query.limit).map(toUniqueEntry))
  }

  /** The row now, synchronously: for callers that must stay in the current turn. */
  rowNow(key: string): ResourceRow | undefined {
    return this.row(key)
  }

  /** Called before every statement; a transaction that has ended throws here. */
  protected assertOpen(): void {}

  protected row(key: string): ResourceRow | undefined {
    const cells = this.ask(() => this.queries.get.get(key))
    return cells === undefined ? undefined : toResource(cells)
  }

  /** Every call of SQLite goes through here, so that its errors are translated. */
  protected ask<T>(statement: () => T): T {
    this.assertOpen()
    try {
      return statement()
    } catch (error) {
      throw translate(error)
    }
  }

  #matching(key: string, query: Omit<ListQuery, 'after'>): ResourceRow | undefined {
    const row = this.row(key)
    if (row === undefined || (query.tracked === true && !row.tracked)) return undefined
    return query.type === undefined || query.type === row.type ? row : undefined
  }

  #rangeOf(what: 'list' | 'count', query: Omit<ListQuery, 'after'>): CellStatement {
    const tracked = query.tracked === true
    if (query.type === undefined) {
      return this.queries[tracked ? (`${what}Tracked` as const) : (`${what}All` as const)]
    }
    return this.queries[tracked ? (`${what}ByTypeTracked` as const) : (`${what}ByType` as const)]
  }

  #valuesOf(
    { type }: Pick<ListQuery, 'type'>,
    from: string,
    to: string,
    limit: number,
  ): SQLInputValue[] {
    return type === undefined ? [from, to, limit] : [type, from, to, limit]
  }
}

function* resourcesOf(
  own: ResourceRow | undefined,
  following: Iterable<Cells>,
): Generator<ResourceRow> {
  if (own !== undefined) yield own
  for (const cells of following) yield toResource(cells)
}
