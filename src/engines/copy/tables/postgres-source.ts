/** Reads a table in one snapshot: all of it, or what changed since the snapshot of the last run. */

import type { Readable } from 'node:stream'
import { type Client, escapeIdentifier, escapeLiteral } from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { CopyFailure, type CopyTask, type PostgresTable } from '../engine.ts'
import type { RoutedTask } from '../routed-task.ts'
import { CopyOut } from './copy-frames.ts'
import { type FrameFormat, named, openTable, shapeOf, type TableShape } from './postgres-table.ts'

/** From it the next run finds the changes. It belongs to one server's history; another server has another. */
export type Watermark =
  | { readonly kind: 'transactions'; readonly server: string; readonly from: string }
  | { readonly kind: 'column'; readonly column: string; readonly above: string | null }

/** It goes into messages, rows and the comment of a table, and comes from a server that somebody registered. */
export const watermarkCharactersMax = 2000

/** Undefined where it is longer than what is kept. */
export function watermarkText(watermark: Watermark): string | undefined {
  const text = JSON.stringify(watermark)
  return text.length > watermarkCharactersMax ? undefined : text
}

export const longValues =
  'All is copied each time: the largest value of the watermark column is too long to be kept.'

type Which = 'all' | 'changes'

interface OpenedSource extends AsyncDisposable {
  readonly shape: TableShape
  /** Undefined: changes cannot be determined, and everything is copied. */
  readonly changes: string | undefined
  /** The reason why they cannot. */
  readonly note: string | undefined
  /** The watermark of the next run. */
  readonly watermark: string | undefined
  /** As CSV. */
  stream(which: Which, header: boolean): Readable & { rowCount: number }
  /** In a format that only another server reads. */
  frames(which: Which, format: FrameFormat): CopyOut
}

/** Transaction numbers have 32 bits; an older one would compare the wrong way. */
const transactionsMax = 2_000_000_000n

export function openPostgresSource(
  location: PostgresTable,
  task: RoutedTask,
): Promise<OpenedSource> {
  return openTable(location, task, 'read', (client) => open(client, location, task))
}

async function open(
  client: Client,
  location: PostgresTable,
  task: CopyTask,
): Promise<OpenedSource> {
  await client.query('begin isolation level repeatable read read only')
  const shape = await shapeOf(client, location.schema, location.table)
  if (shape === undefined || shape.columns.length === 0) {
    throw new CopyFailure(
      'SourceMissing',
      `there is no table ${location.schema}.${location.table} in '${location.database}'`,
    )
  }
  const column = task.watermarkColumn
  if (column !== undefined && !shape.columns.some(({ name }) => name === column)) {
    throw new CopyFailure(
      'SourceMissing',
      `the watermark column '${column.slice(0, 63)}' does not exist`,
    )
  }
  const since = parse(task.watermark)
  const from = `${named(location.schema, location.table)} t`
  const { where, note, watermark } =
    column === undefined
      ? await byTransactions(client, since)
      : await byColumn(client, from, column, since)
  const columns = shape.columns.map(({ name }) => `t.${escapeIdentifier(name)}`).join(', ')
  const copyOut = (which: Which, options: string): string => {
    const rows = which === 'changes' && where !== undefined ? ` where ${where}` : ''
    return `copy (select ${columns} from ${from}${rows}) to stdout with (format ${options})`
  }
  return {
    shape,
    changes: where,
    note,
    watermark,
    stream: (which, header) =>
      client.query(copyTo(copyOut(which, `csv${header ? ', header' : ''}`))),
    frames: (which, format) => client.query(new CopyOut(copyOut(which, format))),
    async [Symbol.asyncDispose]() {
      await client.end()
    },
  }
}

interface Since {
  readonly where: string | undefined
  readonly note: string | undefined
  readonly watermark: string | undefined
}

async function byTransactions(client: Client, since: Watermark | undefined): Promise<Since> {
  const { rows } = await client.query<{ server: string; low: string; now: string }>(
    `select (select system_identifier::pg_catalog.text from pg_catalog.pg_control_system()) as server,
      pg_catalog.txid_snapshot_xmin(pg_catalog.txid_current_snapshot())::pg_catalog.text as low,
      pg_catalog.txid_snapshot_xmax(pg_catalog.txid_current_snapshot())::pg_catalog.text as now`,
  )
  const [row] = rows
  if (row === undefined) throw new Error('a select without from gives a row')
  const next: Watermark = { kind: 'transactions', server: row.server, from: row.low }
  if (![row.server, row.low, row.now].every((one) => /^\d{1,20}$/.test(one))) {
    throw new CopyFailure('Unsupported', 'the server does not number its transactions')
  }
  const watermark = JSON.stringify(next)
  if (since?.kind !== 'transactions' || since.server !== row.server) {
    return { where: undefined, note: undefined, watermark }
  }
  const age = BigInt(row.now) - BigInt(since.from)
  if (age < 0n || age > transactionsMax) {
    const note = 'All was copied: the last run is too many transactions ago to tell what changed.'
    return { where: undefined, note, watermark }
  }
  const narrow = (BigInt(since.from) % 4_294_967_296n).toString()
  const isNewer = `pg_catalog.age(t.xmin) OPERATOR(pg_catalog.<=) pg_catalog.age(${escapeLiteral(narrow)}::pg_catalog.xid)`
  return { where: isNewer, note: undefined, watermark }
}

async function byColumn(
  client: Client,
  from: string,
  column: string,
  since: Watermark | undefined,
): Promise<Since> {
  const name = `t.${escapeIdentifier(column)}`
  const { rows } = await client.query<{ top: string | null }>(
    `select pg_catalog.left(pg_catalog.max(${name})::pg_catalog.text, ${watermarkCharactersMax}) as top from ${from}`,
  )
  const above = rows[0]?.top ?? null
  const watermark = watermarkText({ kind: 'column', column, above })
  if (watermark === undefined) return { where: undefined, note: longValues, watermark }
  if (since?.kind !== 'column' || since.column !== column || since.above === null) {
    return { where: undefined, note: undefined, watermark }
  }
  // A row equal to the last one may be new; it is written once more rather than lost.
  return {
    where: `${name} OPERATOR(pg_catalog.>=) ${escapeLiteral(since.above)}`,
    note: undefined,
    watermark,
  }
}

function parse(watermark: string | undefined): Watermark | undefined {
  // This file writes it, and the journal keeps it.
  return watermark === undefined ? undefined : (JSON.parse(watermark) as Watermark)
}
