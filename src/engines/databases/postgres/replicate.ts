/**
 * The online phase: watches the servers replicate on their own, keeps the counters true, and returns when the
 * cutover is asked for. Fails when the target has given up, so that the source does not keep its log for ever.
 */

import { type DatabaseCounters, DatabaseEngineError } from '../engine.ts'
import { catchUp } from './catch-up.ts'
import { isTransient, type Session } from './connect.ts'
import { type DatabaseTask, nameOf, openSource, openTarget, tell } from './database-task.ts'
import { obstacleToCutover } from './fence.ts'
import { Lag, parseLsn } from './lag.ts'
import type { RowCounts } from './record.ts'
import {
  enableSubscription,
  markLog,
  renewConnection,
  sourceCounts,
  targetCounts,
} from './replication.ts'
import { SlotWatch } from './stalls.ts'
import { StructureWatch } from './structure.ts'
import { linesInWords } from './structure-difference.ts'
import { lookAtStructure, lookMilliseconds, type StructureCheck } from './structure-look.ts'

/** Between checks whether the cutover was requested. */
const askMilliseconds = 100
/** A target before version 15 retries a failing change for ever; this bounds it. */
const idleLooksMax = 240
/**
 * A target from version 15 stops at the first error, even if the source was away for a moment. It is resumed this
 * often without further progress.
 */
const retriesMax = 3
/** The least time between them. */
const retryMilliseconds = 1_000
/** Between polls after the cutover was requested. */
const approachMilliseconds = 50
/** How close the target should be before writers are kept out, and how long that is awaited. */
const closeBytes = 1024n * 1024n
const closeMilliseconds = 30_000
/** The source keeps its log for a target that waits until both ends are the same: for a night, not for ever. */
const heldMillisecondsMax = 24 * 3_600_000

interface Slot {
  readonly now: string
  readonly confirmed: string | null
  readonly restart: string | null
  readonly status: string | null
}

/** Returns when nothing blocks the cutover, with what was found of the structure. */
export async function replicate(task: DatabaseTask): Promise<StructureWatch> {
  const lag = new Lag()
  const structure = new StructureWatch(task)
  const seen: StructureCheck = { at: undefined, differences: [] }
  let source: Session | undefined
  let target: Session | undefined
  let idleLooks = 0
  const given: GivenUp = { confirmed: '', retries: 0, at: 0, heldSince: undefined }
  const approach: Approach = { mark: undefined, since: undefined }
  const catching = new CatchingUp(task)
  const slots = new SlotWatch(task)
  try {
    for (;;) {
      task.signal.throwIfAborted()
      let slot: Confirmed | undefined
      let soon = false
      try {
        source = usable(source) ?? (await openSource(task))
        slot = await lookAtSource(task, source, lag)
        target = usable(target) ?? (await attach(task))
        await count(task, source, target)
        const applying = await lookAtTarget({ task, source, target, slot, given, seen })
        // While both ends differ, changes may not apply; the difference is reported, and the loop waits.
        idleLooks = applying || seen.differences.length > 0 ? 0 : idleLooks + 1
        const isRequested = task.cutoverAsked()
        await lookAtStructure({ task, source, target, structure, seen, isRequested })
        await slots.look(source, target, slot.confirmed)
        task.record.lookedAt = task.clock.now()
        const isWhole = catching.look()
        if (task.cutoverAsked() && applying && isWhole) {
          const way = await approachCutover({ task, source, slot, approach, seen })
          if (way === 'there') return structure
          soon = way === 'soon'
        }
      } catch (error) {
        task.signal.throwIfAborted()
        if (!isTransient(error)) throw error
        // The servers continue without us, or when they are back. Only the source knows how far behind the target
        // is.
        tell(task, {
          message: `A server does not answer; looking again. ${messageOf(error)}`,
          ...(slot === undefined ? { counters: withLatency(task, undefined) } : {}),
        })
      }
      if (idleLooks > idleLooksMax) {
        throw await stopped('The target applies no changes any more', { task, source, target })
      }
      const wasAsked = task.cutoverAsked()
      const milliseconds = soon ? approachMilliseconds : lookMilliseconds
      for (let waited = 0; waited < milliseconds; waited += askMilliseconds) {
        if (!wasAsked && task.cutoverAsked()) break
        task.signal.throwIfAborted()
        await new Promise((done) => setTimeout(done, Math.min(askMilliseconds, milliseconds)))
      }
    }
  } finally {
    await catching.end()
    await source?.[Symbol.asyncDispose]()
    await target?.[Symbol.asyncDispose]()
  }
}

/** Between retries of an interrupted catch-up. */
const againMilliseconds = 3_000

