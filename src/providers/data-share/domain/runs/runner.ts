/**
 * Works on runs: claims them by lease, plans their data sets, copies a few at a time in the session's own process,
 * and handles cancellations. Every replica has one; a run whose worker died is continued by another.
 */

import {
  CopyCancelled,
  CopyFailure,
  CopyFault,
  type CopySession,
  toBeContinued,
} from '#engines/copy/engine.ts'
import { ApiError } from '#kernel/error.ts'
import { keepLease } from '#kernel/lease.ts'
import { nameOf } from '#kernel/resource-id.ts'
import { shortWords } from '#kernel/short-words.ts'
import type { Resource } from '#plane/declare/resource.ts'
import { StoreConflict, StoreUnavailable } from '#stores/store.ts'
import { type ShareDependencies, types } from '../../dependencies.ts'
import type { DataSetMapping } from '../../resources/data-set-mappings/resource.ts'
import type { DataSet } from '../../resources/data-sets/resource.ts'
import { intervals } from '../schedules.ts'
import { isScheduled } from '../share-of.ts'
import { openManifest } from '../store/manifest.ts'
import type { PlaceSizes } from '../store/places.ts'
import { LeaseLost, type PlannedDetail } from '../store/runs.ts'
import type { Detail, Run } from '../store/tables.ts'
import { begin } from '../synchronizations/actions.ts'
import { dueTriggers, moveOn, type TriggerRow } from '../trigger-store.ts'
import { Pace } from './pace.ts'
import { NotCopied, taskOf } from './task-of.ts'

const runsAtOnceMax = 8
/** Due triggers of one look. Their runs wait for places. */
const triggersAtOnceMax = 50
/** The last places are for resource groups without a run, and for subscriptions without one. */
const sizes: PlaceSizes = { ofGroupMax: 2, sharedMax: 4, ofGroupsMax: 6 }
/** A run that gave up its place so often, since its data came slowly while others waited, fails. */
const turnsMax = 3
const dataSetsAtOnce = 2
const pollMilliseconds = 2000
const renewMilliseconds = 500
/** What has not ended so long after its release is broken off. */
const releaseMilliseconds = 3000
/** How long a cancelled run may take to remove what it copied, before it counts as stuck. */
const removalMilliseconds = 60_000
const planRows = 200
/** The attempts for a data set whose failure may pass, before it fails. */
const triesMax = 3
const retryMilliseconds = 1000
const messageCharactersMax = 1000

export interface Runner extends AsyncDisposable {
  look(): void
}

export function startRunner(deps: ShareDependencies): Runner {
  const { runs, sql, timers, clock, log } = deps
  const owner = deps.ids.uuid()
  const working = new Map<string, Promise<void>>()
  const stop = new AbortController()
  let looking: Promise<void> | undefined
  let again = false
  let nap: { cancel(): void } | undefined
  let isFirst = true

  const lookOnce = async (): Promise<void> => {
    // An embedded store has one process: an earlier claim belongs to one that is gone.
    if (isFirst && sql.dialect === 'sqlite') await runs.freeAll()
    isFirst = false
    const due = await dueTriggers(sql, clock.now(), triggersAtOnceMax)
    let moved = 0
    for (const trigger of due) {
      if (stop.signal.aborted) return
      if (await beginDue(deps, trigger)) moved++
    }
    // Without one that moved on, the same ones are due.
    if (due.length === triggersAtOnceMax && moved > 0) again = true
    const free = runsAtOnceMax - working.size
    if (free <= 0) return
    for (const run of await runs.claim(owner, free, sizes)) {
      const work = workOn(deps, { owner, run }, stop.signal)
        .catch((error: unknown) => {
          // Left as it is: the lease expires, and a worker continues it.
          log.warn({ run: run.id, error: String(error) }, 'a synchronization was interrupted')
        })
        .finally(() => {
          working.delete(run.id)
          look()
        })
      working.set(run.id, work)
    }
  }

  const look = (): void => {
    if (stop.signal.aborted) return
    if (looking !== undefined) {
      again = true
      return
    }
    nap?.cancel()
    looking = lookOnce()
      .catch((error: unknown) => {
        // The store is away; runs wait for it.
        log.warn({ error: String(error) }, 'synchronizations wait for the store')
      })
      .finally(() => {
        looking = undefined
        if (stop.signal.aborted) return
        nap = timers.after(again ? 0 : pollMilliseconds, () => {
          look()
          return looking
        })
        again = false
      })
  }

  deps.runner.wake = look
  look()
  return {
    look,
    async [Symbol.asyncDispose]() {
      stop.abort()
      nap?.cancel()
      await looking
      await Promise.all(working.values())
    },
  }
}

