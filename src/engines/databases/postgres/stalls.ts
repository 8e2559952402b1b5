/**
 * Finds the reason why a copy makes no progress, long before a time-out. The reasons are a server that does not
 * answer, a session that waits for a lock, a slot that nobody reads, transactions that make the source keep its
 * log, and a full target. It only reads, and ends nothing.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Session } from './connect.ts'
import {
  type DatabaseTask,
  nameOf,
  openSource,
  openTarget,
  openTargetServer,
  warn,
} from './database-task.ts'
import { startsOver } from './record.ts'
import { openTransactions } from './replication.ts'
import { roomWarning } from './room.ts'

const tickMilliseconds = 500
/** The servers are asked for a reason after this time without progress. */
const quietMilliseconds = 3_000
/** A server that takes longer to answer is reported as not answering. */
const answerMilliseconds = 2_500
const roomMilliseconds = 5_000

/** Watches until it is disposed. */
export function watchForStalls(task: DatabaseTask): Disposable {
  let isDisposed = false
  const isOver = (): boolean => isDisposed || task.signal.aborted
  const clear = (): void => {
    for (const what of ['silence', 'slot', 'room'] as const) warn(task, what, undefined)
  }
  // Clears the words of an earlier worker.
  clear()
  // Neither of them fails. A look that is under way at the end is not awaited.
  void watchSilence(task, isOver)
  void watchRoom(task, isOver)
  return {
    [Symbol.dispose]() {
      isDisposed = true
      clear()
    },
  }
}

async function watchSilence(task: DatabaseTask, isOver: () => boolean): Promise<void> {
  let sign = ''
  let since = task.clock.now()
  while (!isOver()) {
    await sleep(tickMilliseconds)
    const now = task.clock.now()
    const seen = signOfLife(task)
    if (seen !== sign) {
      sign = seen
      since = now
      warn(task, 'silence', undefined)
    } else if (now - since >= quietMilliseconds) {
      const words = await reasonOfSilence(task, since)
      if (!isOver() && signOfLife(task) === sign) warn(task, 'silence', words)
    }
  }
}

/** Changes at each look while answers or rows arrive. */
function signOfLife({ record }: DatabaseTask): string {
  const { phase, bytesCopied, message } = record.observed
  return [phase, bytesCopied, message, record.lookedAt].join(' ')
}

async function reasonOfSilence(task: DatabaseTask, since: number): Promise<string | undefined> {
  const [source, target] = await Promise.all([
    judge('source', () => openSource(task), task, since),
    judge('target', () => openTarget(task), task, since),
  ])
  const words = [source.words, target.words].filter((one) => one !== undefined)
  if (words.length > 0) return words.join(' ')
  if (task.record.observed.phase !== 'copying') return undefined
  return `No rows have come since ${timeOf(since)}, though both servers answer (the source waits for ${source.waits}, the target for ${target.waits}).`
}

/** An elapsed time is not shown. It would change the words at every look. */
function timeOf(moment: number): string {
  return new Date(moment).toISOString().replace(/\.\d+/, '')
}

interface Judgement {
  readonly words: string | undefined
  /** What the migration's sessions on this server wait for, in the server's terms. */
  readonly waits: string
}

async function judge(
  side: 'source' | 'target',
  open: () => Promise<Session>,
  task: DatabaseTask,
  since: number,
): Promise<Judgement> {
  const look = async (): Promise<Judgement> => {
    await using session = await open()
    const waits = await session.value(
      `SELECT coalesce(pg_catalog.string_agg(DISTINCT coalesce(wait_event_type || ' ' || wait_event, 'nothing'), ', '), 'nothing')
       FROM pg_catalog.pg_stat_activity
       WHERE application_name = $1 AND state = 'active' AND pid <> pg_catalog.pg_backend_pid()`,
      [nameOf(task)],
    )
    return { words: await lockInTheWay(side, session, nameOf(task)), waits: waits ?? 'nothing' }
  }
  try {
    const judgement = await Promise.race([look(), sleep(answerMilliseconds)])
    if (judgement !== undefined) return judgement
    const words = `The ${side} has not answered since ${timeOf(since)}: it, or the network on the way, stands still.`
    return { words, waits: '' }
  } catch {
    // The current step reports why a server refuses.
    return { words: undefined, waits: '' }
  }
}

