/**
 * Translates errors of PostgreSQL and of the connection to the port's errors. An error that is neither a lost race
 * nor an outside failure is passed on: it is a fault, and its own text describes it best.
 */

import { StatementTooLong, StoreConflict, StoreUnavailable } from '../store.ts'

/** What the server says of an error; the driver copies it onto the thrown object. */
interface ServerError extends Error {
  readonly code: string
  readonly severity: string
  readonly table?: string | undefined
  readonly constraint?: string | undefined
  readonly routine?: string | undefined
}

/** Another replica changed the columns of a prepared statement. Nothing was done; under a new name it works. */
export class StalePlan extends StoreConflict {}

/** What `recordAtPositions` fails with. */
export function isDivisionByZero(error: unknown): boolean {
  return error instanceof Error && isServerError(error) && error.code === '22012'
}

/** What a scan fails with that the server has ended, as it ends what takes too long. */
export function tooLongOf(error: unknown): StatementTooLong | undefined {
  const { cause } = error instanceof StoreUnavailable ? error : {}
  const isEnded = cause instanceof Error && isServerError(cause) && cause.code === '57014'
  return isEnded ? new StatementTooLong({ cause }) : undefined
}

function isServerError(error: Error): error is ServerError {
  return 'severity' in error && 'code' in error && typeof error.code === 'string'
}

/** Constraints of the core tables whose violation always means a lost race. */
const raced: ReadonlySet<string> = new Set([
  'resources_pkey',
  'operations_pkey',
  'operations_running',
  'work_pkey',
  'feeds_pkey',
])

/** Serialization failure, deadlock. */
const lost: ReadonlySet<string> = new Set(['40001', '40P01'])
/** A standby, a lock or statement timeout, a session closed for idling in a transaction. */
const later: ReadonlySet<string> = new Set(['25006', '25P03', '25P04', '55P03', '57014'])
/** A broken connection, no resources, shutdown, system error. */
const laterClasses: ReadonlySet<string> = new Set(['08', '53', '57', '58'])
/** No rights; a table of the same name that is not ours. */
const never: ReadonlySet<string> = new Set(['42501', '42P07'])
/** Wrong credentials, no such database, damaged data. */
const neverClasses: ReadonlySet<string> = new Set(['28', '3D', 'XX'])

/** The error to throw instead of `error`. `uniqueKey` is that of the row being written. */
export function translate(error: unknown, uniqueKey: string | null = null): unknown {
  if (!(error instanceof Error)) return error
  if (isServerError(error)) return translateServer(error, uniqueKey)
  if (!isConnectionError(error)) return error
  return unavailable(error, 'later')
}

function translateServer(error: ServerError, uniqueKey: string | null): unknown {
  const { code, table, constraint } = error
  if (code === '23505') {
    if (constraint === 'resources_unique_key' && uniqueKey !== null) {
      return new StoreConflict('Another row has the same unique key.', uniqueKey)
    }
    if (constraint !== undefined && raced.has(constraint)) {
      return new StoreConflict(`Another transaction wrote the same row of '${table}'.`)
    }
    return new StoreConflict(`Another row of '${table}' has the same '${constraint}'.`, table)
  }
  // Recognized by routine, since the message is in the server's language.
  if (code === '0A000' && error.routine === 'RevalidateCachedQuery')
    return new StalePlan(error.message)
  if (lost.has(code)) return new StoreConflict(`A race was lost: ${error.message}`)
  if (code === '22021') {
    return new Error('Text holds a NUL character or no valid Unicode, which a store cannot.', {
      cause: error,
    })
  }
  const group = code.slice(0, 2)
  if (later.has(code) || laterClasses.has(group)) return unavailable(error, 'later')
  if (never.has(code) || neverClasses.has(group)) return unavailable(error, 'never')
  return error
}

function unavailable(error: Error, retry: 'later' | 'never'): StoreUnavailable {
  return new StoreUnavailable(`PostgreSQL cannot answer: ${error.message}`, retry, { cause: error })
}

const connectionMessages =
  /^(Connection terminated|Client (was closed|has encountered)|Cannot use a pool|timeout|Query read timeout|The server does not support SSL)/

/** Socket errors have a system code; the driver's own errors are known only by their texts. */
function isConnectionError(error: Error): boolean {
  if (error instanceof AggregateError) return true
  if ('code' in error && typeof error.code === 'string' && /^E[A-Z]/.test(error.code)) {
    return !error.code.startsWith('ERR_')
  }
  return connectionMessages.test(error.message)
}