/** Begins the run of a trigger that is due. False: the store could not do that, which leaves the trigger due. */
async function beginDue(deps: ShareDependencies, trigger: TriggerRow): Promise<boolean> {
  const { sql, clock, log } = deps
  const { key, subscriptionKey, mode } = trigger
  const wanted = { key: subscriptionKey, mode, shown: subscriptionKey }
  const interval = trigger.everyMilliseconds === intervals.Day ? 'Day' : 'Hour'
  const begun = (async () => {
    if (await isScheduled(deps, subscriptionKey, interval)) await begin(deps, wanted, trigger)
    // The provider deleted the schedule. The trigger says so, and goes on when there is one again.
    else await sql.transact((tx) => moveOn(tx, trigger, clock.now()))
    return true
  })()
  return begun.catch(async (error: unknown) => {
    if (error instanceof StoreUnavailable) throw error
    if (error instanceof StoreConflict) return false
    // A trigger that may not start now is skipped this once: it was revoked, or a run is in progress.
    if (error instanceof ApiError) {
      log.info({ trigger: key, code: error.code }, 'a trigger began nothing')
    } else log.error({ trigger: key, error }, 'a trigger failed')
    await sql.transact((tx) => moveOn(tx, trigger, clock.now()))
    return true
  })
}

/**
 * Why a run ends early: a person cancelled it, this process released it, it is slow while others wait, or its target takes for ever
 * to publish what a person cancelled.
 */
type EarlyEnd = 'cancelled' | 'released' | 'slow' | 'stuck'

interface Held {
  /** The worker that has the lease. */
  readonly owner: string
  readonly run: Run
}

async function workOn(deps: ShareDependencies, held: Held, stop: AbortSignal): Promise<void> {
  const { runs, log } = deps
  const { run } = held
  const end = new AbortController()
  const ends: EarlyEnd[] = run.cancelled ? ['cancelled'] : []
  if (run.cancelled) end.abort()
  /** Nothing is tried again, whoever wanted it to end. */
  const enough = new AbortController()
  const pace = new Pace(deps.clock.now())
  const onStop = (): void => letGo('released')
  stop.addEventListener('abort', onStop, { once: true })
  const session = deps.engine.open()
  let release: { cancel(): void } | undefined
  const letGo = (why: EarlyEnd): void => {
    if (ends.includes(why)) return
    ends.push(why)
    // A cancellation removes what was copied. Otherwise the next worker continues it.
    end.abort(why === 'cancelled' ? undefined : toBeContinued)
    if (why !== 'cancelled') enough.abort(toBeContinued)
    if (why === 'slow' || why === 'stuck') void session[Symbol.asyncDispose]()
    // A target that publishes for ever would hold up the end of this process.
    if (why === 'released')
      release = deps.timers.after(releaseMilliseconds, () => session[Symbol.asyncDispose]())
  }
  const renew = renewing(deps, held, pace, letGo)
  using _lease = keepLease(deps.timers, renewMilliseconds, renew, () => letGo('released'))
  const hands: Hands = { session, signal: end.signal, pace }
  try {
    await using _ = session
    if (!end.signal.aborted && !run.planned) await plan(deps, run)
    // Cancelled while no worker had it: publishing that has begun is completed first.
    if (run.cancelled)
      await copyAll(deps, run, { ...hands, signal: enough.signal }, ({ publishing }) => publishing)
    else if (!end.signal.aborted) await copyAll(deps, run, hands)
    if (ends.includes('stuck')) await runs.end(run, 'Cancelled', 'Cancelled.')
    else if (ends.includes('slow')) await giveUp(deps, run)
    else if (ends.includes('released')) return
    else if (ends[0] === 'cancelled') await runs.end(run, 'Cancelled', 'Cancelled.')
    else await conclude(deps, run)
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error
    // Another worker has it: nothing more is written for this one.
    log.info({ run: run.id }, 'a synchronization went to another process')
  } finally {
    release?.cancel()
    stop.removeEventListener('abort', onStop)
    deps.wakes.wake(run.subscriptionKey)
  }
}

/** Renews the lease, and says when to let go of the run. False: another worker has it. */
function renewing(
  { runs, clock, log }: ShareDependencies,
  { owner, run }: Held,
  pace: Pace,
  letGo: (why: EarlyEnd) => void,
): () => Promise<boolean | undefined> {
  let cancelledAt: number | undefined
  const look = async (): Promise<boolean> => {
    const { cancelled } = await runs.renew(run)
    const now = clock.now()
    const isSlow = pace.isSlow(now)
    if (cancelled) cancelledAt ??= now
    if (cancelledAt !== undefined)
      letGo(isSlow && now - cancelledAt >= removalMilliseconds ? 'stuck' : 'cancelled')
    else if (isSlow && (await runs.isInTheWay(owner, run, sizes))) letGo('slow')
    return true
  }
  return () =>
    look().catch((error: unknown) => {
      if (error instanceof LeaseLost) return false
      log.debug({ run: run.id, error: String(error) }, 'a lease waits for the store')
      return undefined
    })
}

