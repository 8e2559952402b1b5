/**
 * From nothing to a complete copy: target database, snapshot, schema, rows, indexes. Online, the snapshot is
 * the slot's, and the copy ends with the subscription that goes on from it.
 */

import { DatabaseEngineError } from '../engine.ts'
import { currentNames, readTables, type SourceTable, unalteredShape } from './catalog.ts'
import { codeOf, majorOf, type Session } from './connect.ts'
import { CopyProgress, copyAnew, copyTables } from './copy-tables.ts'
import {
  type DatabaseTask,
  enter,
  nameOf,
  openSource,
  openTarget,
  openTargetServer,
  tell,
  together,
} from './database-task.ts'
import { giveWay } from './give-way.ts'
import { watchIndexes } from './index-progress.ts'
import { LargeIndexes } from './large-indexes.ts'
import { copyLargeObjects } from './large-objects.ts'
import { leftBehind } from './left-behind.ts'
import { fewWords, toBeCaughtUp } from './record.ts'
import {
  createPublication,
  createSlot,
  createSubscription,
  enableSubscription,
  exportSnapshot,
  openTransactions,
  publish,
  type Snapshot,
  setIdentities,
  sourceCounts,
  targetCounts,
} from './replication.ts'
import { recordCopied } from './report.ts'
import { boundToMissingRoles, lacksRoles } from './roles.ts'
import { requireRoom } from './room.ts'
import {
  dropDump,
  dumpWithoutList,
  foreignCompression,
  isForeignKey,
  linesAfterRows,
  listOfDump,
  makeLists,
  missingRoles,
  restoreSchema,
  stepsAfterRows,
  triggersOfPartitions,
} from './schema.ts'
import { recordRows, recordStructure } from './structure.ts'
import { makeTargetDatabase } from './target-database.ts'
import { hindranceOfTarget } from './target-reaches-source.ts'
import { silenceTriggers } from './triggers.ts'

const progressMilliseconds = 500
const waitMilliseconds = 500
/** Before version 15, a session's row counts reach the statistics up to this long after its end. */
const collectorMilliseconds = 1_500

/** Leaves the target complete, and online with replication running. The caller cleans up after a failure. */
export async function loadDatabase(task: DatabaseTask): Promise<void> {
  await using sessions = new AsyncDisposableStack()
  const source = sessions.use(await openSource(task))
  enter(task, 'preparing', 'Making the target database.')
  const server = sessions.use(await openTargetServer(task))
  const lacking = await missingRoles(source, server)
  task.record.owners = lacking.length === 0
  const compressed = await foreignCompression(source, server)
  task.record.leavesCompression = compressed > 0
  task.record.setAside = fewWords(await leftBehind(source, lacking, compressed))
  const sourceMajor = await majorOf(source)
  const targetMajor = await majorOf(server)
  requireClient(task, sourceMajor)
  // Checked before a database is created, for which another may have to be dropped.
  const online = task.spec.mode === 'online'
  if (online) await requireReach(task, server)
  if (online && !task.spec.setUpReplication) requireIdentities(await readTables(source))
  const bound = await boundToMissingRoles(source, server)
  if (bound.length > 0) throw new DatabaseEngineError('refused', lacksRoles(bound))
  await requireRoom(task, source, server)
  const made = makeTargetDatabase(task, source, server)
  // Online, the target's way to the source is tried from the new database before anything is made at the source.
  const read = (online ? made.then(() => requireReachInside(task)) : Promise.resolve()).then(() =>
    readSource(task, source, sessions),
  )
  const [{ snapshot, ended, tables, indexes, hasObjects }] = await together([read, made])

  enter(task, 'schema', schemaMessage(lacking))
  await together([
    restoreSchema(task, { of: 'copied', section: 'pre-data' }),
    makeLists(task, 'copied'),
  ])
  indexes.restrictTo(listOfDump(task, 'copied'))

  enter(task, 'copying', `Copying ${tables.length} tables.`)
  const progress = new CopyProgress(task.clock, tables)
  const ticker = setInterval(() => progress.report(task), progressMilliseconds)
  sessions.defer(() => clearInterval(ticker))
  const encoding = (await source.value('SHOW server_encoding')) ?? 'UTF8'
  const altered = await copyTables(
    task,
    {
      tables,
      snapshot: snapshot.name,
      binary: sourceMajor === targetMajor && encoding === 'UTF8',
      encoding,
      pieces: sourceMajor >= 14,
      ended,
      onCopied: (table) => indexes.begin(table),
    },
    progress,
  )
  if (hasObjects) await copyObjects(task, snapshot.name)
  // What is copied anew is emptied first, under a lock that is not waited for long.
  if (altered.length > 0) await indexes.end()
  if (online) await setAside(task, source, altered)
  // In an offline copy the comparison finds changes of the structure.
  else await copyAgain(task, source, { altered, encoding, progress })
  clearInterval(ticker)
  recordCopied(task, progress.copied())

  enter(task, 'indexing', 'Building indexes and constraints.')
  {
    await using _watch = await watchIndexes(task)
    await indexes.end()
    const { lone, others } = indexes.leftOf(linesToRestore(task))
    await restoreSchema(task, { of: 'copied', section: 'post-data', lines: lone, inOrder: true })
    for (const step of stepsAfterRows(others, await triggersOfPartitions(source))) {
      await restoreSchema(task, { of: 'copied', section: 'post-data', ...step })
    }
  }
  dropDump(task, 'copied', { keepList: online })
  if (online) await silence(task)
  if (!online) return
  await recordStructure(task, 'target')
  await startReplicating(task, source, targetMajor)
}

