/**
 * A migration as its worker runs it: takes the lock that keeps a second worker out, makes the roles, runs the
 * databases, and writes down what happens. Knows nothing of processes.
 */

import type { Clock } from '#kernel/ports.ts'
import { shortWords } from '#kernel/short-words.ts'
import { DatabaseEngineError, isEnd, type MigrationSpec } from '../engine.ts'
import { connect, isTransient, type Means, type Session } from './connect.ts'
import {
  type DatabaseTask,
  maintenanceDatabase,
  sourceAccess,
  targetAccess,
} from './database-task.ts'
import type { ClientPrograms } from './find-client-programs.ts'
import { listed } from './findings.ts'
import { lockKey, sessionName } from './names.ts'
import {
  type DatabaseRecord,
  freshRecord,
  type Intents,
  type MigrationState,
  type ProcessIdentity,
  type RecordFolder,
  startsOver,
} from './record.ts'
import { copyRoles } from './roles.ts'
import { runDatabase } from './run-database.ts'

interface MigrationRun {
  readonly migration: string
  readonly spec: MigrationSpec
  readonly credentials: Means
  readonly programs: ClientPrograms
  readonly clock: Clock
  readonly folder: RecordFolder
  readonly process: ProcessIdentity
  readonly stop: AbortSignal
  onBoundary(name: string): void
}

const tickMilliseconds = 200
const intentMilliseconds = 100
const lockMilliseconds = 1_000
/** How long a worker that the lock refuses stays, so that workers do not follow each other without a pause. */
const leaveMilliseconds = 2_000

type Save = (durable: boolean, isBeforeEffect?: boolean, grown?: DatabaseRecord) => void

/** Returns when all is at an end, or stopped. */
export async function runMigration(run: MigrationRun): Promise<void> {
  const stopping = new AbortController()
  const stop = AbortSignal.any([run.stop, stopping.signal])
  let intents = run.folder.readIntents()
  const cancels = run.spec.databases.map(() => new AbortController())
  const read = (): void => {
    intents = run.folder.readIntents()
    for (const [index, name] of run.spec.databases.entries()) {
      if (intents.cancel.includes(name)) cancels[index]?.abort()
    }
  }
  read()
  await using timers = new AsyncDisposableStack()
  const every = (milliseconds: number, work: () => void): void => {
    const timer = setInterval(work, milliseconds)
    timers.defer(() => clearInterval(timer))
  }
  every(intentMilliseconds, read)
  await using lock = await takeLock(run, stop, () => allCanceled(run.spec, intents))
  if (lock !== undefined) run.folder.writeRefusal('')
  // Not before: until then another worker may be at the record, perhaps of another machine.
  const state = openState(run)
  if (stop.aborted || run.folder.readState()?.ended === true) return
  const save: Save = (durable, isBeforeEffect = false, grown = undefined) => {
    // The record is the next worker's.
    if (lock?.lost() !== undefined) {
      if (isBeforeEffect) throw new Error('The lock of the migration is lost.')
      return
    }
    state.updatedAt = run.clock.now()
    run.folder.writeState(state, durable, grown)
  }
  save(true)
  every(tickMilliseconds, () => save(false))
  try {
    // The server has let go of the lock with the session: another worker may take it, so this one ends. It ends at
    // once: a server that crashed has forgotten commits that were not flushed, and what goes on would not know.
    for (const event of ['error', 'end']) lock?.client.once(event, () => stopping.abort())
    if (lock?.lost() !== undefined) stopping.abort()
    await makeRoles(run, state, stop)
    await runAll(run, state, {
      stop,
      cancels,
      intents: () => intents,
      save,
      leave: () => stopping.abort(),
    })
    state.ended = state.databases.every(
      ({ observed, pending }) => isEnd(observed.phase) && pending.length === 0,
    )
  } finally {
    await timers.disposeAsync()
    save(true)
  }
}

