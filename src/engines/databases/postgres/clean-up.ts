/**
 * Removes what a migration has created on the two servers, found by name and mark. Each side is tried even if the
 * other fails; what could not be removed is returned, and nothing else is touched.
 */

import { shortWords } from '#kernel/short-words.ts'
import { DatabaseEngineError, type MigrationSpec, type PendingCleanUp } from '../engine.ts'
import {
  codeOf,
  connect,
  type Means,
  quoteName,
  type ReachableServer,
  type Session,
} from './connect.ts'
import {
  type DatabaseTask,
  maintenanceDatabase,
  nameOf,
  sourceAccess,
  targetAccess,
} from './database-task.ts'
import { unfence } from './fence.ts'
import { listed } from './findings.ts'
import { objectName, objectNames, ownershipComment, sessionName } from './names.ts'
import { fewWords, wordsCharactersMax } from './record.ts'
import { hasReplaced, putBackReplaced } from './replaced-database.ts'
import {
  dropPublication,
  dropSlot,
  dropSubscription,
  identitiesInWords,
  refusalOf,
  restoreIdentities,
} from './replication.ts'
import { dropDumps } from './schema.ts'
import { dropRecordedStructures } from './structure.ts'
import { dropMadeDatabase, releaseTargetDatabase } from './target-database.ts'
import { wakeTriggers } from './triggers.ts'

type Trace = Omit<PendingCleanUp, 'reason' | 'tries'>

const sessionsAttemptsMax = 100
const sessionsMilliseconds = 50

interface CleanUp {
  /** Empty when everything is gone. */
  readonly pending: readonly PendingCleanUp[]
  /** What a server does not let be put back, in words. It does no harm, and waiting would not help. */
  readonly kept: readonly string[]
}

/** One pass over both sides. `drop` says whether the target database that this migration created is dropped too. */
export async function cleanUpDatabase(task: DatabaseTask, drop: boolean): Promise<CleanUp> {
  dropDumps(task)
  dropRecordedStructures(task)
  // The target database is created first, and recorded before that: nothing exists yet.
  if (!task.record.made) return { pending: [], kept: [] }
  const name = nameOf(task)
  const target = targetAccess(task.spec, task.credentials)
  const source = sourceAccess(task.spec, task.credentials)
  const tables = task.record.identities.map(({ table }) => table)
  const left: PendingCleanUp[] = []
  const kept: string[] = []
  const step = async (traces: readonly Trace[], work: () => Promise<void>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error)
      const reason = shortWords(words, wordsCharactersMax)
      const number = error instanceof DatabaseEngineError ? error.number : undefined
      const why = { reason, ...(number === undefined ? {} : { number }) }
      const tries = (kind: string): number =>
        1 + (task.record.pending.find((one) => one.kind === kind)?.tries ?? 0)
      left.push(...traces.map((trace) => ({ ...trace, ...why, tries: tries(trace.kind) })))
    }
  }
  const trace = (side: 'source' | 'target', kind: PendingCleanUp['kind'], what: string): Trace => ({
    side,
    kind,
    name: what,
    database: task.name,
  })
  const session = (access: ReachableServer, database: string): Promise<Session> =>
    connect(access, { database, applicationName: sessionName(task.migration) })

  await step(
    [
      trace('target', 'subscription', name),
      ...(drop ? [trace('target', 'database', task.name)] : []),
    ],
    async () => {
      await using server = await session(target, maintenanceDatabase(target))
      await endSessions(server, name)
      const back = await hasReplaced(task, server)
      const drops = drop || back
      // A database whose dropping was cut short by a crash refuses connections, and so does one that was about to
      // be replaced.
      const invalid = await server.value(
        'SELECT 1 FROM pg_catalog.pg_database WHERE datname = $1 AND (datconnlimit = -2 OR NOT datallowconn)',
        [task.name],
      )
      const inside = invalid ? undefined : await sessionIn(session, target, task.name)
      if (inside !== undefined) {
        await using database = inside
        await dropSubscription(database, name)
        if (!drops) {
          const refused = await restoreIdentities(database, task.record.identities)
          kept.push(...identitiesInWords('target', refused))
          await wakeTriggers(database, task.record.triggers)
        }
      }
      // A database of that name is ours even without the mark: a killed worker may not have set it.
      await server.run(`DROP DATABASE IF EXISTS ${quoteName(name)} WITH (FORCE)`)
      if (drops) await dropMadeDatabase(server, task.migration, task.name, back)
      else await releaseTargetDatabase(server, task.migration, task.name)
      await putBackReplaced(task, server)
    },
  )
  await step(
    [
      trace('source', 'slot', name),
      trace('source', 'publication', name),
      ...(tables.length === 0
        ? []
        : [trace('source', 'replica-identity', shortWords(listed(tables), wordsCharactersMax))]),
      ...(task.record.fence === undefined ? [] : [trace('source', 'fence', task.name)]),
    ],
    async () => {
      await using server = await session(source, maintenanceDatabase(source))
      await endSessions(server, name)
      await dropSlot(server, name)
      const inside = await sessionIn(session, source, task.name)
      if (inside === undefined) return
      await using database = inside
      await unfence(task, database)
      try {
        await dropPublication(database, name)
      } catch (error) {
        const words = refusalOf(error)
        if (words === undefined) throw error
        // Its tables need their identities as long as it is there.
        kept.push(
          `the publication ${name} of the source (${words})${tables.length === 0 ? '' : `, and with it REPLICA IDENTITY FULL of ${listed(tables)}`}`,
        )
      }
      const refused = await restoreIdentities(database, task.record.identities)
      kept.push(...identitiesInWords('source', refused))
    },
  )
  return { pending: left, kept: fewWords(kept) }
}

