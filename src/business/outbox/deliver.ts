/**
 * Sends the entries of the outbox in the background, each at least once. An entry is claimed for a limited time,
 * composed, stored as composed, handed over, and marked as sent. If the process is killed, another process sends
 * the same bytes. A failed attempt is repeated after growing pauses. After the last attempt the entry stays as
 * failed. Channels know the kinds of entries, this file does not.
 */

import { ApiError } from '#kernel/error.ts'
import type { Clock, Log, Timers } from '#kernel/ports.ts'
import { findRow } from '#query/rows.ts'
import type { Sql } from '#stores/store.ts'
import { type OutboxRow, outboxEntries } from '../tables.ts'

/** How entries of one kind are sent. */
export interface Channel {
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
const entriesAtOnce = 4
const reasonMax = 250

const statements = {
  // Companies take turns: however many entries one company has, the entries of another are among the next.
  due: `select id from (
      select id, due_at, row_number() over (partition by company_id order by due_at, id) as turn
      from business_outbox_entries
      where status = 'Waiting' and kind = ? and due_at <= ? and leased_until <= ?
    ) as waiting order by turn, due_at, id limit ?`,
  claim: `update business_outbox_entries set leased_until = ?, attempts = attempts + 1
    where id = ? and status = 'Waiting' and due_at <= ? and leased_until <= ?`,
  renew: `update business_outbox_entries set leased_until = ? where id = ? and attempts = ?`,
  keep: `update business_outbox_entries set message = ?, payload = '' where id = ? and attempts = ?`,
  end: `update business_outbox_entries set status = ?, due_at = ?, sent_at = ?, last_error = ?, leased_until = 0,
      last_modified_date_time = ?, revision = revision + 1
    where id = ? and attempts = ?`,
} as const

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

/** Each kind has its own loop, so that no kind waits for another. */
function openLoop(deps: OutboxDependencies, one: OneKind): Outbox {
  const { sql, clock, timers, log } = deps
  const underWay = new Set<string>()
  let timer: { cancel(): void } | undefined
  let running: Promise<void> | undefined
  let isRequested = false
  let isStarted = false
  let hasEnded = false

  const look = (): Promise<void> => {
    isRequested = true
    if (hasEnded || !isStarted) return Promise.resolve()
    timer?.cancel()
    running ??= rounds()
    return running
  }

  async function rounds(): Promise<void> {
    try {
      while (isRequested && !hasEnded) {
        isRequested = false
        if (await oneRound()) isRequested = true
      }
    } catch (error) {
      log.warn({ error: String(error) }, 'the outbox could not be looked into')
    } finally {
      running = undefined
      if (!hasEnded) timer = timers.after(lookMilliseconds, look)
    }
  }

  /** Resolves with true if there may be more entries. */
  async function oneRound(): Promise<boolean> {
    await one.channel.prepare?.()
    const now = clock.now()
    const due = await sql.all(statements.due, one.kind, now, now, entriesAtOnce)
    const ids = due.map(({ id }) => String(id)).filter((id) => !underWay.has(id))
    const ended = await Promise.allSettled(ids.map((id) => attempt(deps, one, underWay, id)))
    const failed = ended.find((result) => result.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    return due.length === entriesAtOnce
  }

  return {
    start() {
      isStarted = true
      void look()
    },
    wake() {
      void look()
    },
    async [Symbol.asyncDispose]() {
      hasEnded = true
      timer?.cancel()
      await running
    },
  }
}

/** Makes one attempt at one entry, if no other process does. */
async function attempt(
  deps: OutboxDependencies,
  { channel }: OneKind,
  underWay: Set<string>,
  id: string,
): Promise<void> {
  const { sql, clock, timers } = deps
  const now = clock.now()
  const until = now + leaseMilliseconds
  const claimed = await sql.transact((tx) => tx.run(statements.claim, until, id, now, now))
  if (claimed === 0) return
  const entry = await findRow(sql, outboxEntries, { id })
  if (entry === undefined) return
  underWay.add(id)
  let renewal: { cancel(): void } | undefined
  const renew = async (): Promise<void> => {
    const later = clock.now() + leaseMilliseconds
    await sql.transact((tx) => tx.run(statements.renew, later, id, entry.attempts))
    plan()
  }
  const plan = (): void => {
    if (underWay.has(id)) renewal = timers.after(renewMilliseconds, renew)
  }
  plan()
  try {
    await finish(deps, entry, await outcomeOf(deps, channel, entry))
  } finally {
    underWay.delete(id)
    renewal?.cancel()
  }
}

type Outcome =
  | { readonly isSent: true; readonly note: string }
  | { readonly isSent: false; readonly isFinal: boolean; readonly note: string }

async function outcomeOf(
  { sql, log }: OutboxDependencies,
  channel: Channel,
  entry: OutboxRow,
): Promise<Outcome> {
  const { id, attempts } = entry
  // An attempt counts if its process ended too. Otherwise an entry that ends processes would be tried for ever.
  if (attempts > attemptsMax) return { isSent: false, isFinal: true, note: entry.last_error }
  try {
    let message = entry.message
    if (message === '') {
      message = await channel.compose(entry)
      await sql.transact((tx) => tx.run(statements.keep, message, id, attempts))
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
  await sql.transact((tx) => tx.run(statements.end, status, due, sentAt, note, now, id, attempts))
  if (status !== 'Failed') return
  const shown = { id, kind, company: company_id, document: document_number, recipient, note }
  log.error(shown, 'an entry of the outbox has failed for good')
}