async function copyAgain(
  task: DatabaseTask,
  source: Session,
  at: {
    readonly altered: readonly SourceTable[]
    readonly encoding: string
    readonly progress: CopyProgress
  },
): Promise<void> {
  const tables = await unalteredShape(source, at.altered)
  await recordRows(
    task,
    source,
    tables.map(({ name }) => name),
  )
  for (const table of tables) await copyAnew(task, table, at.encoding, at.progress)
}

/** A user who may not create things in the server's database may do so inside. */
async function requireReachInside(task: DatabaseTask): Promise<void> {
  await using inside = await openTarget(task)
  await requireReach(task, inside)
}

interface SourceReading {
  readonly snapshot: Snapshot
  /** Backends of the source that were ended so that somebody else gets a lock. */
  readonly ended: ReadonlySet<number>
  readonly tables: readonly SourceTable[]
  readonly indexes: LargeIndexes
  /** There are large objects. */
  readonly hasObjects: boolean
}

/** Takes the snapshot, and dumps the schema in it. What it opens ends with `sessions`. */
async function readSource(
  task: DatabaseTask,
  source: Session,
  sessions: AsyncDisposableStack,
): Promise<SourceReading> {
  const snapshot = sessions.use(await takeSnapshot(task, source))
  const { ended } = sessions.use(giveWay(task))
  const [read] = await together([
    tablesOf(task, snapshot),
    dumpWithoutList(task, 'copied', snapshot.name),
  ])
  sessions.use(read.indexes)
  return { snapshot, ended, ...read }
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
    // In any case it comes before the snapshot, and online after the publication.
    await recordStructure(task, 'source')
    return exportSnapshot(await openSource(task))
  }
  if (spec.setUpReplication) await setIdentities(task, source)
  const tables = await readTables(source)
  requireIdentities(tables)
  await createPublication(task, source, tables)
  // A migration that ended just now may have restored what both had changed.
  if (spec.setUpReplication) await setIdentities(task, source)
  task.onBoundary('published')
  task.record.sourceBase = await sourceCounts(source, nameOf(task))
  await recordStructure(task, 'source')
  const snapshot = await slotOf(task, source)
  task.onBoundary('slot')
  return snapshot
}

function requireIdentities(tables: readonly SourceTable[]): void {
  const lacking = tables.filter(({ identityMissing, replicated }) => identityMissing && replicated)
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

/** The server creates a slot once every writing transaction has ended; reports what it waits for until then. */
async function slotOf(task: DatabaseTask, source: Session): Promise<Snapshot> {
  const session = await openSource(task, { replication: true })
  await session.run('SET lock_timeout = 0')
  let isMade = false
  const made = createSlot(task, session).finally(() => {
    isMade = true
  })
  // Nobody awaits it while the transactions are listed; the race does, before and after.
  made.catch(() => undefined)
  for (;;) {
    await Promise.race([made, new Promise((done) => setTimeout(done, waitMilliseconds))])
    if (isMade) return made
    const open = await openTransactions(source)
    if (open !== '')
      tell(task, { message: `Waiting for transactions at the source to end: ${open}.` })
  }
}

/** What the snapshot sees. Reading sizes needs a lock on each table, with a short wait. */
async function tablesOf(task: DatabaseTask, snapshot: Snapshot) {
  for (;;) {
    await using reader = await openSource(task)
    await reader.run(
      `SET lock_timeout = ${waitMilliseconds}; BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`,
    )
    await reader.run(`SET TRANSACTION SNAPSHOT '${snapshot.name}'`)
    try {
      const tables = await readTables(reader)
      const indexes = await LargeIndexes.plan(task, reader, tables)
      const object = 'SELECT 1 FROM pg_catalog.pg_largeobject_metadata LIMIT 1'
      return { tables, indexes, hasObjects: (await reader.value(object)) !== undefined }
    } catch (error) {
      if (codeOf(error) !== '55P03') throw error
      tell(task, { message: 'Waiting for a moment in which nobody alters a table.' })
    }
    await new Promise((done) => setTimeout(done, waitMilliseconds))
  }
}

/** Tables altered during the copy are not part of the first subscription: see `catch-up.ts`. */
async function setAside(
  task: DatabaseTask,
  source: Session,
  altered: readonly SourceTable[],
): Promise<void> {
  if (altered.length === 0) return
  const names = await currentNames(source, altered)
  task.record.resync = names
  task.record.caughtUp = toBeCaughtUp
  task.save()
  await publish(task, source, names, 'DROP')
}

/** Foreign keys may refer to rows of a table that is copied again, so they come after it. */
function linesToRestore(task: DatabaseTask): readonly string[] {
  const lines = linesAfterRows(task, 'copied')
  return task.record.caughtUp !== toBeCaughtUp ? lines : lines.filter((line) => !isForeignKey(line))
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