/** Undefined when there is no such database (any more). */
async function sessionIn(
  open: (access: ReachableServer, database: string) => Promise<Session>,
  access: ReachableServer,
  database: string,
): Promise<Session | undefined> {
  try {
    return await open(access, database)
  } catch (error) {
    const { cause } = error instanceof Error ? error : { cause: undefined }
    if (codeOf(cause) === '3D000') return undefined
    throw error
  }
}

/** Ends every session of that name except this one, and waits until they are gone. */
async function endSessions(server: Session, name: string): Promise<void> {
  for (let attempt = 0; attempt < sessionsAttemptsMax; attempt++) {
    const ended = await server.rows(
      `SELECT pg_catalog.pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity
       WHERE application_name = $1 AND pid <> pg_catalog.pg_backend_pid()
         AND usename = current_user`,
      [name],
    )
    if (ended.length === 0) return
    await new Promise((done) => setTimeout(done, sessionsMilliseconds))
  }
  throw new Error(`sessions named ${name} do not end`)
}

/** What both servers' catalogs show of the migration. */
export async function findTraces(
  migration: string,
  spec: MigrationSpec,
  credentials: Means,
): Promise<readonly PendingCleanUp[]> {
  const found: PendingCleanUp[] = []
  const add = (
    side: 'source' | 'target',
    database: string,
    kind: PendingCleanUp['kind'],
    name: string,
  ) => found.push({ side, database, kind, name, reason: 'It is there.', tries: 0 })
  const nameAt = (name: string): string =>
    spec.databases.find((_, index) => objectName(migration, index) === name) ?? ''
  const names = objectNames(migration)
  const open = (
    access: ReachableServer,
    database = maintenanceDatabase(access),
  ): Promise<Session> => connect(access, { database, applicationName: sessionName(migration) })
  const source = sourceAccess(spec, credentials)
  const target = targetAccess(spec, credentials)
  await using atSource = await open(source)
  await using atTarget = await open(target)
  for (const { name } of await atSource.rows<{ name: string }>(
    'SELECT slot_name AS name FROM pg_catalog.pg_replication_slots WHERE slot_name LIKE $1',
    [names],
  )) {
    add('source', nameAt(name), 'slot', name)
  }
  for (const { name } of await atTarget.rows<{ name: string }>(
    'SELECT subname AS name FROM pg_catalog.pg_subscription WHERE subname LIKE $1',
    [names],
  )) {
    add('target', nameAt(name), 'subscription', name)
  }
  for (const { name } of await atTarget.rows<{ name: string }>(
    `SELECT datname AS name FROM pg_catalog.pg_database
     WHERE pg_catalog.shobj_description(oid, 'pg_database') = $1 OR datname LIKE $2`,
    [ownershipComment(migration), names],
  )) {
    add('target', name, 'database', name)
  }
  for (const database of spec.databases) {
    const inside = await sessionIn(open, source, database)
    if (inside === undefined) continue
    await using session = inside
    for (const { name } of await session.rows<{ name: string }>(
      'SELECT pubname AS name FROM pg_catalog.pg_publication WHERE pubname LIKE $1',
      [names],
    )) {
      add('source', database, 'publication', name)
    }
  }
  return found
}
