/**
 * One database from where its record says it is to an end, whatever happens on the way: goes on, starts over,
 * goes back to the source, or cleans up (facts A.8). Returns early only when the worker is told to stop.
 */

import { backOff } from '#kernel/back-off.ts'
import { DatabaseEngineError, type DatabasePhase, type ErrorNumber, isEnd } from '../engine.ts'
import { cleanUpDatabase } from './clean-up.ts'
import { isFullDisk, isTransient, quoteName } from './connect.ts'
import { cutOver } from './cutover.ts'
import {
  type DatabaseTask,
  enter,
  openSource,
  openTargetServer,
  shortMessage,
  tell,
} from './database-task.ts'
import { unfence } from './fence.ts'
import { completeOffline, finishOffline } from './finish-offline.ts'
import { loadDatabase } from './full-load.ts'
import { type DatabaseRecord, fewWords, freshRecord, startsOver } from './record.ts'
import { dropReplaced } from './replaced-database.ts'
import { replicate } from './replicate.ts'
import { dropDumps } from './schema.ts'
import { watchForStalls } from './stalls.ts'
import { dropRecordedStructures } from './structure.ts'

/** Attempts of a database whose copy was cut short by a crash or a lost connection. */
const attemptsMax = 3
const pauseMillisecondsMin = 500
const pauseMillisecondsMax = 60_000

interface DatabaseRun {
  /** `isBounded`: what makes the record too large is refused. The way to an end is not: it must be written. */
  task(signal: AbortSignal, isBounded: boolean): DatabaseTask
  /** Stops the worker as a whole. */
  readonly stop: AbortSignal
  /** Resolves when the database is asked to be canceled. */
  readonly cancel: AbortSignal
  /** Asked of a canceled database: should the copy go too? */
  dropTarget(): boolean
  /** A server does not let us in: only a worker that is given other passwords can go on. */
  shutOut(): void
}

/** The user or password is wrong. */
const wrongPassword: ErrorNumber = 603100

export async function runDatabase(run: DatabaseRun): Promise<void> {
  const working = run.task(AbortSignal.any([run.stop, run.cancel]), true)
  const cleaning = run.task(run.stop, false)
  const { record } = working
  const phase = (): DatabasePhase => record.observed.phase
  while (!isEnd(phase()) && !run.stop.aborted) {
    if (run.cancel.aborted && mayCancel(phase(), record.pastReturn)) {
      record.outcome = 'canceled'
      enter(cleaning, 'canceling', 'Removing what was set up for it.')
    }
    if (phase() === 'canceling' || phase() === 'cleaning-up') {
      await cleanUntilDone(cleaning, run)
    } else if (startsOver(phase()) && !record.pastReturn) {
      // The worker before this one may have begun to start over, and written down why.
      const reason = record.startOverReason ?? 'The worker ended in the middle of the copy.'
      await startOver(cleaning, run, reason)
    } else {
      // Past the point of no return a cancel comes too late; the work goes on under the stop signal alone.
      await step(record.pastReturn ? cleaning : working, cleaning, run)
    }
  }
}

function mayCancel(phase: DatabasePhase, pastReturn: boolean): boolean {
  return !pastReturn && phase !== 'canceling' && phase !== 'cleaning-up'
}

async function step(task: DatabaseTask, cleaning: DatabaseTask, run: DatabaseRun): Promise<void> {
  const { record } = task
  const phase = record.observed.phase
  using _watch = watchForStalls(task)
  try {
    if (phase === 'queued') {
      tell(task, { startedAt: record.observed.startedAt ?? task.clock.now() })
      await loadDatabase(task)
      if (task.spec.mode === 'offline') {
        await finishOffline(task)
        await succeed(cleaning)
      } else {
        enter(task, 'replicating', 'Changes are flowing.')
      }
    } else if (phase === 'replicating') {
      await cutOver(task, await replicate(task))
      await succeed(cleaning)
    } else if (phase === 'finishing') {
      await completeOffline(task)
      await succeed(cleaning)
    } else {
      await cutOver(task)
      await succeed(cleaning)
    }
  } catch (error) {
    if (run.stop.aborted || (run.cancel.aborted && !record.pastReturn)) return
    await recover(error, cleaning, run)
  }
}

async function succeed(task: DatabaseTask): Promise<void> {
  const notDropped = task.record.replaced === undefined ? [] : await dropOld(task)
  const isShut = task.record.fence !== undefined && task.spec.fence === 'stay'
  const { leftOut, setAside } = task.record
  const words = [
    'Migrated.',
    ...notDropped,
    ...(leftOut.length === 0
      ? []
      : [`Settings of the database that the target refuses are left out: ${leftOut.join('; ')}.`]),
    ...(setAside.length === 0 ? [] : [`Left out: ${setAside.join('; ')}.`]),
    ...(isShut
      ? [
          `The database of the source only reads now: ALTER DATABASE ${quoteName(task.name)} RESET default_transaction_read_only opens it again.`,
        ]
      : []),
  ]
  task.record.identities = []
  task.record.fence = undefined
  dropRecordedStructures(task)
  dropDumps(task)
  tell(task, { endedAt: task.clock.now() })
  enter(task, 'succeeded', words.join(' '))
}

async function dropOld(task: DatabaseTask): Promise<readonly string[]> {
  await using server = await openTargetServer(task)
  return await dropReplaced(task, server)
}

