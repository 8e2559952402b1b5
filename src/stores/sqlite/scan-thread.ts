/**
 * The thread that runs statements whose cost grows with a table, on read-only connections of its own, and that copies
 * the log into the file. It runs until it is told to end. Owners take turns. Between the rows of a statement that is not
 * quick it tries those that arrive: a quick one has its answer, and any other ends there and waits for its turn.
 */

import { DatabaseSync } from 'node:sqlite'
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { StatementTooLong, StoreUnavailable } from '../store.ts'
import { defineFunctions, quickSeconds, StatementTime } from './functions.ts'
import { OwnersInTurn } from './owners-in-turn.ts'
import { RelationalStatements } from './relational.ts'
import type { Cells, ScanAnswer, ScanMessage, ScanRequest, ScanSettings } from './scan-messages.ts'
import { opening, snapshots as texts } from './statements.ts'

interface Connection {
  readonly db: DatabaseSync
  readonly time: StatementTime
  readonly statements: RelationalStatements
}

// Set by `scanner.ts`.
const { path, secondsMax } = workerData as ScanSettings
const port = parentPort as NonNullable<typeof parentPort> // as in each thread
let shared: Connection | undefined
/** For what is tried between the rows of a statement. */
let between: Connection | undefined
let copier: Connection | undefined
const snapshots = new Map<number, Connection>()

function open(kind: 'reader' | 'copier' = 'reader'): Connection {
  const db = new DatabaseSync(path, { readOnly: kind === 'reader' })
  for (const setting of opening[kind]) db.exec(setting)
  const time = new StatementTime(secondsMax, tryNext)
  defineFunctions(db, time)
  return { db, time, statements: new RelationalStatements(db, time) }
}

function sharedOf(): Connection {
  shared ??= open()
  return shared
}

function betweenOf(): Connection {
  between ??= open()
  return between
}

function connectionOf(snapshot: number | undefined): Connection {
  if (snapshot === undefined) return running === undefined ? sharedOf() : betweenOf()
  const known = snapshots.get(snapshot)
  if (known !== undefined) return known
  const connection = open()
  connection.db.exec(texts.begin)
  snapshots.set(snapshot, connection)
  return connection
}

const nothing: Cells = { columns: [], rows: [] }

/** What has arrived, in order. */
const fresh: ScanRequest[] = []
/** What has a turn of its own: it was tried, and is not quick, or it waits for such a statement, or nothing else does. */
const long: ScanRequest[] = []
/** Of what is tried: that is no turn of its owner, whose long statement would never have one otherwise. */
const ownersOfTried = new OwnersInTurn()
const owners = new OwnersInTurn()
/** The statement that has its turn. */
let running: { readonly id: number; readonly connection: Connection } | undefined
let isTrying = false

function answer({ id, work }: ScanRequest): Cells {
  if (work.kind === 'read') return read(id, work)
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
  for (const connection of [shared, between, copier]) connection?.db.close()
  return nothing
}

function read(
  id: number,
  { text, values, snapshot }: Extract<ScanRequest['work'], { kind: 'read' }>,
): Cells {
  const connection = connectionOf(snapshot)
  connection.time.secondsMax = isTrying ? Math.min(quickSeconds, secondsMax) : secondsMax
  if (isTrying) return connection.statements.cells(text, values)
  running = { id, connection }
  try {
    return connection.statements.cells(text, values)
  } finally {
    running = undefined
  }
}

function outcomeOf(request: ScanRequest): ScanAnswer['outcome'] {
  try {
    return { kind: 'rows', ...answer(request) }
  } catch (error) {
    // Errors lose their class on the way between threads, so they travel as plain data.
    if (error instanceof StatementTooLong) return { kind: 'too long' }
    if (error instanceof StoreUnavailable) {
      const { message, retry } = error
      return { kind: 'unavailable', message, retry }
    }
    const { message, stack } = error instanceof Error ? error : new Error(String(error))
    return { kind: 'fault', message, stack }
  }
}

/** Called between the rows of the statement that runs. Ends it where nobody waits for it any more. */
function tryNext(): void {
  if (isTrying) return
  receive()
  const [next] = ownersOfTried.take(fresh, 1)
  if (next !== undefined) attempt(next)
}

function attempt(request: ScanRequest): void {
  isTrying = true
  const outcome = mayBeTried(request) ? outcomeOf(request) : undefined
  isTrying = false
  if (outcome === undefined || outcome.kind === 'too long') long.push(request)
  else port.postMessage({ id: request.id, outcome } satisfies ScanAnswer)
}

/** What needs another connection than the statement that runs. */
function mayBeTried(request: ScanRequest): boolean {
  const { work } = request
  if (work.kind !== 'read' && work.kind !== 'end') return false
  if (mustWait(request)) return false
  if (work.snapshot === undefined || running === undefined) return true
  return snapshots.get(work.snapshot) !== running.connection
}

/** No snapshot ends before its reads have their answers, and nothing closes before all have. */
function mustWait({ work }: ScanRequest): boolean {
  if (work.kind === 'close') return fresh.length > 0 || long.length > 0
  return work.kind === 'end' && long.some((other) => isReadOf(other, work.snapshot))
}

function isReadOf({ work }: ScanRequest, snapshot: number): boolean {
  return work.kind === 'read' && work.snapshot === snapshot
}

function receive(): void {
  for (let at = receiveMessageOnPort(port); at !== undefined; at = receiveMessageOnPort(port)) {
    arrived(at.message)
  }
}

function arrived(message: ScanMessage): void {
  if (!('forget' in message)) {
    fresh.push(message)
    return
  }
  for (const list of [fresh, long]) {
    const at = list.findIndex(({ id }) => id === message.forget)
    if (at !== -1) list.splice(at, 1)
  }
  if (running?.id === message.forget) throw new StatementTooLong()
}

function serve(): void {
  while (fresh.length > 0 || long.length > 0) {
    const [next] = ownersOfTried.take(fresh, 1)
    if (next !== undefined && long.length > 0) attempt(next)
    else if (next !== undefined) long.push(next)
    const [one] = owners.take(long, 1)
    if (one !== undefined && mustWait(one)) long.push(one)
    else if (one !== undefined) {
      port.postMessage({ id: one.id, outcome: outcomeOf(one) } satisfies ScanAnswer)
      if (one.work.kind === 'close') {
        port.close()
        return
      }
    }
    receive()
  }
}

port.on('message', (message: ScanMessage) => {
  arrived(message)
  serve()
})
