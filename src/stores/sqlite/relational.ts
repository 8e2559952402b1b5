/**
 * Statements of other areas over one SQLite connection: prepared once and kept while they are used. Knows none of
 * their tables.
 */

import type { DatabaseSync, StatementSync } from 'node:sqlite'

import { objectMaker } from '#kernel/object-maker.ts'
import { assertCarried, rememberedCharactersMax } from '../sql.ts'
import type { SqlRow, SqlValue } from '../store.ts'
import { translateRelational } from './failure.ts'
import type { StatementTime } from './functions.ts'
import type { Cells } from './scan-messages.ts'

/** Texts composed at run time are many; the least recently used statement makes room. */
const statementsMax = 256

/** A statement, its column names once it has returned rows, and when it was last used. */
interface Kept {
  readonly statement: StatementSync
  columns: readonly string[] | undefined
  /** Makes a row of its cells. */
  make: ReturnType<typeof objectMaker<SqlValue>> | undefined
  used: number
}

export class RelationalStatements {
  readonly #db: DatabaseSync
  readonly #time: StatementTime
  readonly #statements = new Map<string, Kept>()
  #uses = 0

  /** `time` is the one that the functions of the connection count by. */
  constructor(db: DatabaseSync, time: StatementTime) {
    this.#db = db
    this.#time = time
  }

  all(text: string, values: readonly SqlValue[]): readonly SqlRow[] {
    return this.#read(text, values, (kept, { columns, rows }) => {
      // Most statements of a start find nothing, and a maker is compiled.
      if (rows.length === 0) return []
      kept.make ??= objectMaker(columns)
      return rows.map(kept.make)
    })
  }

  cells(text: string, values: readonly SqlValue[]): Cells {
    return this.#read(text, values, (_, cells) => cells)
  }

  #read<T>(text: string, values: readonly SqlValue[], use: (kept: Kept, cells: Cells) => T): T {
    assertCarried(values)
    return this.#ask(text, (kept) => {
      kept.columns ??= kept.statement.columns().map(({ name }) => name)
      const { statement, columns } = kept
      // Rows are arrays by `setReturnArrays`, which the declared types do not follow. No cell is a bigint: that must
      // be asked for.
      return use(kept, { columns, rows: statement.all(...values) as unknown as Cells['rows'] })
    })
  }

  run(text: string, values: readonly SqlValue[]): number {
    assertCarried(values)
    return this.#ask(text, ({ statement }) => Number(statement.run(...values).changes))
  }

  #ask<T>(text: string, use: (kept: Kept) => T): T {
    try {
      this.#time.begin()
      return use(this.#prepared(text))
    } catch (error) {
      throw translateRelational(error)
    }
  }

  #prepared(text: string): Kept {
    let kept = this.#statements.get(text)
    if (kept === undefined) {
      kept = this.#prepare(text)
      if (text.length > rememberedCharactersMax) return kept
      this.#statements.set(text, kept)
      if (this.#statements.size > statementsMax) this.#forgetOldest()
    }
    kept.used = ++this.#uses
    return kept
  }

  /** Searched only when a statement is prepared, which costs far more. */
  #forgetOldest(): void {
    let oldest: string | undefined
    let least = this.#uses
    for (const [text, { used }] of this.#statements) {
      if (used > 0 && used <= least) [oldest, least] = [text, used]
    }
    if (oldest !== undefined) this.#statements.delete(oldest)
  }

  #prepare(text: string): Kept {
    const statement = this.#db.prepare(text)
    statement.setReturnArrays(true)
    return { statement, columns: undefined, make: undefined, used: 0 }
  }
}
