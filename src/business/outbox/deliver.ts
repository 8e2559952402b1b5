/**
 * Sends the entries of the outbox in the background, each at least once. An entry is claimed for a limited time,
 * composed, stored as composed, handed over, and marked as sent. If the process is killed, another process sends
 * the same bytes. A failed attempt is repeated after growing pauses. After the last attempt the entry stays as
 * failed. Channels know the kinds of entries, this file does not.
 */

import { ApiError } from '#kernel/error.ts'
import { keepLease, unlessTooLong } from '#kernel/lease.ts'
import type { Clock, Log, Timers } from '#kernel/ports.ts'
import { findRow } from '#query/rows.ts'
import { type Sql, StoreUnavailable } from '#stores/store.ts'
import { type OutboxRow, outboxEntries } from '../tables.ts'

/** How entries of one kind are sent. */
export interface Channel {
  /** The number of entries that are sent at the same time, in all and of one owner (decision 0154). */
  readonly places: { readonly all: number; readonly each: number }
  /** The owner of an `entry`, in SQL. Owners take turns. */
  readonly owner: string
  /** Called before each search for entries that are due. */
  prepare?(): Promise<void>
  /**
   * Makes the message of an entry. It is called for entries without a message, and gives the same message for the
   * same entry.
   */
  compose(entry: OutboxRow): Promise<string>
  /** Resolves with a note for the entry when the message has been handed over. Throws `NotDelivered`. */
  send(entry: OutboxRow, message: string): Promise<string>
}

/** With `isFinal`, another attempt would fail too. Readers of the outbox see the message. */
export class NotDelivered extends Error {
  readonly isFinal: boolean
  constructor(reason: string, isFinal: boolean, options?: ErrorOptions) {
    super(reason, options)
    this.name = 'NotDelivered'
    this.isFinal = isFinal
  }
}

interface OutboxDependencies {
  readonly sql: Sql
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Log
  readonly channels: Readonly<Record<string, Channel>>
}

export interface Outbox extends AsyncDisposable {
  start(): void
  /** Called when an entry was added, so that it is sent now. */
  wake(): void
}

const minute = 60_000
const hour = 60 * minute
/** The pause after each failed attempt. One more attempt follows the last pause, and then the entry has failed. */
const pauses = [minute, 5 * minute, 15 * minute, hour, 4 * hour, 12 * hour, 24 * hour] as const
const attemptsMax = pauses.length + 1
const lookMilliseconds = 15_000
/** How long other processes wait for an entry whose process is gone. */
const leaseMilliseconds = 2 * minute
const renewMilliseconds = 40_000
/** What was sent is noted again after this long, where the store is away. */
const noteMilliseconds = 5_000
/** What takes longer when the process ends is left, as if it had been killed (decision 0452). */
const stopMilliseconds = 30_000
/** The number of entries that one look compares, and of owners whose last turn is known. */
const comparedMax = 1_000
const reasonMax = 250

const isDue = `entry.status = 'Waiting' and entry.kind = ? and entry.due_at <= ? and entry.leased_until <= ?`

const statements = {
  anyDue: `select id from business_outbox_entries as entry where ${isDue} limit 1`,
  claim: `update business_outbox_entries set leased_until = ?, attempts = attempts + 1
    where id = ? and status = 'Waiting' and due_at <= ? and leased_until <= ?`,
  renew: `update business_outbox_entries set leased_until = ?
    where id = ? and attempts = ? and leased_until > 0`,
  keep: `update business_outbox_entries set message = ?, payload = '', leased_until = ?
    where id = ? and attempts = ?`,
  end: `update business_outbox_entries set status = ?, due_at = ?, sent_at = ?, last_error = ?, leased_until = 0,
      last_modified_date_time = ?, revision = revision + 1
    where id = ? and attempts = ?`,
} as const

/** The first entries of each owner that are due. */
function dueOf({ owner, places }: Channel): string {
  return `select id, owner from (
      select id, owner, due_at, row_number() over (partition by owner order by due_at, id) as turn from (
        select entry.id as id, entry.due_at as due_at, ${owner} as owner
        from business_outbox_entries as entry where ${isDue}
      ) as due
    ) as waiting where turn <= ${places.each} order by turn, due_at, id limit ${comparedMax}`
}