/** The catch-up runs beside the polls, which keep the status current. */
class CatchingUp {
  readonly #task: DatabaseTask
  #words = ''
  #running: Promise<void> | undefined
  #fault: { readonly error: unknown } | undefined
  #notBefore = 0

  constructor(task: DatabaseTask) {
    this.#task = task
  }

  /** Starts it on request; false while it is requested or running. Throws its failure. */
  look(): boolean {
    const task = this.#task
    if (this.#fault !== undefined) {
      const { error } = this.#fault
      this.#fault = undefined
      throw error
    }
    const isWanted = task.catchUpsWanted() > task.record.caughtUp || task.record.resync.length > 0
    if (isWanted && this.#running === undefined && task.clock.now() >= this.#notBefore) {
      this.#running = this.#run()
    }
    const isWhole = !isWanted && this.#running === undefined
    if (!isWhole)
      tell(task, { message: `Catching up with the structure of the source. ${this.#words}` })
    return isWhole
  }

  async end(): Promise<void> {
    await this.#running
  }

  async #run(): Promise<void> {
    const task = this.#task
    try {
      await catchUp(task, (words) => {
        this.#words = words
      })
    } catch (error) {
      // The loop notices the signal itself.
      if (!task.signal.aborted) this.#fault = { error }
    } finally {
      this.#notBefore = task.clock.now() + againMilliseconds
      this.#running = undefined
    }
  }
}

async function attach(task: DatabaseTask): Promise<Session> {
  await using opening = new AsyncDisposableStack()
  const target = opening.use(await openTarget(task))
  // It restarts the target's worker, so nothing is applied for some seconds.
  if (task.resumed) await renewConnection(task, target)
  opening.move()
  return target
}

interface Approach {
  /** The position of the source's log at the last mark. */
  mark: bigint | undefined
  since: number | undefined
}

/**
 * The target has applied everything up to the request for the cutover, so it works; and it is close, so that
 * writers are kept out only for a moment. Nothing else may block either.
 */
async function approachCutover(at: {
  readonly task: DatabaseTask
  readonly source: Session
  readonly slot: Confirmed
  readonly approach: Approach
  readonly seen: StructureCheck
}): Promise<'there' | 'soon' | 'waits'> {
  const { task, source, slot, approach } = at
  if (at.seen.differences.length > 0) return 'waits'
  const obstacle = await obstacleToCutover(task, source)
  if (obstacle !== undefined) {
    tell(task, { message: `The cutover waits: ${obstacle}.` })
    return 'waits'
  }
  const now = task.clock.now()
  const confirmed = parseLsn(slot.confirmed)
  approach.since ??= now
  if (approach.mark !== undefined && confirmed >= approach.mark) {
    const isLate = now - approach.since > closeMilliseconds
    if (parseLsn(slot.now) - confirmed < closeBytes || isLate) return 'there'
    approach.mark = undefined
  }
  approach.mark ??= parseLsn(await markLog(task, source))
  tell(task, { message: 'The cutover waits for the target to come close.' })
  return 'soon'
}