/** Finds who holds the lock that a session of the migration waits for. */
async function lockInTheWay(
  side: 'source' | 'target',
  session: Session,
  name: string,
): Promise<string | undefined> {
  const held = await session.value(
    `SELECT pg_catalog.string_agg(DISTINCT pg_catalog.format('%s is held by session %s of %s (%s)',
         coalesce('the lock on ' || l.relation::pg_catalog.regclass::text, 'a lock'), h.pid, h.usename,
         coalesce(nullif(h.application_name, ''), h.backend_type)), '; ')
     FROM pg_catalog.pg_stat_activity a
     JOIN pg_catalog.pg_locks l ON l.pid = a.pid AND NOT l.granted
     CROSS JOIN LATERAL pg_catalog.unnest(pg_catalog.pg_blocking_pids(a.pid)) blocking (pid)
     JOIN pg_catalog.pg_stat_activity h ON h.pid = blocking.pid
     WHERE (a.application_name = $1
         OR a.pid IN (SELECT s.pid FROM pg_catalog.pg_stat_subscription s WHERE s.subname = $1))
       AND h.application_name <> $1`,
    [name],
  )
  return held === undefined ? undefined : `The migration waits at the ${side}: ${held}.`
}

/** A slot that is behind counts as stuck after this time without progress. */
const slotMilliseconds = 4_000
/** The log of this size, one segment of the usual size, is always kept. */
const heldBytesUsual = 16 * 1024 * 1024
const openTransactionSeconds = 5

/** Records since when a slot has not moved. It is called at each look at the slot. */
export class SlotWatch {
  readonly #task: DatabaseTask
  #confirmed = ''
  #since = 0
  #askedAt = 0

  constructor(task: DatabaseTask) {
    this.#task = task
  }

  async look(source: Session, target: Session, confirmed: string): Promise<void> {
    const task = this.#task
    const now = task.clock.now()
    const { bytesBehind = 0, walHeldBytes = 0 } = task.record.observed
    if (confirmed !== this.#confirmed || bytesBehind === 0) {
      this.#confirmed = confirmed
      this.#since = now
    }
    if (now - this.#askedAt < quietMilliseconds) return
    this.#askedAt = now
    const stands = now - this.#since >= slotMilliseconds
    const words = [
      stands ? await this.#reason(source, target, bytesBehind) : undefined,
      walHeldBytes > heldBytesUsual ? await this.#whatHolds(source, walHeldBytes) : undefined,
    ].filter((one) => one !== undefined)
    warn(task, 'slot', words.length === 0 ? undefined : words.join(' '))
  }

  async #reason(source: Session, target: Session, bytes: number): Promise<string> {
    const task = this.#task
    const name = nameOf(task)
    const locked = await lockInTheWay('target', target, name)
    if (locked !== undefined) return locked
    const since = timeOf(this.#since)
    const reader = await source.value(
      'SELECT active_pid FROM pg_catalog.pg_replication_slots WHERE slot_name = $1',
      [name],
    )
    return reader === undefined
      ? `Nobody has read from the replication slot since ${since}: the target's server does not reach the source, and its log says why.`
      : `The replication slot has not advanced since ${since}, though the source has written more than the target has confirmed (${amount(bytes)}).`
  }

  async #whatHolds(source: Session, bytes: number): Promise<string | undefined> {
    const open = await openTransactions(source, openTransactionSeconds)
    return open === ''
      ? undefined
      : `The source keeps ${amount(bytes)} of its log for transactions that are open: ${open}.`
  }
}

/** A power of two, so that the words do not change at every look. */
function amount(bytes: number): string {
  return bytes < 2 ** 20
    ? 'less than 1 MiB'
    : `more than ${2 ** Math.floor(Math.log2(bytes / 2 ** 20))} MiB`
}

async function watchRoom(task: DatabaseTask, isOver: () => boolean): Promise<void> {
  if (task.spec.targetStorageBytes === undefined) return
  let next = 0
  while (!isOver()) {
    await sleep(tickMilliseconds)
    if (task.clock.now() < next || !startsOver(task.record.observed.phase)) continue
    try {
      await using server = await openTargetServer(task)
      const words = await roomWarning(task, server)
      if (!isOver()) warn(task, 'room', words)
    } catch {
      // The current step reports what is wrong with the server.
    }
    next = task.clock.now() + roomMilliseconds
  }
}