export function openOutbox(deps: OutboxDependencies): Outbox {
  const loops = Object.entries(deps.channels).map(([kind, channel]) =>
    openLoop(deps, { kind, channel }),
  )
  return {
    start() {
      for (const loop of loops) loop.start()
    },
    wake() {
      for (const loop of loops) loop.wake()
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(loops.map((loop) => loop[Symbol.asyncDispose]()))
    },
  }
}

interface OneKind {
  readonly kind: string
  readonly channel: Channel
}

interface Waiting {
  readonly id: string
  readonly owner: string
}

/**
 * Each kind has its own loop, so that no kind waits for another. A place that becomes free is given at once to the
 * owner whose last turn is the longest ago.
 */
function openLoop(deps: OutboxDependencies, { kind, channel }: OneKind): Outbox {
  const { sql, clock, timers, log } = deps
  const due = dueOf(channel)
  const underWay = new Map<string, { readonly owner: string; readonly ended: Promise<void> }>()
  /** Owners in the order of their last turns. */
  const served = new Set<string>()
  /** What was due at the last look through all entries, without what was begun since. */
  let waiting: readonly Waiting[] = []
  /** More may be due from then on. */
  let knownUntil = 0
  let timer: { cancel(): void } | undefined
  let looking: Promise<void> | undefined
  let isRequested = false
  let isStarted = false
  let hasEnded = false
  const closing = new AbortController()

  const look = (): void => {
    isRequested = true
    if (hasEnded || !isStarted) return
    timer?.cancel()
    looking ??= looks()
  }

  async function looks(): Promise<void> {
    try {
      while (isRequested && !hasEnded) {
        isRequested = false
        await fill()
      }
    } catch (error) {
      log.warn({ error: String(error) }, 'the outbox could not be looked into')
    } finally {
      looking = undefined
      if (!hasEnded) timer = timers.after(lookMilliseconds, look)
    }
  }

  /** Begins as many attempts as there are places. */
  async function fill(): Promise<void> {
    await channel.prepare?.()
    for (let isFresh = false; !hasEnded && underWay.size < channel.places.all; ) {
      const next = isFresh || clock.now() < knownUntil ? nextOf() : undefined
      if (next !== undefined) begin(next)
      else if (isFresh) return
      else {
        waiting = await dueNow()
        isFresh = true
      }
    }
  }

  async function dueNow(): Promise<readonly Waiting[]> {
    const now = clock.now()
    knownUntil = now + lookMilliseconds
    const [any] = await sql.all(statements.anyDue, kind, now, now)
    const rows = any === undefined ? [] : await sql.scan(due, kind, now, now)
    return rows.map(({ id, owner }) => ({ id: String(id), owner: String(owner) }))
  }

  function nextOf(): Waiting | undefined {
    const busy = [...underWay.values()].map(({ owner }) => owner)
    const turns = new Map([...served].map((owner, at) => [owner, at]))
    let next: Waiting | undefined
    // Whoever had no turn is before the first.
    const turnOf = (one: Waiting) => turns.get(one.owner) ?? -1
    for (const one of waiting) {
      if (underWay.has(one.id) || (next !== undefined && turnOf(one) >= turnOf(next))) continue
      if (busy.filter((owner) => owner === one.owner).length < channel.places.each) next = one
    }
    return next
  }

  function begin(next: Waiting): void {
    const { id, owner } = next
    waiting = waiting.filter((one) => one !== next)
    served.delete(owner)
    served.add(owner)
    const [oldest = ''] = served
    if (served.size > comparedMax) served.delete(oldest)
    const ended = attempt(deps, { channel, id, closing: closing.signal }).then(
      () => {
        underWay.delete(id)
        look()
      },
      (error: unknown) => {
        underWay.delete(id)
        // The next look is the next attempt: a store that refuses is not asked without end.
        log.warn({ id, error: String(error) }, 'an entry of the outbox could not be attempted')
      },
    )
    underWay.set(id, { owner, ended })
  }

  return {
    start() {
      isStarted = true
      look()
    },
    wake() {
      knownUntil = 0
      look()
    },
    async [Symbol.asyncDispose]() {
      hasEnded = true
      closing.abort()
      timer?.cancel()
      await looking
      const ended = Promise.all([...underWay.values()].map((one) => one.ended))
      await unlessTooLong(ended, timers, stopMilliseconds)
      if (underWay.size > 0) log.warn({ kind, left: underWay.size }, 'what was being sent was left')
    },
  }
}

interface Attempt {
  readonly channel: Channel
  readonly id: string
  readonly closing: AbortSignal
}

