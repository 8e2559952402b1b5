/**
 * From nothing to a complete copy: target database, snapshot, schema, rows, indexes. Online, the snapshot is
 * the slot's, and the copy ends with the subscription that goes on from it.
 */

import { DatabaseEngineError } from '../engine.ts'
import { readTables, type SourceTable } from './catalog.ts'
import { majorOf, type Session } from './connect.ts'
import { CopyProgress, copyTables } from './copy-tables.ts'
import {
  type DatabaseTask,
  enter,
  nameOf,
  openSource,
  openTarget,
  openTargetServer,
  tell,
} from './database-task.ts'
import { copyLargeObjects } from './large-objects.ts'
import {
  createPublication,
  createSlot,
  createSubscription,
  enableSubscription,
  exportSnapshot,
  lockTables,
  openTransactions,
  type Snapshot,
  setIdentities,
  sourceCounts,
  targetCounts,
} from './replication.ts'
import { dropDump, dumpSchema, missingRoles, restoreSchema } from './schema.ts'
import { recordStructure } from './structure.ts'
import { makeTargetDatabase } from './target-database.ts'
import { hindranceOfTarget } from './target-reaches-source.ts'
import { silenceTriggers } from './triggers.ts'

const progressMilliseconds = 500
const waitMilliseconds = 500
/** Before version 15 a session's row counts reach the collector up to this long after its end. */
const collectorMilliseconds = 1_500

/** Leaves the target complete, and online with changes flowing. The caller cleans up after a failure. */
export async function loadDatabase(task: DatabaseTask): Promise<void> {
  await using sessions = new AsyncDisposableStack()
  const source = sessions.use(await openSource(task))
  enter(task, 'preparing', 'Making the target database.')
  const server = sessions.use(await openTargetServer(task))
  const lacking = await missingRoles(source, server)
  task.record.owners = lacking.length === 0
  const sourceMajor = await majorOf(source)
  const targetMajor = await majorOf(server)
  requireClient(task, sourceMajor)
  // Asked before a database is made, for which another may have to go.
  const online = task.spec.mode === 'online'
  if (online) await requireReach(task, server)
  if (online && !task.spec.setUpReplication) requireIdentities(await readTables(source))
  await makeTargetDatabase(task, source, server)
  if (online) {
    // Where its user may not create things outside, it may inside.
    await using inside = await openTarget(task)
    await requireReach(task, inside)
  }
  const snapshot = sessions.use(await takeSnapshot(task, source))
  const tables = await lockedTables(task, sessions, snapshot)

  enter(task, 'schema', schemaMessage(lacking))
  await dumpSchema(task, snapshot.name)
  await restoreSchema(task, 'pre-data')

  enter(task, 'copying', `Copying ${tables.length} tables.`)
  const progress = new CopyProgress(task.clock, tables)
  const ticker = setInterval(() => progress.report(task), progressMilliseconds)
  sessions.defer(() => clearInterval(ticker))
  const encoding = (await source.value('SHOW server_encoding')) ?? 'UTF8'
  await copyTables(
    task,
    {
      tables,
      snapshot: snapshot.name,
      binary: sourceMajor === targetMajor && encoding === 'UTF8',
      encoding,
      pieces: sourceMajor >= 14,
    },
    progress,
  )
  await copyObjects(task, snapshot.name)
  clearInterval(ticker)

  enter(task, 'indexing', 'Building indexes and constraints.')
  await restoreSchema(task, 'post-data')
  dropDump(task)
  if (online) await silence(task)
  await recordStructure(task, 'target')
  if (online) await startReplicating(task, source, targetMajor)
}

async function requireReach(task: DatabaseTask, target: Session): Promise<void> {
  const { spec, name: database } = task
  const { sourcePassword } = task.credentials
  const hindrance = await hindranceOfTarget({ spec, database, sourcePassword, target })
  if (hindrance !== undefined) throw hindrance
}

function requireClient(task: DatabaseTask, sourceMajor: number): void {
  if (task.programs.major >= sourceMajor) return
  throw new DatabaseEngineError(
    'refused',
    `The source is of version ${sourceMajor}, and the client programs found (${task.programs.folder}) are of version ${task.programs.version}: install those of version ${sourceMajor} or later.`,
    { number: 603400 },
  )
}

