/**
 * The end of the online phase: keeps writers out, lets the last changes through, brings over what replication
 * does not carry, compares, and takes everything down. Every step can be repeated; until the subscription is
 * dropped a failure leads back to the source, after that only forward.
 */

import { DatabaseEngineError } from '../engine.ts'
import { copySequences } from './catalog.ts'
import { quoteText, type Session } from './connect.ts'
import { relayCopy } from './copy-relay.ts'
import { columnList } from './copy-tables.ts'
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
import { fence, unfence } from './fence.ts'
import { copyLargeObjects } from './large-objects.ts'
import { carryPublications } from './publications.ts'
import { fewWords } from './record.ts'
import { ViewRefresh } from './refresh-views.ts'
import { count } from './replicate.ts'
import {
  dropPublication,
  dropSlot,
  dropSubscription,
  identitiesInWords,
  markLog,
  restoreIdentities,
  restoreUnused,
} from './replication.ts'
import { StructureWatch } from './structure.ts'
import { finishTargetDatabase } from './target-database.ts'
import { wakeTriggers } from './triggers.ts'
import { Comparison, fingerprintsOf } from './verify.ts'

const drainMilliseconds = 600_000
/** Without a confirmed change for so long, the source is opened again. */
const stallMilliseconds = 30_000
const pollMilliseconds = 10

export async function cutOver(
  task: DatabaseTask,
  structure = new StructureWatch(task),
): Promise<void> {
  await using source = await openSource(task)
  await using server = await openTargetServer(task)
  enter(task, 'cutting-over', 'Keeping writers out of the source.')
  if (!task.record.pastReturn) {
    await using target = await openTarget(task)
    await using looking = await openSource(task)
    await using lookingToo = await openTarget(task)
    await using comparison = await Comparison.open(task, source)
    await using views = await ViewRefresh.open(task, target)
    const beside: Sides = { source: looking, target: lookingToo }
    await structure.requireAlike(looking, lookingToo)
    // A fence that is up already is one of a worker that was killed.
    if (task.record.fence === undefined) task.record.fencedAt = task.clock.now()
    await fence(task, source)
    task.onBoundary('fenced')
    tell(task, { message: 'Letting the last changes through.' })
    // Unless something was altered since, this reads only two sums.
    await Promise.all([drain(task, source, target), structure.requireAlike(looking, lookingToo)])
    task.onBoundary('drained')
    await Promise.all([
      bringOver({ task, sides: { source, target }, beside, comparison, views }),
      comparison.compare(({ replicated }) => replicated),
      count(task, looking, lookingToo),
    ])
    await comparison.compare(({ replicated }) => !replicated)
    comparison.record()
    task.record.pastReturn = true
    task.save()
    task.onBoundary('past-return')
    await takeDown(task, { source, target, server, leaving: looking })
  } else {
    await using target = await openTarget(task)
    await using leaving = await openSource(task)
    await takeDown(task, { source, target, server, leaving })
  }
  tell(task, {
    counters: { ...task.record.observed.counters, latencySeconds: undefined },
    bytesBehind: undefined,
    walHeldBytes: undefined,
  })
}

interface Sides {
  readonly source: Session
  readonly target: Session
}

/** Returns when the target has confirmed everything written before; `busy` when it does not. */
async function drain(task: DatabaseTask, source: Session, target: Session): Promise<void> {
  const until = await markLog(task, source)
  const started = task.clock.now()
  let confirmed = ''
  let confirmedAt = started
  for (;;) {
    task.signal.throwIfAborted()
    const [slot] = await source.rows<{ done: boolean; confirmed: string }>(
      `SELECT confirmed_flush_lsn >= $2::pg_lsn AS done, confirmed_flush_lsn::text AS confirmed
       FROM pg_catalog.pg_replication_slots WHERE slot_name = $1`,
      [nameOf(task), until],
    )
    if (slot?.done === true) return
    const now = task.clock.now()
    if (slot === undefined) {
      const message = 'The replication slot is gone, so the last changes cannot come over.'
      throw new DatabaseEngineError('refused', message)
    }
    if (slot.confirmed !== confirmed) {
      confirmed = slot.confirmed
      confirmedAt = now
    }
    if (now - confirmedAt > stallMilliseconds || now - started > drainMilliseconds) {
      throw new DatabaseEngineError('busy', 'The target did not take the last changes.')
    }
    await hurry(task, source, target)
    await new Promise((done) => setTimeout(done, pollMilliseconds))
  }
}

