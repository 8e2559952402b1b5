/**
 * Copies all tables of a database with several pairs of sessions under one snapshot, the largest first. Very large
 * tables are split, so that one table keeps every pair busy. The progress of each can be read at any moment.
 */

import type { Clock } from '#kernel/ports.ts'
import type { ObservedTable, ReportedTable } from '../engine.ts'
import { DatabaseEngineError, observedTablesMax } from '../engine.ts'
import { alteredTables, type SourceTable } from './catalog.ts'
import { codeOf, isTransient, quoteText, type Session } from './connect.ts'
import { relayCopy } from './copy-relay.ts'
import { type DatabaseTask, openSource, openTarget, tell } from './database-task.ts'

interface CopyPlan {
  readonly tables: readonly SourceTable[]
  readonly snapshot: string
  /** Both servers have the same major version and store text as UTF-8, so binary forms mean the same. */
  readonly binary: boolean
  /** The source's encoding: rows are not converted on the way. */
  readonly encoding: string
  /** The source can read a range of pages without reading the whole table (version 14). */
  readonly pieces: boolean
  /** Backends of the source that were ended so that somebody else gets a lock. */
  readonly ended: ReadonlySet<number>
  /** All its rows are there for good. */
  onCopied?(table: SourceTable): void
}

/** A table, or a range of its pages. */
interface Part {
  readonly table: SourceTable
  readonly range: { readonly from: number; readonly to: number } | undefined
  readonly bytes: number
}

/** Measured by the scenario `migrations`: smaller pieces gain nothing and cost a statement each. */
const pieceBytesMin = 64 * 1024 * 1024
/** Several for each pair of connections, so that the pairs end at about the same time. */
const piecesPerPair = 4

function partsOf(plan: CopyPlan, pairs: number): readonly Part[] {
  return plan.tables
    .flatMap((table): readonly Part[] => {
      // A table without pages has no rows in any snapshot; one that was emptied meanwhile is found later.
      if (table.pages === 0) return []
      const whole: Part = { table, range: undefined, bytes: table.bytes }
      if (!plan.pieces || !table.queried || pairs === 1 || table.bytes < 2 * pieceBytesMin)
        return [whole]
      const count = Math.min(
        Math.ceil(table.bytes / pieceBytesMin),
        pairs * Math.max(piecesPerPair, Math.ceil(table.bytes / (1024 * pieceBytesMin))),
      )
      const pages = Math.ceil(table.pages / count)
      return Array.from({ length: count }, (_, index) => ({
        table,
        // The last range is open: the table may have grown, though not for this snapshot.
        range: {
          from: index * pages,
          to: index === count - 1 ? Number.POSITIVE_INFINITY : (index + 1) * pages,
        },
        bytes: table.bytes / count,
      }))
    })
    .sort((left, right) => right.bytes - left.bytes)
}

/** A table may have no columns, and SQL has no syntax for an empty list. */
export function columnList(table: SourceTable): string {
  return table.columns.length === 0 ? '' : ` (${table.columns.join(', ')})`
}

interface Statements {
  readonly copyOut: string
  readonly copyIn: string
}

function statementsOf(part: Part, plan: CopyPlan): Statements {
  const { table, range } = part
  const columns = table.columns.join(', ')
  const options =
    plan.binary && table.binarySafe
      ? '(FORMAT binary)'
      : `(FORMAT text, ENCODING ${quoteText(plan.encoding)})`
  const conditions = [
    ...(range === undefined ? [] : [`ctid >= '(${range.from},0)'`]),
    ...(range === undefined || range.to === Number.POSITIVE_INFINITY
      ? []
      : [`ctid < '(${range.to},0)'`]),
  ]
  const from =
    table.condition !== undefined
      ? `(SELECT ${columns} FROM ONLY ${table.name} ${table.condition})`
      : conditions.length > 0
        ? `(SELECT ${columns} FROM ONLY ${table.name} WHERE ${conditions.join(' AND ')})`
        : `${table.name}${columnList(table)}`
  return {
    copyOut: `COPY ${from} TO STDOUT ${options}`,
    copyIn: `COPY ${table.name}${columnList(table)} FROM STDIN ${options}`,
  }
}

interface TableProgress {
  readonly table: SourceTable
  state: ObservedTable['state']
  partsLeft: number
  bytesCopied: number
  rows: number
  startedAt: number
  endedAt: number
  message: string | undefined
}

/** The progress of a copy, which its reporter reads at each tick. */
export class CopyProgress {
  private readonly clock: Clock
  private readonly tables = new Map<number, TableProgress>()
  private readonly startedAt: number
  private bytes = 0

  constructor(clock: Clock, tables: readonly SourceTable[]) {
    this.clock = clock
    this.startedAt = clock.now()
    for (const table of tables) {
      this.tables.set(table.oid, {
        table,
        state: 'queued',
        partsLeft: 0,
        bytesCopied: 0,
        rows: 0,
        startedAt: 0,
        endedAt: 0,
        message: undefined,
      })
    }
  }

