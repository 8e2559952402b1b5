/**
 * The thread that runs statements whose cost grows with a table, on read-only connections of its own, and that copies
 * the log into the file. It answers one message after the other until it is told to end.
 */

import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { StatementTooLong, StoreUnavailable } from '../store.ts'
import { defineFunctions, StatementTime } from './functions.ts'
import { RelationalStatements } from './relational.ts'
import type { Cells, ScanAnswer, ScanRequest, ScanSettings } from './scan-messages.ts'
import { opening, snapshots as texts } from './statements.ts'

interface Connection {
  readonly db: DatabaseSync
  readonly statements: RelationalStatements
}

// Set by `scanner.ts`.
const { path, secondsMax } = workerData as ScanSettings
let shared: Connection | undefined
let copier: Connection | undefined
const snapshots = new Map<number, Connection>()

function open(kind: 'reader' | 'copier' = 'reader'): Connection {
  const db = new DatabaseSync(path, { readOnly: kind === 'reader' })
  for (const setting of opening[kind]) db.exec(setting)
  const time = new StatementTime(secondsMax)
  defineFunctions(db, time)
  return { db, statements: new RelationalStatements(db, time) }
}

function connectionOf(snapshot: number | undefined): Connection {
  if (snapshot === undefined) {
    shared ??= open()
    return shared
  }
  const known = snapshots.get(snapshot)
  if (known !== undefined) return known
  const connection = open()
  connection.db.exec(texts.begin)
  snapshots.set(snapshot, connection)
  return connection
}

const nothing: Cells = { columns: [], rows: [] }

function answer({ work }: ScanRequest): Cells {
  if (work.kind === 'read') {
    return connectionOf(work.snapshot).statements.cells(work.text, work.values)
  }
  if (work.kind === 'checkpoint') {
    copier ??= open('copier')
    return copier.statements.cells(texts.checkpoint, [])
  }
  if (work.kind === 'end') {
    snapshots.get(work.snapshot)?.db.close()
    snapshots.delete(work.snapshot)
    return nothing
  }
  for (const { db } of snapshots.values()) db.close()
  shared?.db.close()
  copier?.db.close()
  return nothing
}

function outcomeOf(request: ScanRequest): ScanAnswer['outcome'] {
  try {
    return { kind: 'rows', ...answer(request) }
  } catch (error) {
    // Errors lose their class on the way between threads, so they travel as plain data.
    if (error instanceof StoreUnavailable) {
      const { message, retry } = error
      return { kind: 'unavailable', message, retry }
    }
    if (error instanceof StatementTooLong) return { kind: 'too long' }
    const { message, stack } = error instanceof Error ? error : new Error(String(error))
    return { kind: 'fault', message, stack }
  }
}

parentPort?.on('message', (request: ScanRequest) => {
  parentPort?.postMessage({ id: request.id, outcome: outcomeOf(request) } satisfies ScanAnswer)
  if (request.work.kind === 'close') parentPort?.close()
})
