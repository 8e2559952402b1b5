/**
 * Sends what is in the outbox, in the background and at least once: an entry is claimed for a while, composed, kept as
 * composed, handed over, and noted as sent. Who is killed in the middle leaves it to the next one, with the same bytes.
 * What cannot be sent is tried again with growing pauses, and after the last attempt stays as failed. Knows no kind of
 * entry; channels do.
 */

import { ApiError } from '#kernel/error.ts'
import type { Clock, Log, Timers } from '#kernel/ports.ts'
import { findRow } from '#query/rows.ts'
import type { Sql } from '#stores/store.ts'
import { type OutboxRow, outboxEntries } from '../tables.ts'

/** How entries of one kind are sent. */
export interface Channel {
  /** Before each look at what is due. */
  prepare?(): Promise<void>
  /** The message of an entry. Entries without one yet are given; the same entry gives the same message. */
  compose(entry: OutboxRow): Promise<string>
  /** Resolves when it is handed over, with what is worth knowing of that. Throws `NotDelivered`. */
  send(entry: OutboxRow, message: string): Promise<string>
}

/** `isFinal`: another attempt ends the same. The message is fit for who reads the outbox. */
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
  /** Something was added: what is due is sent now. */
  wake(): void
}

const minute = 60_000
const hour = 60 * minute
/** After each failed attempt; after the last of them there is one more, and then it has failed. */
const pauses = [minute, 5 * minute, 15 * minute, hour, 4 * hour, 12 * hour, 24 * hour] as const
const attemptsMax = pauses.length + 1
const lookMilliseconds = 15_000
/** Others wait so long for an entry of a process that is gone. */
const leaseMilliseconds = 2 * minute
const renewMilliseconds = 40_000
const entriesAtOnce = 4
const reasonMax = 250

const statements = {
  // Companies take turns: however many entries one has, another's is among the next.
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

/** Each kind has its own, so that none waits for another. */
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

  /** Whether there may be more. */
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

/** One attempt at one entry, if nobody else makes it. */
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
  // Attempts that ended with their process count too, or an entry that ends processes would do so for ever.
  if (attempts > attemptsMax) return { isSent: false, isFinal: true, note: entry.last_error }
  try {
    let message = entry.message
    if (message === '') {
      message = await channel.compose(entry)
      await sql.transact((tx) => tx.run(statements.keep, message, id, attempts))
    }
    return { isSent: true, note: await channel.send(entry, message) }
  } catch (error) {
    // A document that is too much for a PDF is so the next time, too.
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

/** Only who still has the entry writes what came of it. */
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