function usable(session: Session | undefined): Session | undefined {
  return session?.lost() === undefined ? session : undefined
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** How often the target was resumed since it last confirmed something. */
interface GivenUp {
  confirmed: string
  retries: number
  /** The last time. */
  at: number
  /** Since when it applies nothing because both ends differ. */
  heldSince: number | undefined
}

/** An existing slot. */
type Confirmed = Slot & { readonly confirmed: string }

function withLatency(task: DatabaseTask, latencySeconds: number | undefined): DatabaseCounters {
  return { ...task.record.observed.counters, latencySeconds }
}

/** How far the target is behind. Only the source knows, even while the target is away. */
async function lookAtSource(task: DatabaseTask, source: Session, lag: Lag): Promise<Confirmed> {
  const name = nameOf(task)
  const [slot] = await source.rows<Slot>(
    `SELECT pg_catalog.pg_current_wal_lsn()::text AS now, s.confirmed_flush_lsn::text AS confirmed,
       s.restart_lsn::text AS restart, s.wal_status AS status
     FROM (SELECT) one LEFT JOIN pg_catalog.pg_replication_slots s ON s.slot_name = $1`,
    [name],
  )
  if (slot === undefined || slot.confirmed === null || slot.status === 'lost') {
    throw new DatabaseEngineError(
      'refused',
      `The replication slot '${name}' of the source is ${slot?.status === 'lost' ? 'lost: its server no longer keeps the log (max_slot_wal_keep_size)' : 'gone'}. Start a new migration.`,
    )
  }
  const at = task.clock.now()
  const [now, confirmed] = [parseLsn(slot.now), parseLsn(slot.confirmed)]
  lag.push(at, now)
  tell(task, {
    bytesBehind: Number(now > confirmed ? now - confirmed : 0n),
    walHeldBytes: slot.restart === null ? undefined : Number(now - parseLsn(slot.restart)),
    counters: withLatency(task, lag.seconds(at, confirmed)),
  })
  return { ...slot, confirmed: slot.confirmed }
}

interface TargetCheck {
  readonly task: DatabaseTask
  readonly source: Session
  readonly target: Session
  readonly slot: Confirmed
  readonly given: GivenUp
  readonly seen: StructureCheck
}

/** True while the target has an apply worker. */
async function lookAtTarget(at: TargetCheck): Promise<boolean> {
  const { task, source, target, slot, given } = at
  const name = nameOf(task)
  const [subscription] = await target.rows<{ enabled: boolean; pid: number | null }>(
    `SELECT s.subenabled AS enabled, st.pid FROM pg_catalog.pg_subscription s
     LEFT JOIN pg_catalog.pg_stat_subscription st ON st.subid = s.oid AND st.relid IS NULL
     WHERE s.subname = $1 ORDER BY st.pid LIMIT 1`,
    [name],
  )
  if (subscription === undefined)
    throw await stopped('Its subscription is gone', { task, source, target })
  if (!subscription.enabled) {
    const now = task.clock.now()
    if (now - given.at < retryMilliseconds) return false
    given.at = now
    given.retries = given.confirmed === slot.confirmed ? given.retries + 1 : 1
    if (given.confirmed !== slot.confirmed) given.heldSince = undefined
    given.confirmed = slot.confirmed
    if (given.retries > retriesMax) {
      const structure = new StructureWatch(task)
      const differences = await structure.differences(source, target)
      // The comparison of the structure reports it. The target is resumed now and then: it can continue once both
      // ends are the same.
      given.heldSince ??= now
      const isLate = now - given.heldSince > heldMillisecondsMax
      const isHeld = !isLate && (differences.length > 0 || task.record.resync.length > 0)
      if (isHeld) at.seen.differences = differences
      else throw await stopped('A change could not be applied', { task, source, target })
    }
    tell(task, {
      message: `The target stopped applying changes; told to go on (${given.retries}).`,
    })
    await enableSubscription(task, target)
    return true
  }
  if (!task.cutoverAsked()) tell(task, { message: 'Changes are flowing.' })
  return subscription.pid !== null
}

/** Both sums, continued when the target has lost its statistics in a crash. */
export async function count(task: DatabaseTask, source: Session, target: Session): Promise<void> {
  const { record } = task
  const name = nameOf(task)
  const atSource = await sourceCounts(source, name)
  const atTarget = await targetCounts(target, name)
  if (total(atTarget) < total(record.targetLast)) {
    record.targetCarried = plus(record.targetCarried, minus(record.targetLast, record.targetBase))
    record.targetBase = { inserts: 0, updates: 0, deletes: 0 }
  }
  record.targetLast = atTarget
  const applied = plus(record.targetCarried, minus(atTarget, record.targetBase))
  const { counters } = record.observed
  const incoming = Math.max(
    total(minus(atSource, record.sourceBase)),
    total(applied),
    counters.incomingChanges,
  )
  tell(task, {
    counters: {
      ...counters,
      incomingChanges: incoming,
      appliedChanges: total(applied),
      cdcInsertCounter: applied.inserts,
      cdcUpdateCounter: applied.updates,
      cdcDeleteCounter: applied.deletes,
    },
  })
}

const total = ({ inserts, updates, deletes }: RowCounts): number => inserts + updates + deletes

function plus(left: RowCounts, right: RowCounts): RowCounts {
  return {
    inserts: left.inserts + right.inserts,
    updates: left.updates + right.updates,
    deletes: left.deletes + right.deletes,
  }
}

function minus(left: RowCounts, right: RowCounts | undefined): RowCounts {
  if (right === undefined) return left
  return {
    inserts: Math.max(0, left.inserts - right.inserts),
    updates: Math.max(0, left.updates - right.updates),
    deletes: Math.max(0, left.deletes - right.deletes),
  }
}

/** The reason is only in the server's log; the most common one can be read from the catalogs. */
async function stopped(
  what: string,
  at: {
    readonly task: DatabaseTask
    readonly source: Session | undefined
    readonly target: Session | undefined
  },
): Promise<DatabaseEngineError> {
  const { task, source, target } = at
  const differences =
    source === undefined || target === undefined
      ? []
      : await new StructureWatch(task).differences(source, target)
  const reason =
    differences.length === 0
      ? 'The log of the target server says which (a row with the same key, for example).'
      : `The source was altered meanwhile: ${linesInWords(differences)}.`
  return new DatabaseEngineError(
    'refused',
    `${what}, so the migration of '${task.name}' has stopped. ${reason} Start it anew once that is mended.`,
  )
}