  plan(parts: readonly Part[]): void {
    for (const part of parts) this.at(part.table).partsLeft += 1
    for (const progress of this.tables.values()) {
      if (progress.partsLeft === 0) progress.state = 'completed'
    }
  }

  begin(table: SourceTable): void {
    const progress = this.at(table)
    if (progress.state !== 'queued') return
    progress.state = 'loading'
    progress.startedAt = this.clock.now()
  }

  add(table: SourceTable, bytes: number): void {
    this.at(table).bytesCopied += bytes
    this.bytes += bytes
  }

  /** True when it was the last part. */
  end(table: SourceTable, rows: number): boolean {
    const progress = this.at(table)
    progress.rows += rows
    progress.partsLeft -= 1
    if (progress.partsLeft > 0) return false
    progress.state = 'completed'
    progress.endedAt = this.clock.now()
    return true
  }

  fail(table: SourceTable, message: string): void {
    const progress = this.at(table)
    progress.state = 'errored'
    progress.message = message
    progress.endedAt = this.clock.now()
  }

  /** Discards what was copied of a table. */
  again(table: SourceTable): void {
    const progress = this.at(table)
    progress.state = 'loading'
    progress.message = 'It was altered while it was copied, and is copied anew.'
    progress.partsLeft = 1
    progress.bytesCopied = 0
    progress.rows = 0
  }

  /** A part was given up so that somebody else gets a lock; its other bytes stay counted. */
  takeBack(table: SourceTable, bytes: number): void {
    this.at(table).bytesCopied -= bytes
    this.bytes -= bytes
  }

  /** Writes the progress into the task's record. */
  report(task: DatabaseTask): void {
    const all = [...this.tables.values()]
    const count = (state: ObservedTable['state']): number =>
      all.filter((progress) => progress.state === state).length
    const order = { errored: 0, loading: 1, queued: 2, completed: 2 } as const
    const shown = all
      .toSorted(
        (left, right) =>
          order[left.state] - order[right.state] || right.table.bytes - left.table.bytes,
      )
      .slice(0, observedTablesMax)
    const seconds = Math.max(0.001, (this.clock.now() - this.startedAt) / 1000)
    tell(task, {
      bytesTotal: all.reduce((sum, { table }) => sum + table.bytes, 0),
      bytesCopied: this.bytes,
      bytesPerSecond: Math.round(this.bytes / seconds),
      tables: shown.map((progress) => this.observed(progress)),
      counters: {
        ...task.record.observed.counters,
        fullLoadQueuedTables: count('queued'),
        fullLoadLoadingTables: count('loading'),
        fullLoadCompletedTables: count('completed'),
        fullLoadErroredTables: count('errored'),
      },
    })
  }

  /** All of them, the largest first. */
  copied(): readonly ReportedTable[] {
    return [...this.tables.values()].map(({ table, rows, bytesCopied, startedAt, endedAt }) => ({
      name: `${table.schema}.${table.table}`,
      rows,
      bytes: bytesCopied,
      milliseconds: Math.max(0, endedAt - startedAt),
    }))
  }

  private observed(progress: TableProgress): ObservedTable {
    const { table, state, bytesCopied, rows, startedAt, endedAt, message } = progress
    const until = endedAt === 0 ? this.clock.now() : endedAt
    const seconds = Math.max(0.001, (until - startedAt) / 1000)
    return {
      name: `${table.schema}.${table.table}`,
      state,
      bytesTotal: table.bytes,
      bytesCopied,
      rows: state === 'completed' ? rows : undefined,
      bytesPerSecond: startedAt === 0 ? 0 : Math.round(bytesCopied / seconds),
      ...(message === undefined ? {} : { message }),
    }
  }

  private at(table: SourceTable): TableProgress {
    const progress = this.tables.get(table.oid)
    if (progress === undefined) throw new Error(`${table.name} is not in the plan`)
    return progress
  }
}

/** Waiting for a lock holds up everything queued behind it, so the wait is short and repeated. */
const lockMilliseconds = 500
const lockPauseMilliseconds = 200
const savepoint = 'part'

/**
 * Copies every row the snapshot sees. The first failure ends all; its table is marked `errored`. A table of the
 * source is locked no longer than one of its parts is read, and less when somebody waits (`give-way.ts`).
 */
