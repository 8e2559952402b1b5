/** What every step of one database's migration gets. */

import type { Clock } from '#kernel/ports.ts'
import type { DatabasePhase, MigrationSpec, ObservedDatabase } from '../engine.ts'
import { connect, type Means, type ReachableServer, type Session } from './connect.ts'
import type { ClientPrograms } from './find-client-programs.ts'
import { objectName } from './names.ts'
import type { DatabaseRecord, Noticed } from './record.ts'

export interface DatabaseTask {
  readonly migration: string
  /** The index of the database in the specification. */
  readonly index: number
  readonly name: string
  readonly spec: MigrationSpec
  readonly credentials: Means
  readonly programs: ClientPrograms
  readonly clock: Clock
  /** Private to the migration; for the schema dump and certificates. */
  readonly folder: string
  readonly record: DatabaseRecord
  /** An earlier worker began it, and may have had another password or address. */
  readonly resumed: boolean
  /** Fires when the database is canceled or the worker stops. */
  readonly signal: AbortSignal
  /** The deadline of a client program. */
  readonly programSeconds?: number
  /** Writes the record; it is on disk when this returns. */
  save(): void
  /** Whether `cutover` was requested. */
  cutoverAsked(): boolean
  /** How often `catchUp` was requested. */
  catchUpsWanted(): number
  /** Called at each boundary with its name, so that tests can stop there. */
  onBoundary(name: string): void
}

/** The name of the task's slot, publication, subscription and sessions. */
export function nameOf(task: DatabaseTask): string {
  return objectName(task.migration, task.index)
}

export function sourceAccess(spec: MigrationSpec, means: Means): ReachableServer {
  const { sourcePassword: password, targetPassword: _, ...reach } = means
  return { ...reach, address: spec.source, password }
}

/** When the default database is itself replaced, sessions on the server use another one. */
const otherMaintenanceDatabase = 'template1'

export function targetAccess(spec: MigrationSpec, means: Means): ReachableServer {
  const { targetPassword: password, sourcePassword: _, ...reach } = means
  const access = { ...reach, address: spec.target, password }
  return spec.databases.includes(maintenanceDatabase(access))
    ? { ...access, address: { ...spec.target, database: otherMaintenanceDatabase } }
    : access
}

export function maintenanceDatabase(access: ReachableServer): string {
  return access.address.database ?? 'postgres'
}

/** Ends with the task's signal, even in the middle of a query. */
export function openSource(task: DatabaseTask, options: { replication?: boolean } = {}) {
  return open(task, sourceAccess(task.spec, task.credentials), task.name, options.replication)
}

/** After so long, a vacuum of the target's own is ended for us: a second of it would be one more of a cutover's pause. */
const vacuumPatience = '50ms'

/**
 * The session has the role of a replica if the user may set it, so that our statements fire no triggers and no
 * event triggers.
 */
export async function openTarget(task: DatabaseTask): Promise<Session> {
  const session = await open(task, targetAccess(task.spec, task.credentials), task.name)
  await session.value(
    `SELECT pg_catalog.set_config('session_replication_role', 'replica', false),
       pg_catalog.set_config('deadlock_timeout', '${vacuumPatience}', false)
     FROM pg_catalog.pg_roles WHERE rolname = current_user AND rolsuper`,
  )
  return session
}

/** A session on the target outside the migration's databases, to create and drop these. */
export function openTargetServer(task: DatabaseTask): Promise<Session> {
  const access = targetAccess(task.spec, task.credentials)
  return open(task, access, maintenanceDatabase(access))
}

async function open(
  task: DatabaseTask,
  access: ReachableServer,
  database: string,
  replication = false,
): Promise<Session> {
  task.signal.throwIfAborted()
  const session = await connect(access, { database, applicationName: nameOf(task), replication })
  // The server notices a closed socket late; the clean-up ends leftovers by their name.
  const end = (): void => void session[Symbol.asyncDispose]()
  task.signal.addEventListener('abort', end, { once: true })
  session.client.once('end', () => task.signal.removeEventListener('abort', end))
  return session
}

/** What each comes to. None is left under way when another fails, and what they opened is known to whoever closes it. */
export async function together<T extends readonly Promise<unknown>[]>(
  work: readonly [...T],
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(work)
  return Promise.all(work)
}

/** The length of a message; it contains the server's own names, which can have any length. */
const messageMax = 4_000

/** Changes the observed state of the database; `save` writes it. */
export function tell(task: DatabaseTask, change: Partial<ObservedDatabase>): void {
  const { message } = change
  const shown = message === undefined ? change : { ...change, message: shortMessage(message) }
  task.record.observed = { ...task.record.observed, ...shown }
}

export function shortMessage(text: string): string {
  return text.length <= messageMax ? text : `${text.slice(0, messageMax - 1)}…`
}

/** Changes the observed obstacles. */
export function warn(task: DatabaseTask, what: Noticed, words: string | undefined): void {
  const { [what]: before, ...others } = task.record.warnings
  if (before === words) return
  task.record.warnings = words === undefined ? others : { ...others, [what]: words }
  tell(task, { warning: shortMessage(Object.values(task.record.warnings).join(' ')) })
}

/** Enters a phase, which is recorded before anything of it is done. */
export function enter(task: DatabaseTask, phase: DatabasePhase, message: string): void {
  tell(task, { phase, message })
  task.save()
  task.onBoundary(phase)
}
