/** Reads and prints synchronization runs and their details. */

import { textOf } from '#client/answer.ts'
import { listOf } from '#client/resource.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { LocalProblem } from './command.ts'
import type { Connection } from './context.ts'
import type { Column } from './output/table.ts'
import { shareVersion } from './sharing.ts'

interface Entry {
  readonly [name: string]: unknown
}

/** All pages of a list that is read by POST. */
async function postList(
  connection: Pick<Connection, 'client'>,
  path: string,
  body: object | undefined,
  query: Readonly<Record<string, string | undefined>> = {},
): Promise<readonly Entry[]> {
  const items: Entry[] = []
  let next: string | undefined = path
  let asked: Readonly<Record<string, string | undefined>> = {
    'api-version': shareVersion,
    ...query,
  }
  while (next !== undefined) {
    const answer = await connection.client.request('POST', next, {
      query: asked,
      ...(body === undefined ? {} : { body }),
    })
    items.push(...listOf(answer.body, 'value').filter(isJsonObject))
    next = textOf(answer.body, 'nextLink') || undefined
    asked = {}
  }
  return items
}

export function listRuns(
  connection: Pick<Connection, 'client'>,
  subscription: string,
): Promise<readonly Entry[]> {
  return postList(connection, `${subscription}/listSynchronizations`, undefined)
}

/** The named run, else the newest. */
export async function runOf(
  connection: Pick<Connection, 'client'>,
  subscription: string,
  id: string | undefined,
): Promise<Entry> {
  const runs = await listRuns(connection, subscription)
  const found = id === undefined ? runs[0] : runs.find((one) => one['synchronizationId'] === id)
  if (found !== undefined) return found
  throw new LocalProblem(
    'NoSynchronization',
    id === undefined ? 'There is no synchronization yet.' : `There is no synchronization ${id}.`,
  )
}

export function detailsOf(
  connection: Pick<Connection, 'client'>,
  subscription: string,
  id: string,
  query: Readonly<Record<string, string | undefined>> = {},
): Promise<readonly Entry[]> {
  const body = { synchronizationId: id }
  return postList(connection, `${subscription}/listSynchronizationDetails`, body, query)
}

export const detailColumns: readonly Column<Entry>[] = [
  { title: 'NAME', of: (row) => textAt(row, 'name') },
  { title: 'TYPE', of: (row) => textAt(row, 'dataSetType') },
  { title: 'STATUS', of: (row) => textAt(row, 'status') },
  { title: 'FILES', of: (row) => textAt(row, 'filesWritten') },
  { title: 'ROWS', of: (row) => textAt(row, 'rowsCopied') },
  { title: 'WRITTEN', of: (row) => sizeText(numberAt(row, 'sizeWritten')) },
  { title: 'SECONDS', of: (row) => (numberAt(row, 'durationMs') / 1000).toFixed(1) },
  { title: 'MESSAGE', of: (row) => textAt(row, 'message') },
]

export const runColumns: readonly Column<Entry>[] = [
  { title: 'ID', of: (row) => textAt(row, 'synchronizationId') },
  { title: 'MODE', of: (row) => textAt(row, 'synchronizationMode') },
  { title: 'STATUS', of: (row) => textAt(row, 'status') },
  { title: 'STARTED', of: (row) => textAt(row, 'startTime') },
  { title: 'SECONDS', of: (row) => (numberAt(row, 'durationMs') / 1000).toFixed(1) },
  { title: 'MESSAGE', of: (row) => textAt(row, 'message') },
]

export function textAt(row: Entry, name: string): string {
  const value = row[name]
  return value === undefined ? '' : String(value)
}

export function numberAt(row: Entry, name: string): number {
  return Number(row[name] ?? 0)
}

export function sizeText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let at = 0
  let size = bytes
  while (size >= 1024 && at < units.length - 1) {
    size /= 1024
    at++
  }
  return `${at === 0 ? size : size.toFixed(1)} ${units[at]}`
}

const barWidth = 24

/**
 * One line of progress. A data set that ran before is expected to have the same size; for a new one only the amount
 * done is known.
 */
export function progressLine(row: Entry, expected: number | undefined): string {
  const status = textAt(row, 'status')
  const done = numberAt(row, 'sizeWritten')
  const seconds = numberAt(row, 'durationMs') / 1000
  const rate = seconds > 0 ? done / seconds : 0
  const ended = !['Queued', 'InProgress'].includes(status)
  const share = ended
    ? 1
    : expected === undefined || expected === 0
      ? 0
      : Math.min(0.99, done / expected)
  const filled = Math.round(share * barWidth)
  const bar = `${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}`
  const left =
    ended || expected === undefined || rate === 0
      ? ''
      : `, ${Math.max(0, Math.ceil((expected - done) / rate))} s left`
  return `[${bar}] ${textAt(row, 'name')} ${status}: ${sizeText(done)}, ${sizeText(Math.round(rate))}/s${left}`
}