function schemaMessage(lacking: readonly string[]): string {
  return lacking.length === 0
    ? 'Copying the schema.'
    : `Copying the schema without owners and grants, since the target lacks these roles, or its user may not act as them: ${lacking.join(', ')}.`
}

async function takeSnapshot(task: DatabaseTask, source: Session): Promise<Snapshot> {
  const { spec } = task
  if (spec.mode === 'offline') {
    await recordStructure(task, 'source')
    return exportSnapshot(await openSource(task))
  }
  if (spec.setUpReplication) await setIdentities(task, source)
  const tables = await readTables(source)
  requireIdentities(tables)
  await createPublication(task, source, tables)
  // Another migration that ended just now may have taken back what both had.
  if (spec.setUpReplication) await setIdentities(task, source)
  task.onBoundary('published')
  task.record.sourceBase = await sourceCounts(source, nameOf(task))
  await recordStructure(task, 'source')
  const snapshot = await slotOf(task, source)
  task.onBoundary('slot')
  return snapshot
}

function requireIdentities(tables: readonly SourceTable[]): void {
  const lacking = tables.filter(({ identityMissing, unlogged }) => identityMissing && !unlogged)
  if (lacking.length > 0) {
    throw new DatabaseEngineError(
      'refused',
      `Tables without a replica identity cannot be updated while they are published: ${lacking
        .slice(0, 10)
        .map(({ name }) => name)
        .join(', ')}. Allow the set-up of logical replication, or give them a primary key.`,
    )
  }
}

/** The server makes a slot once every transaction that writes has ended; says what it waits for, till then. */
async function slotOf(task: DatabaseTask, source: Session): Promise<Snapshot> {
  const session = await openSource(task, { replication: true })
  await session.run('SET lock_timeout = 0')
  let isMade = false
  const made = createSlot(task, session).finally(() => {
    isMade = true
  })
  // While the transactions are asked about nobody waits for it; the race does, before and after.
  made.catch(() => undefined)
  for (;;) {
    await Promise.race([made, new Promise((done) => setTimeout(done, waitMilliseconds))])
    if (isMade) return made
    const open = await openTransactions(source)
    if (open !== '')
      tell(task, { message: `Waiting for transactions at the source to end: ${open}.` })
  }
}

/** What the snapshot sees, kept from change by a session that holds locks until the copy is done. */
async function lockedTables(
  task: DatabaseTask,
  sessions: AsyncDisposableStack,
  snapshot: Snapshot,
) {
  const reader = await openSource(task)
  const tables = await (async () => {
    await using _ = reader
    await reader.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    await reader.run(`SET TRANSACTION SNAPSHOT '${snapshot.name}'`)
    // Awaited here: the session ends with this block.
    return await readTables(reader)
  })()
  const holder = sessions.use(await openSource(task))
  await lockTables(holder, snapshot.name, tables)
  return tables
}

async function copyObjects(task: DatabaseTask, snapshot: string): Promise<void> {
  await using source = await openSource(task)
  await using target = await openTarget(task)
  await source.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  await source.run(`SET TRANSACTION SNAPSHOT '${snapshot}'`)
  await target.run('SET synchronous_commit = off')
  await copyLargeObjects(source, target, {
    owners: task.record.owners,
    compare: false,
    signal: task.signal,
    onBytes: () => undefined,
  })
}

async function silence(task: DatabaseTask): Promise<void> {
  await using target = await openTarget(task)
  await silenceTriggers(task, target)
}

async function startReplicating(
  task: DatabaseTask,
  source: Session,
  targetMajor: number,
): Promise<void> {
  await using target = await openTarget(task)
  if (task.spec.analyze) await target.run('ANALYZE')
  task.onBoundary('loaded')
  await createSubscription(task, target, targetMajor)
  task.onBoundary('subscribed')
  if (targetMajor < 15) await new Promise((done) => setTimeout(done, collectorMilliseconds))
  task.record.targetBase = await targetCounts(target, nameOf(task))
  task.record.targetLast = task.record.targetBase
  task.record.sourceBase ??= await sourceCounts(source, nameOf(task))
  task.save()
  await enableSubscription(task, target)
  tell(task, { message: 'Changes are flowing.' })
}
