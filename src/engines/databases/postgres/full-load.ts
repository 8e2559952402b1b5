/**
 * From nothing to a complete copy: target database, snapshot, schema, rows, indexes. Online, the snapshot is
 * the slot's, and the copy ends with the subscription that goes on from it.
 */

import { DatabaseEngineError } from '../engine.ts'
import { readTables } from './catalog.ts'
import type { Session } from './connect.ts'
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
  type Snapshot,
  setIdentities,
  sourceCounts,
  targetCounts,
} from './replication.ts'
import { dropDump, dumpSchema, missingRoles, restoreSchema } from './schema.ts'
import { makeTargetDatabase } from './target-database.ts'

const progressMilliseconds = 500
/** Before version 15 a session's row counts reach the collector up to this long after its end. */
const collectorMilliseconds = 1_500

export async function majorOf(session: Session): Promise<number> {
  return Math.floor(Number(await session.value('SHOW server_version_num')) / 10_000)
}

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
  await makeTargetDatabase(task, source, server)
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
  if (task.spec.mode === 'online') await startReplicating(task, source, targetMajor)
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
    : `Copying the schema without owners and grants, since the target lacks the roles ${lacking.join(', ')}.`
}

async function takeSnapshot(task: DatabaseTask, source: Session): Promise<Snapshot> {
  const { spec } = task
  if (spec.mode === 'offline') return exportSnapshot(await openSource(task))
  if (spec.setUpReplication) await setIdentities(task, source)
  const tables = await readTables(source)
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
  await createPublication(task, source, tables)
  task.onBoundary('published')
  task.record.sourceBase = await sourceCounts(source, nameOf(task))
  const snapshot = await createSlot(task, await openSource(task, { replication: true }))
  task.onBoundary('slot')
  return snapshot
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
  tell(task, { message: 'Changes are flowing; waiting for the cutover.' })
}