/** A database that makes the record too large goes on, to its failure, with what was written last. */
function saved(run: MigrationRun, record: DatabaseRecord, index: number, save: Save): void {
  try {
    save(true, true, record)
  } catch (error) {
    if (error instanceof DatabaseEngineError) {
      const written = run.folder.readState()?.databases[index]
      Object.assign(record, freshRecord(record.observed.name, 1), written)
    }
    throw error
  }
}

function openState(run: MigrationRun): MigrationState {
  const before = run.folder.readState()
  return {
    // One that an earlier version wrote down may lack what came since.
    databases: run.spec.databases.map((name, index) => ({
      ...freshRecord(name, 1),
      ...before?.databases[index],
    })),
    message: '',
    updatedAt: run.clock.now(),
    rolesDone: before?.rolesDone ?? false,
    ended: false,
    worker: run.process,
  }
}

function allCanceled(spec: MigrationSpec, intents: Intents): boolean {
  return spec.databases.every((name) => intents.cancel.includes(name))
}

/**
 * Held by a session on the target for the whole run. A canceled migration whose target is away goes on
 * without it: the source must be freed.
 */
async function takeLock(
  run: MigrationRun,
  stop: AbortSignal,
  canceled: () => boolean,
): Promise<Session | undefined> {
  const access = targetAccess(run.spec, run.credentials)
  const [space, key] = lockKey(run.migration)
  while (!stop.aborted) {
    try {
      const session = await connect(access, {
        database: maintenanceDatabase(access),
        applicationName: sessionName(run.migration),
      })
      const got = await session.value('SELECT pg_catalog.pg_try_advisory_lock($1, $2)', [
        space,
        key,
      ])
      if (got === 'true') return session
      await session[Symbol.asyncDispose]()
      run.folder.writeRefusal(
        'Another worker holds the lock of this migration on the target server.',
      )
    } catch (error) {
      run.folder.writeRefusal(error instanceof Error ? error.message : String(error))
      // Wrong credentials are not mended by waiting: the databases fail with the server's words.
      const isAlone = !run.folder.isRenewed(run.clock.now())
      if (isAlone && (canceled() || !isTransient(error))) return undefined
    }
    await new Promise((done) => setTimeout(done, lockMilliseconds))
  }
  return undefined
}

/** What a server says of roles has their names and values, of any length. */
const messageCharactersMax = 4_000

function rolesInWords(words: string): string {
  return shortWords(`Roles: ${words}`, messageCharactersMax)
}

async function makeRoles(
  run: MigrationRun,
  state: MigrationState,
  stop: AbortSignal,
): Promise<void> {
  while (run.spec.roles && !state.rolesDone && !stop.aborted) {
    try {
      const from = sourceAccess(run.spec, run.credentials)
      const to = targetAccess(run.spec, run.credentials)
      const applicationName = sessionName(run.migration)
      await using source = await connect(from, {
        database: maintenanceDatabase(from),
        applicationName,
      })
      await using target = await connect(to, { database: maintenanceDatabase(to), applicationName })
      const refused = await copyRoles(source, target)
      // What a role lacks shows where it is needed; the data does not wait for it.
      state.message = refused.length === 0 ? '' : rolesInWords(listed(refused))
      state.rolesDone = true
    } catch (error) {
      state.message = rolesInWords(error instanceof Error ? error.message : String(error))
      if (!isTransient(error)) state.rolesDone = true
      else if (allCanceled(run.spec, run.folder.readIntents())) return
      else await new Promise((done) => setTimeout(done, lockMilliseconds))
    }
  }
}

/** Until the next look at the requests, or until a database ends. */
async function tickOrEnd(active: readonly Promise<void>[]): Promise<void> {
  const tick = Promise.withResolvers<void>()
  const timer = setTimeout(tick.resolve, intentMilliseconds)
  await Promise.race([tick.promise, ...active])
  clearTimeout(timer)
}