/** To the end of the queue, or to its end. */
async function giveUp({ runs, log }: ShareDependencies, run: Run): Promise<void> {
  if (run.turnsLost + 1 >= turnsMax) return runs.end(run, 'Failed', tooSlow)
  await runs.giveUp(run)
  log.info({ run: run.id }, 'a synchronization gave up its place: its data comes slowly')
}

const tooSlow = `Its data came too slowly ${turnsMax} times while other synchronizations waited.`

/** A row for each mapping, in order of ids; repeated after a cut, since each has its position. */
async function plan(deps: ShareDependencies, run: Run): Promise<void> {
  const { reader, runs } = deps
  let after: string | undefined
  let place = 0
  for (;;) {
    const mappings = await reader.list({
      type: types.mappings,
      under: run.subscriptionKey,
      limit: planRows,
      ...(after === undefined ? {} : { after }),
    })
    const details: PlannedDetail[] = []
    for (const { id, model } of mappings) {
      // Rows of this type hold this model.
      const { dataSetKey, dataSetId, kind } = model as DataSetMapping
      const found = (await reader.get(dataSetKey)) as Resource<DataSet> | undefined
      details.push({
        place: ++place,
        mappingKey: id.key,
        dataSetKey,
        dataSetId,
        dataSetType: found?.model.kind ?? kind,
        name: found === undefined ? nameOf(id) : nameOf(found.id),
      })
    }
    const isLast = mappings.length < planRows
    await runs.plan(run, details, isLast)
    if (isLast) return
    after = mappings.at(-1)?.id.key
  }
}

/** What copies the data sets of a run, and what stops it. */
interface Hands {
  readonly session: CopySession
  readonly signal: AbortSignal
  readonly pace: Pace
}

async function copyAll(
  deps: ShareDependencies,
  run: Run,
  hands: Hands,
  chosen: (detail: Detail) => boolean = () => true,
): Promise<void> {
  let after = 0
  for (;;) {
    const details = await deps.runs.open(run.id, after, planRows)
    let next = 0
    const lane = async (): Promise<void> => {
      while (next < details.length && !hands.signal.aborted) {
        const detail = details[next++]
        if (detail !== undefined && chosen(detail)) await copyOne(deps, run, detail, hands)
      }
    }
    await Promise.all(Array.from({ length: dataSetsAtOnce }, lane))
    after = details.at(-1)?.place ?? after
    if (details.length < planRows || hands.signal.aborted) return
  }
}

async function copyOne(
  deps: ShareDependencies,
  run: Run,
  detail: Detail,
  { session, signal, pace }: Hands,
): Promise<void> {
  const { runs, sql, log } = deps
  await runs.beginDetail(run, detail.place)
  let note: string | null = detail.message
  for (let tries = 1; ; tries++) {
    try {
      const { task, known } = await taskOf(deps, run, detail)
      const journal = openManifest({
        sql,
        runs,
        run,
        detail,
        task,
        known,
        onNote: (text) => {
          note = text
        },
      })
      await pace.during(journal, (counted) => session.copy(task, counted, signal))
      await runs.endDetail(run, detail.place, 'Succeeded', note)
      return
    } catch (error) {
      if (error instanceof CopyCancelled) return
      const failure = failureOf(error)
      if (failure === undefined) throw error
      if (error instanceof CopyFault) log.error({ run: run.id, error }, 'copying is at fault')
      if (failure.passing && tries < triesMax && !signal.aborted) {
        await new Promise<void>((resolve) => deps.timers.after(retryMilliseconds * tries, resolve))
        continue
      }
      log.info({ run: run.id, place: detail.place, reason: failure.message }, 'a data set failed')
      await runs.endDetail(run, detail.place, 'Failed', failure.message)
      return
    }
  }
}

/** The message for the record; undefined for an error that is no failure of the data set. */
function failureOf(
  error: unknown,
): { readonly message: string; readonly passing: boolean } | undefined {
  if (error instanceof NotCopied) return { message: error.message, passing: false }
  if (error instanceof CopyFailure) {
    // It may contain a server's own words, and goes into records, logs and terminals.
    const message = shortWords(error.message, messageCharactersMax)
    return { message: `${error.code}: ${message}`, passing: error.retry === 'later' }
  }
  if (error instanceof CopyFault) {
    return {
      message: 'The copy failed by a fault of this server, which its log tells.',
      passing: true,
    }
  }
  return undefined
}

async function conclude(deps: ShareDependencies, run: Run): Promise<void> {
  const tally = await deps.runs.tally(run.id)
  const failed = tally['Failed'] ?? 0
  const all = Object.values(tally).reduce((sum, one) => sum + one, 0)
  if (failed === 0) return deps.runs.end(run, 'Succeeded', null)
  const message = `${failed} of ${all} data sets failed; the details say why.`
  return deps.runs.end(run, 'Failed', message)
}
