/**
 * Queues records of requests that change nothing: sign-ins and refused requests. They are written in batches soon
 * after, so that no request waits. A clean stop writes all that is left; a kill loses the last moments. Records
 * that come faster than they can be written, or too often from one source, are counted instead, and the count
 * becomes a record.
 */

import type { Clock, Log } from '#kernel/ports.ts'
import { forEverybody } from '#stores/awaited.ts'
import type { Sql } from '#stores/store.ts'
import { type ActivityRecord, targetOf, toEvent } from './record.ts'
import { installationActor } from './recorded-sql.ts'

export interface ActivityQueue extends AsyncDisposable {
  /**
   * Queues a record. It never throws and nobody waits. `source` bounds what is caused without any right: at most so many
   * records a minute are kept for each.
   */
  note(record: Omit<ActivityRecord, 'at'>, source?: ActivitySource): void
  /** Resolves when every record queued before is written or has failed. */
  flush(): Promise<void>
}

/** Of strangers there can be any number, so all of them together have a bound, too. */
type ActivitySource =
  | { readonly principal: string; readonly perMinuteMax?: number }
  | { readonly stranger: string }

interface QueueLimits {
  /** The number of records that may wait to be written. */
  readonly waitingMax: number
  readonly batchMax: number
  readonly delayMilliseconds: number
  /** How often a stop tries to write a batch. */
  readonly lastTries: number
  readonly perSourceMax: number
  readonly sourcesMax: number
  /** What all strangers together may have in a minute before each has the first few alone. */
  readonly ofStrangersMax: number
  readonly firstOfStranger: number
}

const defaultQueueLimits: QueueLimits = Object.freeze({
  waitingMax: 10_000,
  batchMax: 200,
  delayMilliseconds: 100,
  lastTries: 20,
  perSourceMax: 60,
  sourcesMax: 10_000,
  ofStrangersMax: 600,
  firstOfStranger: 3,
})

const minute = 60_000

interface QueueOptions {
  readonly sql: Sql
  readonly clock: Clock
  readonly log: Log
  /** `Vendor.Insights/eventtypes/omitted`: the action of the record that says how many were left out. */
  readonly omittedAction: string
  readonly limits?: Partial<QueueLimits>
}

export function openActivityQueue(options: QueueOptions): ActivityQueue {
  const { sql, clock, log } = options
  const limits: QueueLimits = { ...defaultQueueLimits, ...options.limits }
  const waiting: ActivityRecord[] = []
  const [principals, strangers] = [new Map<string, number>(), new Map<string, number>()]
  let windowEnds = 0
  let ofStrangers = 0
  let omitted = 0
  let timer: NodeJS.Timeout | undefined
  /** `timer` is for records, and not for a count alone. */
  let isSoon = false
  let writing: Promise<boolean> | undefined
  let closed = false

  function isTooMany(source: ActivitySource, now: number): boolean {
    if (now >= windowEnds || now < windowEnds - minute) {
      principals.clear()
      strangers.clear()
      ofStrangers = 0
      windowEnds = now + minute
    }
    const isKnown = 'principal' in source
    const seen = isKnown ? principals : strangers
    const name = isKnown ? source.principal : source.stranger
    const count = (seen.get(name) ?? 0) + 1
    const own = isKnown ? (source.perMinuteMax ?? limits.perSourceMax) : limits.perSourceMax
    const isMuch = !isKnown && ofStrangers >= limits.ofStrangersMax
    const most = isMuch ? limits.firstOfStranger : own
    if (count > most || (!isKnown && count === 1 && seen.size >= limits.sourcesMax)) return true
    seen.set(name, count)
    if (!isKnown) ofStrangers++
    return false
  }

  /** The earlier of two moments counts: the count of what was left out may wait for a minute, records may not. */
  function schedule(milliseconds: number): void {
    if (closed || (timer !== undefined && isSoon)) return
    clearTimeout(timer)
    isSoon = milliseconds < minute
    timer = setTimeout(() => {
      timer = undefined
      void write()
    }, milliseconds)
    timer.unref()
  }

  function write(): Promise<boolean> {
    // The records of many, whoever's request it is at the moment.
    writing ??= forEverybody(writeBatch).finally(() => {
      writing = undefined
    })
    return writing
  }

  /** Returns false when the store refused the batch; the records stay in the queue. */
  async function writeBatch(): Promise<boolean> {
    const batch = waiting.slice(0, limits.batchMax)
    const left = omitted
    if (batch.length === 0 && left === 0) return true
    try {
      await sql.transact(async (tx) => {
        for (const record of batch) await tx.record(toEvent(record))
        if (left > 0) await tx.record(toEvent(omission(left)))
      })
    } catch (error) {
      log.warn(
        { error: String(error), waiting: waiting.length },
        'the audit trail waits for the store',
      )
      schedule(1000)
      return false
    }
    waiting.splice(0, batch.length)
    omitted -= left
    if (waiting.length > 0) schedule(0)
    return true
  }

  function omission(count: number): ActivityRecord {
    return {
      at: clock.now(),
      initiator: { principal: installationActor, correlationId: '' },
      action: options.omittedAction,
      target: targetOf('/'),
      status: 'Succeeded',
      facts: { records: String(count) },
    }
  }

  async function flush(tries: number): Promise<void> {
    let left = tries
    while ((waiting.length > 0 || omitted > 0) && left > 0) {
      if (!(await write())) {
        left--
        if (left > 0) await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
  }

  return {
    note(record, source) {
      const at = clock.now()
      if (waiting.length >= limits.waitingMax || (source !== undefined && isTooMany(source, at))) {
        omitted++
        // The count is written once a minute at most, or with the next batch.
        if (timer === undefined) schedule(minute)
        return
      }
      waiting.push({ ...record, at })
      schedule(limits.delayMilliseconds)
    },
    flush: () => flush(1),
    async [Symbol.asyncDispose]() {
      closed = true
      clearTimeout(timer)
      await flush(limits.lastTries)
      if (waiting.length > 0) {
        log.error({ records: waiting.length }, 'records of the audit trail could not be written')
      }
    },
  }
}