/** Those that are to be tried again wait behind the others; nothing else of the migration is touched. */
function takeUpFailed(
  run: MigrationRun,
  state: MigrationState,
  { retry }: Intents,
  {
    waiting,
    active,
  }: { readonly waiting: number[]; readonly active: ReadonlyMap<number, unknown> },
): void {
  for (const [index, name] of run.spec.databases.entries()) {
    const record = state.databases[index]
    const wanted = retry[name] ?? 0
    if (record?.observed.phase !== 'failed' || wanted <= record.retried) continue
    // Its last run has not returned, and would go on with it.
    if (active.has(index)) continue
    const { identities } = record
    Object.assign(record, freshRecord(name, 1), { retried: wanted, identities })
    if (!waiting.includes(index)) waiting.push(index)
  }
}

async function runAll(
  run: MigrationRun,
  state: MigrationState,
  {
    stop,
    cancels,
    intents,
    save,
    leave,
  }: {
    readonly stop: AbortSignal
    readonly cancels: readonly AbortController[]
    readonly intents: () => Intents
    readonly save: Save
    readonly leave: () => void
  },
): Promise<void> {
  const waiting = state.databases.map((_, index) => index)
  const active = new Map<number, Promise<void>>()
  const faults: unknown[] = []
  /** Databases that other passwords are needed for. */
  const shutOut = new Set<number>()
  const start = (index: number): Promise<void> => {
    const record = state.databases[index]
    const name = run.spec.databases[index]
    const cancel = cancels[index]
    if (record === undefined || name === undefined || cancel === undefined) {
      throw new Error(`the record has no database ${index}`)
    }
    const resumed = record.observed.phase !== 'queued'
    const task = (signal: AbortSignal, isBounded: boolean): DatabaseTask => ({
      migration: run.migration,
      index,
      name,
      spec: run.spec,
      credentials: run.credentials,
      programs: run.programs,
      clock: run.clock,
      folder: run.folder.path,
      record,
      resumed,
      signal,
      save: () => (isBounded ? saved(run, record, index, save) : save(true, true)),
      cutoverAsked: () => intents().cutover.includes(name),
      catchUpsWanted: () => intents().catchUp[name] ?? 0,
      onBoundary: run.onBoundary,
    })
    return runDatabase({
      task,
      stop,
      cancel: cancel.signal,
      dropTarget: () => intents().dropTarget.includes(name),
      shutOut: () => shutOut.add(index),
    })
  }
  /** Those that only wait for the cutover hold no place: the next one may be copied meanwhile. */
  const loading = (): number =>
    [...active.keys()].filter((index) => state.databases[index]?.observed.phase !== 'replicating')
      .length
  while (!stop.aborted && faults.length === 0) {
    // The last look comes after the last database has ended: what is asked for until then is done.
    const isLast = active.size === 0
    const wanted = isLast ? run.folder.readIntents() : intents()
    takeUpFailed(run, state, wanted, { waiting, active })
    if (waiting.length === 0 && isLast) break
    while (waiting.length > 0 && loading() < run.spec.databasesAtOnce) {
      const index = waiting.shift() ?? 0
      const left = (): void => void active.delete(index)
      active.set(
        index,
        start(index).then(left, (fault) => {
          left()
          faults.push(fault)
        }),
      )
    }
    await tickOrEnd([...active.values()])
    // A worker is given its passwords once, so it makes room for one that knows the new ones; not in the middle
    // of a copy, which would be begun anew.
    const isCopying = (index: number): boolean =>
      startsOver(state.databases[index]?.observed.phase ?? 'queued')
    if (shutOut.size > 0 && ![...active.keys()].some(isCopying)) {
      await new Promise((done) => setTimeout(done, leaveMilliseconds))
      leave()
    }
  }
  if (faults.length > 0) throw faults[0]
  await Promise.all(active.values())
}