/** Makes one attempt at one entry, if no other process does. */
async function attempt(deps: OutboxDependencies, { channel, id, closing }: Attempt): Promise<void> {
  const { sql, clock, timers, log } = deps
  const now = clock.now()
  const until = now + leaseMilliseconds
  const claimed = await sql.transact((tx) => tx.run(statements.claim, until, id, now, now))
  if (claimed === 0) return
  const entry = await findRow(sql, outboxEntries, { id })
  if (entry === undefined) return
  const renew = async (): Promise<boolean> => {
    const later = clock.now() + leaseMilliseconds
    return (await sql.transact((tx) => tx.run(statements.renew, later, id, entry.attempts))) > 0
  }
  using _ = keepLease(timers, renewMilliseconds, renew, () =>
    log.info({ id }, 'an entry of the outbox went to another process while it was being sent'),
  )
  const outcome = await outcomeOf(deps, channel, entry)
  if (outcome !== undefined) await finishSurely(deps, entry, outcome, closing)
}

/** What was handed over would be sent once more if that was not noted, so a store that is away is waited for. */
async function finishSurely(
  deps: OutboxDependencies,
  entry: OutboxRow,
  outcome: Outcome,
  closing: AbortSignal,
): Promise<void> {
  for (;;) {
    const [noted] = await Promise.allSettled([finish(deps, entry, outcome)])
    if (noted.status === 'fulfilled') return
    const { reason } = noted
    const isAway = reason instanceof StoreUnavailable && reason.retry === 'later'
    if (!isAway || closing.aborted) throw reason
    const again = Promise.withResolvers<void>()
    const resume = (): void => again.resolve()
    const wait = deps.timers.after(noteMilliseconds, resume)
    // The clock of the timers may stand still.
    closing.addEventListener('abort', resume)
    await again.promise
    closing.removeEventListener('abort', resume)
    wait.cancel()
  }
}

type Outcome =
  | { readonly isSent: true; readonly note: string }
  | { readonly isSent: false; readonly isFinal: boolean; readonly note: string }

/** Undefined: another process has the entry, or it is gone, so nothing is sent. */
async function outcomeOf(
  { sql, clock, log }: OutboxDependencies,
  channel: Channel,
  entry: OutboxRow,
): Promise<Outcome | undefined> {
  const { id, attempts } = entry
  // An attempt counts if its process ended too. Otherwise an entry that ends processes would be tried for ever.
  if (attempts > attemptsMax) return { isSent: false, isFinal: true, note: entry.last_error }
  try {
    let message = entry.message
    if (message === '') {
      message = await channel.compose(entry)
      const until = clock.now() + leaseMilliseconds
      const kept = await sql.transact((tx) => tx.run(statements.keep, message, until, id, attempts))
      if (kept === 0) return undefined
    }
    return { isSent: true, note: await channel.send(entry, message) }
  } catch (error) {
    // A document that is too large for a PDF will be too large the next time.
    const isRefused = error instanceof ApiError
    const isExpected = isRefused || error instanceof NotDelivered
    const isFinal = isRefused || (error instanceof NotDelivered && error.isFinal)
    const note = isExpected ? error.message : 'this server could not send it; its log says why'
    const shown = { id, kind: entry.kind, attempts, isFinal, error: String(error) }
    if (isExpected) log.warn(shown, 'an entry of the outbox could not be sent')
    else log.error({ ...shown, err: error }, 'sending an entry of the outbox went wrong')
    return { isSent: false, isFinal, note }
  }
}

/** Only the process that still holds the entry stores the result. */
async function finish(
  { sql, clock, log }: OutboxDependencies,
  { id, kind, attempts, recipient, company_id, document_number }: OutboxRow,
  outcome: Outcome,
): Promise<void> {
  const now = clock.now()
  const note = outcome.note.slice(0, reasonMax)
  const pause = pauses[attempts - 1]
  const isOver = outcome.isSent || outcome.isFinal || pause === undefined
  const status = outcome.isSent ? 'Sent' : isOver ? 'Failed' : 'Waiting'
  const due = isOver ? 0 : now + pause
  const sentAt = outcome.isSent ? now : 0
  const cells = [status, due, sentAt, note, now, id, attempts]
  const ended = await sql.transact((tx) => tx.run(statements.end, ...cells))
  if (ended === 0 || status !== 'Failed') return
  const shown = { id, kind, company: company_id, document: document_number, recipient, note }
  log.error(shown, 'an entry of the outbox has failed for good')
}
