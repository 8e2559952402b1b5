/**
 * Statements of other areas over one SQLite connection: prepared once, kept while they are in use. Knows
 * none of their tables.
 */

import type { DatabaseSync, StatementSync } from 'node:sqlite'

import { assertCarried } from '../sql.ts'
import type { SqlRow, SqlValue } from '../store.ts'
import { translateRelational } from './failure.ts'

/** Texts composed at run time are many; the least recently used statement makes room. */
const statementsMax = 256

export class RelationalStatements {
  readonly #db: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  constructor(db: DatabaseSync) {
    this.#db = db
  }

  all(text: string, values: readonly SqlValue[]): readonly SqlRow[] {
    assertCarried(values)
    return this.#ask(text, (statement) =>
      // Copied because the driver's rows have no prototype. No cell is a bigint: that must be asked for.
      statement.all(...values).map((row) => ({ ...row }) as SqlRow),
    )
  }

  run(text: string, values: readonly SqlValue[]): number {
    assertCarried(values)
    return this.#ask(text, (statement) => Number(statement.run(...values).changes))
  }

  #ask<T>(text: string, use: (statement: StatementSync) => T): T {
    try {
      return use(this.#prepared(text))
    } catch (error) {
      throw translateRelational(error)
    }
  }

  #prepared(text: string): StatementSync {
    const known = this.#statements.get(text)
    const statement = known ?? this.#db.prepare(text)
    // A map keeps the order of insertion, so its first key is the one unused for longest.
    if (known !== undefined) this.#statements.delete(text)
    this.#statements.set(text, statement)
    if (this.#statements.size > statementsMax) {
      const oldest = this.#statements.keys().next().value
      if (oldest !== undefined) this.#statements.delete(oldest)
    }
    return statement
  }
}
