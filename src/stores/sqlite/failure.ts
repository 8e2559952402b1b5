/**
 * Translates SQLite's errors to the port's errors. An error that is neither a lost race nor an outside failure is
 * passed on: it is a fault, and its own text describes it best.
 */

import { StoreConflict, StoreUnavailable } from '../store.ts'

interface SqliteError extends Error {
  readonly errcode: number
}

function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
}

/** Primary result codes (the low byte) of failures that may pass: busy, no memory, read-only, a failing disk. */
const later: ReadonlySet<number> = new Set([5, 6, 7, 8, 10, 13, 14])
/** Corrupt, not a database: an operator must act. */
const never: ReadonlySet<number> = new Set([11, 26])
/** SQLITE_CONSTRAINT_PRIMARYKEY and SQLITE_CONSTRAINT_UNIQUE. */
const taken: ReadonlySet<number> = new Set([1555, 2067])

/** The error to throw instead of `error`. */
export function translate(error: unknown): unknown {
  if (!isSqliteError(error)) return error
  const primary = error.errcode & 0xff
  if (later.has(primary)) {
    return new StoreUnavailable(`SQLite cannot answer: ${error.message}`, 'later', { cause: error })
  }
  if (never.has(primary)) {
    return new StoreUnavailable(`The SQLite file is damaged: ${error.message}`, 'never', {
      cause: error,
    })
  }
  return error
}

/** The `table.column, …` of a violated unique constraint or primary key; `undefined` for anything else. */
export function takenColumns(error: unknown): string | undefined {
  if (!isSqliteError(error) || !taken.has(error.errcode)) return undefined
  return error.message.replace(/^UNIQUE constraint failed: /, '')
}

/** Like `translate`, for tables of other areas: a taken unique value names its table. */
export function translateRelational(error: unknown): unknown {
  const columns = takenColumns(error)
  if (columns === undefined) return translate(error)
  const table = columns.split('.')[0] ?? columns
  return new StoreConflict(`Another row of '${table}' has the same ${columns}.`, table)
}