/**
 * The target's worker commits without waiting for its disk, and confirms what has come to it when it hears of the source:
 * otherwise a fifth of a second later. A commit of ours takes its log to the disk, and a mark in the source's makes it hear.
 */
async function hurry(task: DatabaseTask, source: Session, target: Session): Promise<void> {
  await Promise.all([
    target.run(
      'BEGIN; SET LOCAL synchronous_commit = on; SELECT pg_catalog.txid_current(); COMMIT',
    ),
    markLog(task, source),
  ])
}

interface BringingOver {
  readonly task: DatabaseTask
  readonly sides: Sides
  /** Other sessions of both sides, for what need not wait. */
  readonly beside: Sides
  readonly comparison: Comparison
  readonly views: ViewRefresh
}

/** Replication carries no sequences, large objects and some tables (facts A.7, 5). Views may show any of them. */
async function bringOver(at: BringingOver): Promise<void> {
  await together([bringTables(at), bringObjects(at)])
  await at.views.run()
}

async function bringObjects({ task, beside }: BringingOver): Promise<void> {
  await copySequences(beside.source, beside.target)
  await copyLargeObjects(beside.source, beside.target, {
    owners: task.record.owners,
    compare: true,
    signal: task.signal,
    onBytes: () => undefined,
  })
}

async function bringTables({ sides, comparison }: BringingOver): Promise<void> {
  const { source, target } = sides
  const tables = comparison.tables.filter(({ replicated }) => !replicated)
  for (const table of tables) {
    const [here, there] = await Promise.all([
      fingerprintsOf(source, [table], 'checksums'),
      fingerprintsOf(target, [table], 'checksums'),
    ])
    if (JSON.stringify(here) === JSON.stringify(there)) continue
    const columns = columnList(table)
    const encoding = quoteText((await source.value('SHOW server_encoding')) ?? 'UTF8')
    await target.run(`BEGIN; DELETE FROM ONLY ${table.name}`)
    await relayCopy({
      source,
      target,
      copyOut: `COPY ${table.name}${columns} TO STDOUT (ENCODING ${encoding})`,
      copyIn: `COPY ${table.name}${columns} FROM STDIN (ENCODING ${encoding})`,
      onBytes: () => undefined,
    })
    await target.run('COMMIT')
  }
}

/** Tables that are locked in one statement, at a target that nobody uses yet. */
const identitiesTogether = 100

interface TakingDown extends Sides {
  readonly server: Session
  /** Another session of the source. */
  readonly leaving: Session
}

/**
 * The target first, so that nobody uses the slot; the fence last, when nothing refers to the source any more. What is left then is
 * to restore what somebody uses of the source: whoever reads there may take any time.
 */
async function takeDown(
  task: DatabaseTask,
  { source, target, server, leaving }: TakingDown,
): Promise<void> {
  await dropSubscription(target, nameOf(task))
  task.onBoundary('subscription-dropped')
  const [, refusedThere] = await together([
    leaveSource(task, leaving),
    readyTarget(task, { source, target, server }),
  ])
  const { fencedAt } = task.record
  if (fencedAt !== undefined) tell(task, { pauseMilliseconds: task.clock.now() - fencedAt })
  // A worker that takes over finds that it is told.
  task.record.fencedAt = undefined
  task.save()
  task.onBoundary('finished')
  const refused = await restoreIdentities(source, task.record.identities, {
    onWait: (table) => {
      task.signal.throwIfAborted()
      tell(task, {
        message: `The target can be used. Waiting for a moment in which nobody uses ${table} of the source.`,
      })
    },
  })
  // The target is whole: what a server keeps of the migration is told, and fails nothing.
  task.record.setAside = fewWords([
    ...task.record.setAside,
    ...identitiesInWords('target', refusedThere),
    ...identitiesInWords('source', refused),
  ])
  if (task.spec.fence !== 'stay') await unfence(task, source)
}

async function leaveSource(task: DatabaseTask, source: Session): Promise<void> {
  await dropSlot(source, nameOf(task))
  task.onBoundary('slot-dropped')
  await dropPublication(source, nameOf(task))
  await restoreUnused(source, task.record.identities)
}

/** Returns what the target refused to put back. */
async function readyTarget(
  task: DatabaseTask,
  { source, target, server }: Omit<TakingDown, 'leaving'>,
): Promise<readonly string[]> {
  const refused = await restoreIdentities(target, task.record.identities, {
    together: identitiesTogether,
  })
  await wakeTriggers(target, task.record.triggers)
  await carryPublications(task, source, target)
  await finishTargetDatabase(task, source, server)
  return refused
}