async function recover(error: unknown, task: DatabaseTask, run: DatabaseRun): Promise<void> {
  const { record } = task
  const number = error instanceof DatabaseEngineError ? error.number : undefined
  const early = record.observed.phase === 'queued' || startsOver(record.observed.phase)
  // One that was changed since: the copy is whole, and the next worker may know it.
  const isShutOut = number === wrongPassword && !early
  const later = (isTransient(error) && !(early && isFullDisk(error))) || isShutOut
  const text = shortMessage(error instanceof Error ? error.message : String(error))
  if (isShutOut) run.shutOut()
  if (record.pastReturn && later) {
    tell(task, { message: `Completing; a server does not answer. ${text}` })
    await pause(1, run.stop)
    return
  }
  if (later) {
    // An attempt that failed before its first phase has made nothing, and starts over as well.
    await (early ? startOver(task, run, text) : backToReplicating(task, run, text))
    return
  }
  fail(task, text, number)
}

function fail(task: DatabaseTask, message: string, number: number | undefined): void {
  task.record.outcome = 'failed'
  tell(task, { number })
  // A copy that never became complete is of no use to anyone; a complete one that fell behind is kept.
  const { observed, pastReturn } = task.record
  task.record.dropOnFailure = startsOver(observed.phase) && !pastReturn
  enter(task, 'cleaning-up', message)
}

/** The source must not stay closed to writers while a server is away. */
async function backToReplicating(
  task: DatabaseTask,
  run: DatabaseRun,
  text: string,
): Promise<void> {
  for (let attempt = 1; task.record.fence !== undefined && !run.stop.aborted; attempt++) {
    try {
      await using source = await openSource(task)
      await unfence(task, source)
      task.record.fence = undefined
    } catch (error) {
      if (error instanceof DatabaseEngineError && error.number === wrongPassword) run.shutOut()
      else if (!isTransient(error)) throw error
      await pause(attempt, run.stop)
    }
  }
  enter(task, 'replicating', `The cutover was broken off and is tried again. ${text}`)
  await pause(3, AbortSignal.any([run.stop, run.cancel]))
}

/** Removes everything of the attempt, the half-built database too: snapshots cannot be mixed. */
async function startOver(task: DatabaseTask, run: DatabaseRun, reason: string): Promise<void> {
  const { record } = task
  record.startOverReason = reason
  tell(task, { message: `Starting over. ${reason}` })
  for (let attempt = 1; !run.stop.aborted; attempt++) {
    const { pending, kept } = await cleanUpDatabase(task, true)
    record.pending = pending
    // What is still to be put back is not known otherwise.
    if (kept.length === 0 && pending.length === 0) record.identities = []
    task.save()
    if (pending.length === 0) break
    if (run.cancel.aborted) return
    await pause(attempt, AbortSignal.any([run.stop, run.cancel]))
  }
  if (run.stop.aborted) return
  const { attempt, startedAt } = record.observed
  if (attempt >= attemptsMax) {
    record.outcome = 'failed'
    enter(task, 'cleaning-up', `Given up after ${attempt} attempts. ${reason}`)
    return
  }
  const { retried, identities } = record
  Object.assign(record, freshRecord(task.name, attempt + 1), { retried, identities })
  tell(task, { startedAt })
  enter(task, 'queued', `Starting over, attempt ${attempt + 1} of ${attemptsMax}. ${reason}`)
}

async function cleanUntilDone(task: DatabaseTask, run: DatabaseRun): Promise<void> {
  const { record } = task
  const outcome = record.outcome ?? 'failed'
  let left: readonly string[] = []
  for (let attempt = 1; ; attempt++) {
    const drop = outcome === 'canceled' ? run.dropTarget() : record.dropOnFailure
    const { pending, kept } = await cleanUpDatabase(task, drop)
    record.pending = pending
    left = kept
    task.save()
    if (record.pending.length === 0) break
    if (record.pending.some(({ number }) => number === wrongPassword)) run.shutOut()
    await pause(attempt, run.stop)
    if (run.stop.aborted) return
  }
  // One that is begun anew may be let.
  if (left.length === 0) record.identities = []
  record.fence = undefined
  record.setAside = fewWords([...record.setAside, ...left])
  tell(task, {
    endedAt: task.clock.now(),
    counters: { ...record.observed.counters, latencySeconds: undefined },
    bytesBehind: undefined,
    walHeldBytes: undefined,
  })
  enter(
    task,
    outcome,
    `${outcome === 'failed' ? record.observed.message : canceledWords(run, record)}${
      record.isPutBack ? ' The database that was at the target before is back.' : ''
    }${left.length === 0 ? '' : ` Not put back: ${left.join('; ')}.`}`,
  )
}

function canceledWords(run: DatabaseRun, { isPutBack }: DatabaseRecord): string {
  return isPutBack || run.dropTarget()
    ? 'Canceled; the copy was dropped.'
    : 'Canceled; what was copied is kept.'
}

/** Doubles with each attempt. */
function pause(attempt: number, signal: AbortSignal): Promise<void> {
  const milliseconds = backOff({ first: pauseMillisecondsMin, most: pauseMillisecondsMax }, attempt)
  return new Promise((done) => {
    if (signal.aborted) return done()
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      done()
    }
    const timer = setTimeout(end, milliseconds)
    signal.addEventListener('abort', end, { once: true })
  })
}
