/** Draws a running migration: a bar for each database and each table that is being copied. Pure. */

import { textOf } from '#client/answer.ts'
import { listOf } from '#client/resource.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { type DatabaseStatus, type MigrationStatus, numberAt } from './migrations.ts'
import { bar, cutLine, durationText } from './output/bar.ts'
import { printable } from './output/table.ts'
import { sizeText } from './synchronizations.ts'

/** Progress that the worker reports beyond the contract. */
interface WorkerProgress {
  readonly message: string
  readonly databases: readonly Copying[]
}

interface Copying extends Copied {
  readonly phase: string
  /** Online: bytes of changes that the target has not confirmed yet. */
  readonly bytesBehind: number | undefined
  readonly tables: readonly (Copied & { readonly state: string })[]
}

interface Copied {
  readonly name: string
  readonly bytesTotal: number
  readonly bytesCopied: number
  readonly bytesPerSecond: number
}

export function progressOf(answer: unknown): WorkerProgress {
  return {
    message: textOf(answer, 'message') ?? '',
    databases: listOf(answer, 'databases').map((one) => ({
      ...copiedOf(one),
      phase: textOf(one, 'phase') ?? '',
      bytesBehind:
        isJsonObject(one) && typeof one['bytesBehind'] === 'number'
          ? one['bytesBehind']
          : undefined,
      tables: listOf(one, 'tables').map((table) => ({
        ...copiedOf(table),
        state: textOf(table, 'state') ?? '',
      })),
    })),
  }
}

function copiedOf(one: unknown): Copied {
  return {
    name: textOf(one, 'name') ?? '',
    bytesTotal: numberAt(one, 'bytesTotal'),
    bytesCopied: numberAt(one, 'bytesCopied'),
    bytesPerSecond: numberAt(one, 'bytesPerSecond'),
  }
}

/** As many lines as fit. Tables are dropped first, and dropped lines are counted. */
export function progressLines(
  status: MigrationStatus,
  progress: WorkerProgress,
  { rows, columns }: { readonly rows: number; readonly columns: number },
): readonly string[] {
  const lines = [headLine(status)]
  const blocks = status.databases.map((database) =>
    databaseLines(
      database,
      progress.databases.find(({ name }) => name === database.name),
    ),
  )
  const shown = blocks.slice(0, Math.max(1, rows - 2))
  // One line for each database first, then tables while there is room.
  let room = rows - 2 - shown.length
  for (const [first = '', ...tables] of shown) {
    const fitting = tables.slice(0, Math.max(0, room))
    room -= fitting.length
    lines.push(first, ...fitting)
  }
  const left = blocks.length - shown.length
  if (left > 0) lines.push(`… and ${left} more databases`)
  const trouble = status.error === '' ? progress.message : status.error
  if (trouble !== '') lines.push(`! ${trouble}`)
  return lines.map((line) => cutLine(printable(line), columns))
}

function headLine({ name, mode, state, subState }: MigrationStatus): string {
  return `${name}: ${mode}, ${state} / ${subState}`
}

/** The line of a database, and those of its tables that are being copied or failed. */
function databaseLines(
  database: DatabaseStatus,
  copying: Copying | undefined,
): readonly [string, ...string[]] {
  const tables = (copying?.tables ?? [])
    .filter(({ state }) => state === 'loading' || state === 'errored')
    .map((table) => `    ${copyBar(table, false)} ${table.name} ${table.state}: ${copyText(table)}`)
  return [databaseLine(database, copying), ...tables]
}

function databaseLine(database: DatabaseStatus, copying: Copying | undefined): string {
  const { name, state, operation, message } = database
  const isCopied = state === 'Succeeded' || state === 'WaitingForCutoverTrigger'
  const head = `  ${bar(isCopied ? 1 : shareOf(copying, afterCopy.has(operation)))} ${name} ${operation}`
  if (copying?.phase === 'copying') {
    return `${head}: ${copyText(copying)}, table ${database.tablesDone} of ${database.tables}`
  }
  if (state === 'WaitingForCutoverTrigger' || operation === 'CuttingOver') {
    return `${head}: ${changesText(database, copying)}`
  }
  return message === '' ? head : `${head}: ${message}`
}

/** Operations after the copy of all rows. */
const afterCopy: ReadonlySet<string> = new Set([
  'BuildingIndexes',
  'Finishing',
  'ReplicatingChanges',
  'CuttingOver',
])

function copyBar(copied: Copied, isDone: boolean): string {
  return bar(shareOf(copied, isDone))
}

/** Sizes on disk and on the wire differ, so the bar stops short before the end. */
function shareOf(copied: Copied | undefined, isDone: boolean): number {
  if (isDone) return 1
  if (copied === undefined || copied.bytesTotal === 0) return 0
  return Math.min(0.99, copied.bytesCopied / copied.bytesTotal)
}

function copyText({ bytesCopied, bytesTotal, bytesPerSecond }: Copied): string {
  const rate = `${sizeText(Math.round(bytesPerSecond))}/s`
  const open = bytesTotal - bytesCopied
  const left = bytesPerSecond > 0 && open > 0 ? `, ${durationText(open / bytesPerSecond)} left` : ''
  return `${sizeText(bytesCopied)} of about ${sizeText(bytesTotal)}, ${rate}${left}`
}

function changesText(database: DatabaseStatus, copying: Copying | undefined): string {
  const { appliedChanges, latency } = database
  const behind = copying?.bytesBehind
  return [
    `${appliedChanges} changes applied`,
    ...(latency === undefined ? [] : [`${latency} s behind`]),
    ...(behind === undefined ? [] : [`${sizeText(behind)} to go`]),
  ].join(', ')
}

/** Changes worth a line in a log: states and messages, no counters. */
export function changeLines(
  before: MigrationStatus | undefined,
  now: MigrationStatus,
): readonly string[] {
  const lines: string[] = []
  if (before?.state !== now.state || before.subState !== now.subState) lines.push(headLine(now))
  for (const database of now.databases) {
    const { name, state, operation, message } = database
    const known = before?.databases.find((one) => one.name === name)
    const isKnown = known?.state === state && known.operation === operation
    if (isKnown && known.message === message) continue
    const text = message === '' ? '' : `: ${message}`
    lines.push(`  ${name} ${state} ${operation}${text}`)
  }
  if (now.error !== '' && now.error !== before?.error) lines.push(`  ! ${now.error}`)
  return lines.map(printable)
}
