/**
 * The reads of the port, and the conversion of rows. Subclasses and callers decide where they run (the pool, or the
 * connection of a transaction).
 */

import { keyRange, uniqueRange } from '../key-range.ts'
import type { LargeRows } from '../large-rows.ts'
import { toOperation, toResource, toUniqueEntry } from '../row-cells.ts'
import type {
  ListQuery,
  OperationRow,
  Reads,
  ResourceRow,
  UniqueEntry,
  UniqueQuery,
} from '../store.ts'
import type { Answer, Cells, Parameter } from './session.ts'
import { queries, type Statement } from './statements.ts'

type Ask = (statement: Statement, values: readonly Parameter[]) => Promise<Answer>

// A number from a cell.
export function toNumber(cells: Cells | undefined): number | undefined {
  return (cells?.[0] ?? undefined) as number | undefined
}

export class PostgresReads implements Reads {
  readonly #ask: Ask
  protected readonly large: LargeRows

  constructor(ask: Ask, large: LargeRows) {
    this.#ask = ask
    this.large = large
  }

  async get(key: string): Promise<ResourceRow | undefined> {
    return this.one((await this.#ask(queries.get, [key])).rows)
  }

  protected one([cells]: readonly Cells[]): ResourceRow | undefined {
    return this.rowOf(cells)
  }

  rowOf(cells: Cells | undefined): ResourceRow | undefined {
    if (cells === undefined) return undefined
    const row = toResource(cells)
    this.large.note(row)
    return row
  }

  async list(query: ListQuery): Promise<readonly ResourceRow[]> {
    if (query.limit <= 0) return []
    const { bytesMax } = query
    if (bytesMax === undefined) return (await this.#range('list', query)).rows.map(toResource)
    return (await this.#range('page', query, [bytesMax])).rows.map(toResource)
  }

  async count(query: Omit<ListQuery, 'after'>): Promise<number> {
    if (query.limit <= 0) return 0
    return toNumber((await this.#range('count', query)).rows[0]) ?? 0
  }

  async operation(id: string): Promise<OperationRow | undefined> {
    const [cells] = (await this.#ask(queries.operation, [id])).rows
    return cells === undefined ? undefined : toOperation(cells)
  }

  async runningOperation(resourceKey: string): Promise<OperationRow | undefined> {
    const [cells] = (await this.#ask(queries.runningOperation, [resourceKey])).rows
    return cells === undefined ? undefined : toOperation(cells)
  }

  async keyOfUnique(uniqueKey: string): Promise<string | undefined> {
    const [cells] = (await this.#ask(queries.keyOfUnique, [uniqueKey])).rows
    return cells?.[0] as string | undefined // a text column
  }

  async listUnique(query: UniqueQuery): Promise<readonly UniqueEntry[]> {
    if (query.limit <= 0) return []
    const { from, to } = uniqueRange(query)
    return (await this.#ask(queries.listUnique, [from, to, query.limit])).rows.map(toUniqueEntry)
  }

  #range(
    what: 'list' | 'page' | 'count',
    query: ListQuery,
    more: readonly number[] = [],
  ): Promise<Answer> {
    const { self, from, to } = keyRange(query)
    // NULL equals no key: without a `self` key that half of the statement finds nothing.
    const values = [from, to, query.limit, self ?? null, ...more]
    if (query.type === undefined) {
      const name = query.tracked === true ? (`${what}Tracked` as const) : (`${what}All` as const)
      return this.#ask(queries[name], values)
    }
    const tracked = query.tracked === true
    const name = tracked ? (`${what}ByTypeTracked` as const) : (`${what}ByType` as const)
    return this.#ask(queries[name], [...values, query.type])
  }
}