export async function copyTables(
  task: DatabaseTask,
  plan: CopyPlan,
  progress: CopyProgress,
): Promise<readonly SourceTable[]> {
  const pairs = Math.max(1, task.spec.tablesAtOnce)
  const queue = [...partsOf(plan, pairs)]
  progress.plan(queue)
  progress.report(task)
  const failed = new AbortController()
  /** Tables that could not be read in their old form, with the server's messages. */
  const unread = new Map<SourceTable, unknown>()
  const work = async (): Promise<void> => {
    let pair: Pair | undefined
    try {
      for (let part = queue.shift(); part !== undefined; part = queue.shift()) {
        task.signal.throwIfAborted()
        if (failed.signal.aborted) return
        if (unread.has(part.table)) continue
        pair ??= await openPair(task, plan)
        const outcome = await copyPart({ ...pair, part, plan, progress })
        if (outcome === 'copied') continue
        // After a failure the two sessions are out of step.
        await closePair(pair)
        pair = undefined
        if (outcome === 'yielded') {
          queue.push(part)
          tell(task, { message: `Waiting for a moment in which nobody alters ${part.table.name}.` })
          await new Promise((done) => setTimeout(done, lockPauseMilliseconds))
        } else {
          unread.set(part.table, outcome.error)
        }
      }
    } finally {
      if (pair !== undefined) await closePair(pair)
    }
  }
  const outcomes = await Promise.allSettled(
    Array.from({ length: Math.min(pairs, queue.length) }, async () => {
      try {
        await work()
      } catch (error) {
        failed.abort()
        throw error
      }
    }),
  )
  progress.report(task)
  task.signal.throwIfAborted()
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  await using source = await openSource(task)
  const altered = await alteredTables(source, plan.tables)
  for (const [table, error] of unread) if (!altered.includes(table)) throw error
  for (const table of altered) progress.again(table)
  return altered
}

interface Pair {
  readonly source: Session
  readonly target: Session
  /** The backend process of the source's session. */
  readonly pid: number
}

async function openPair(task: DatabaseTask, plan: CopyPlan): Promise<Pair> {
  await using opening = new AsyncDisposableStack()
  const source = opening.use(await openSource(task))
  const target = opening.use(await openTarget(task))
  await source.run(
    `SET lock_timeout = ${lockMilliseconds}; BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`,
  )
  await source.run(`SET TRANSACTION SNAPSHOT ${quoteText(plan.snapshot)}`)
  await source.run(`SAVEPOINT ${savepoint}`)
  // The first durable commit after the copy flushes everything; see `finishing` and the subscription.
  await target.run('SET synchronous_commit = off')
  const pid = Number(await source.value('SELECT pg_catalog.pg_backend_pid()'))
  opening.move()
  return { source, target, pid }
}

async function closePair({ source, target }: Pair): Promise<void> {
  await source[Symbol.asyncDispose]()
  await target[Symbol.asyncDispose]()
}

interface PartCopy extends Pair {
  readonly part: Part
  readonly plan: CopyPlan
  readonly progress: CopyProgress
}

/** A lock that was not granted, or a statement that was ended so that somebody else gets a lock. */
const yielded: ReadonlySet<string> = new Set(['55P03', '57014'])
/** Error codes for a table, a column or a schema that is gone. */
const gone: ReadonlySet<string> = new Set(['42P01', '42703', '3F000', 'XX000', '42809'])

async function copyPart({ source, target, pid, part, plan, progress }: PartCopy) {
  const { table } = part
  progress.begin(table)
  const { copyOut, copyIn } = statementsOf(part, plan)
  let bytes = 0
  let rows: number
  try {
    rows = await relayCopy({
      source,
      target,
      // The rollback releases the lock, before the rows are final: a failure there means reading again.
      copyOut: `${copyOut}; ROLLBACK TO SAVEPOINT ${savepoint}`,
      copyIn: `BEGIN; ${copyIn}`,
      onBytes: (more) => {
        bytes += more
        progress.add(table, more)
      },
    })
  } catch (error) {
    const code = codeOf(error) ?? ''
    const hasYielded = yielded.has(code) || plan.ended.has(pid)
    if (hasYielded || gone.has(code)) {
      progress.takeBack(table, bytes)
      return hasYielded ? 'yielded' : { error }
    }
    const message = error instanceof Error ? error.message : String(error)
    progress.fail(table, message)
    if (isTransient(error)) throw error
    throw new DatabaseEngineError('refused', `${table.name}: ${message}`, { cause: error })
  }
  await target.run('COMMIT')
  if (progress.end(table, rows)) plan.onCopied?.(table)
  return 'copied'
}

/** Copies the current rows of one table over the target's. */
export async function copyAnew(
  task: DatabaseTask,
  table: SourceTable,
  encoding: string,
  progress: CopyProgress,
): Promise<void> {
  await using source = await openSource(task)
  await using target = await openTarget(task)
  await target.run(`BEGIN; TRUNCATE ONLY ${table.name}`)
  const plan: CopyPlan = {
    tables: [table],
    snapshot: '',
    binary: false,
    encoding,
    pieces: false,
    ended: new Set(),
  }
  const part: Part = { table, range: undefined, bytes: table.bytes }
  const rows = await relayCopy({
    source,
    target,
    ...statementsOf(part, plan),
    onBytes: (bytes) => progress.add(table, bytes),
  })
  await target.run('COMMIT')
  progress.end(table, rows)
}
