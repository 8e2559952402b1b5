/**
 * Writes everything a store holds as one text, and reads it back. The first line says whose state it is. Each table
 * follows as a line with its columns and a line for each row. Saving reads one snapshot and restoring is one
 * transaction, so a crash leaves one state or the other. Leases end and feeds report every key, so that no cache
 * keeps old values.
 */

import { Readable } from 'node:stream'
import { constants, createGunzip, createGzip } from 'node:zlib'
import { ApiError, refuse } from '#kernel/error.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { parseResourceId } from '#kernel/resource-id.ts'
import { quoted, rowsAfter } from '#stores/catalog.ts'
import { nextTurn } from '#stores/next-turn.ts'
import { restoredFeed } from '#stores/restored.ts'
import {
  type ResourceRow,
  type SqlTx,
  type SqlValue,
  type Store,
  StoreConflict,
} from '#stores/store.ts'
import { type ClockState, isMoment, isRate } from './moved-clock.ts'
import { emptyTables, isRowOf, numberOn, readTables, type Table, writeRows } from './tables.ts'

/** The largest unpacked state in bytes. It is made and read in memory. */
const stateBytesMax = 1024 * 1024 * 1024
/** The longest line in bytes. A line is a row: several times the largest document, because JSON is longer. */
const lineBytesMax = 64 * 1024 * 1024
const rowsAtOnce = 2000
/** Of rows that may have megabytes each. */
const documentsAtOnce = 16
/** The first piece holds the whole first line. */
const pieceBytes = 1024 * 1024
const format = 'armature-state-1'

/** What a state and the installation that restores it must have in common. */
export interface StateOwner {
  readonly tenantId: string
  readonly subscriptionId: string
  /** Proves which key sealed the secrets in it. */
  readonly keyProof: string
}

export interface Restored {
  /** When the state was saved, in milliseconds since 1970. */
  readonly savedAt: number
  readonly rows: number
  /** The state of the installation's clock, where it can be moved. */
  readonly clock?: ClockState
}

interface Head extends StateOwner {
  readonly format: string
  readonly savedAt: number
  readonly clock?: ClockState | undefined
  /** The steps of the schema under which the state was saved. */
  readonly schema: readonly string[]
}

export interface StateOptions {
  readonly store: Pick<Store, 'sql' | 'dialect' | 'replace'>
  /**
   * The owner according to the store at that moment. Refuses while it is about to change: rows would be sealed with
   * one key or the other.
   */
  owner(reads: Pick<SqlTx, 'all'>): Promise<StateOwner>
  /**
   * Resources of these types are reconciled at once after a restore: what they stand for may be in another state.
   */
  readonly reconciledTypes: () => readonly string[]
  /** Throws where a row is not as the type of its resource writes it. */
  checkRow?(row: ResourceRow): void
  /** Entries of feeds that are written even if they never existed. */
  readonly follows: readonly (readonly [feed: string, key: string])[]
  /** The machine's time. */
  now(): number
  readonly clock: () => ClockState | undefined
}

const schemaQuery = 'select area, number from store_migrations order by area, number'
/** The last part of a state. */
const followedTable = 'feed_entries'
const followedQuery = 'select distinct name, key from feed_entries order by name, key'

export async function saveState(options: StateOptions): Promise<Buffer> {
  const { store } = options
  const lines = await store.sql.snapshot(async (reads) => {
    const chunks: string[] = []
    let bytes = 0
    const add = (value: unknown): void => {
      const line = `${JSON.stringify(value, packed)}\n`
      bytes += line.length
      if (bytes > stateBytesMax) {
        throw refuse.ControlNotPossible({
          reason: `the state is larger than ${stateBytesMax} bytes; use the database's own backup`,
        })
      }
      chunks.push(line)
    }
    const head: Head = {
      format,
      savedAt: options.now(),
      clock: options.clock(),
      schema: schemaOf(await reads.all(schemaQuery)),
      ...(await options.owner(reads)),
    }
    add(head)
    for (const table of await readTables(reads, store.dialect)) {
      add({ table: table.name, columns: table.columns })
      const limit = table.columns.includes('document') ? documentsAtOnce : rowsAtOnce
      let after: readonly SqlValue[] | undefined
      do {
        const rows = await pageOf(reads, table, after, limit)
        for (const row of rows) add(row)
        const last = rows.length < limit ? undefined : rows.at(-1)
        after = last && table.key.map((name) => last[table.columns.indexOf(name)] ?? null)
      } while (after !== undefined)
    }
    add({ table: followedTable, columns: ['name', 'key'] })
    for (const row of await reads.all(followedQuery)) add([row['name'], row['key']])
    return chunks
  })
  return pack(lines)
}

/** Compresses in pieces off the event loop, so that the server answers other requests meanwhile. */
async function pack(lines: readonly string[]): Promise<Buffer> {
  const gzip = createGzip({ level: constants.Z_BEST_SPEED, chunkSize: pieceBytes })
  const received: Buffer[] = []
  for await (const part of Readable.from(pieces(lines)).pipe(gzip)) received.push(part)
  return Buffer.concat(received)
}

function* pieces(lines: readonly string[]): Generator<string> {
  let piece = ''
  for (const line of lines) {
    piece += line
    if (piece.length < pieceBytes) continue
    yield piece
    piece = ''
  }
  yield piece
}

async function pageOf(
  reads: Pick<SqlTx, 'all'>,
  table: Table,
  after: readonly SqlValue[] | undefined,
  limit: number,
): Promise<readonly (readonly SqlValue[])[]> {
  const rows = await rowsAfter(reads, table, after, limit)
  return rows.map((row) =>
    table.columns.map((column) => {
      const cell = row[column] ?? null
      return table.wholes.has(column) && cell !== null ? wholeOf(cell) : cell
    }),
  )
}

/** The value as text where a number would not hold it exactly. The database reads either. */
function wholeOf(cell: SqlValue): SqlValue {
  return Number.isSafeInteger(Number(cell)) ? Number(cell) : cell
}

/**
 * Restores a state. Refuses text that is no state, and the state of another installation or version; the store then
 * stays as it was.
 */
export async function restoreState(options: StateOptions, content: Uint8Array): Promise<Restored> {
  const unpacked = await unpack(content, await options.owner(options.store.sql))
  await requireSound(options, unpacked.text)
  try {
    return await replaceAll(options, unpacked)
  } catch (error) {
    if (!(error instanceof StoreConflict)) throw error
    throw notReadable(`its rows contradict each other: ${error.message}`)
  }
}

/** Rows that are checked between two pauses. */
const checkedAtOnce = 20

/** Checked before the transaction, in which nothing else may be awaited. */
async function requireSound({ store, checkRow }: StateOptions, text: Buffer): Promise<void> {
  if (checkRow === undefined) return
  const tables = await readTables(store.sql, store.dialect)
  const resources = tables.find(({ name }) => name === 'resources')
  if (resources === undefined) return
  let checked = 0
  for (const { table, rows } of batchesOf(text)) {
    await nextTurn()
    if (table !== resources.name) continue
    for (const row of rows) {
      if (checked++ % checkedAtOnce === 0) await nextTurn()
      if (!isRowOf(resources, row) || !isReadable(resources, row)) {
        throw notReadable(`a row of '${table}' has other cells than the table`)
      }
      const found = rowOf(resources, row)
      try {
        checkRow(found)
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        throw notReadable(`'${found.key}' is not as its type writes it: ${reason.slice(0, 500)}`)
      }
    }
  }
}

function rowOf({ columns }: Table, cells: readonly SqlValue[]): ResourceRow {
  const cell = (column: string): SqlValue => cells[columns.indexOf(column)] ?? null
  const uniqueKey = cell('unique_key')
  return {
    key: String(cell('key')),
    id: String(cell('id')),
    type: String(cell('type')),
    tracked: cell('tracked') === 1,
    uniqueKey: uniqueKey === null ? null : String(uniqueKey),
    etag: String(cell('etag')),
    generation: Number(cell('generation')),
    document: String(cell('document')),
  }
}

function replaceAll(
  options: StateOptions,
  { head, text }: { readonly head: Head; readonly text: Buffer },
): Promise<Restored> {
  const { store } = options
  return store.replace(async (tx) => {
    // The installation's key may have changed meanwhile.
    assertOwner(head, await options.owner(tx))
    assertSchema(head, schemaOf(await tx.all(schemaQuery)))
    const tables = await readTables(tx, store.dialect)
    const fences = await highestFences(tx, tables)
    const known = (await tx.all(followedQuery)).map((row) => [row['name'], row['key']])
    await emptyTables(tx, store.dialect, tables)
    let rows = 0
    const follow = await followAnew(tx)
    await follow([[restoredFeed, 'store'], ...options.follows, ...known])
    const missing = new Set([...tables.map(({ name }) => name), followedTable])
    for (const { table: name, rows: part } of batchesOf(text)) {
      missing.delete(name)
      if (name === followedTable) {
        await follow(part)
        continue
      }
      const table = tables.find((one) => one.name === name)
      if (table === undefined) throw notReadable(`it has a table '${name.slice(0, 100)}'`)
      if (!part.every((row) => isRowOf(table, row) && isReadable(table, row))) {
        throw notReadable(`a row of '${name}' has other cells than the table`)
      }
      const released = part.map((row) => release(table, row, fences.get(name) ?? 0))
      await writeRows(tx, store.dialect, table, released)
      rows += part.length
    }
    for (const name of missing) throw notReadable(`it lacks the table '${name}'`)
    await numberOn(tx, store.dialect, tables)
    await scheduleAll(tx, options)
    const { savedAt, clock } = head
    return { savedAt, rows, ...(clock === undefined ? {} : { clock }) }
  })
}

/** Ends all leases, and raises the fences so that an earlier holder does not find its own again. */
function release(
  { columns }: Table,
  row: readonly SqlValue[],
  fences: number,
): readonly SqlValue[] {
  if (!columns.includes('lease_owner')) return row
  return row.map((value, at) => {
    if (columns[at] === 'lease_owner') return null
    // Some tables use 0 where others use null.
    if (columns[at] === 'lease_until') return value === null ? null : 0
    return columns[at] === 'fence' ? Number(value) + fences : value
  })
}

async function highestFences(
  tx: SqlTx,
  tables: readonly Table[],
): Promise<ReadonlyMap<string, number>> {
  const highest = new Map<string, number>()
  for (const { name, columns } of tables) {
    if (!columns.includes('lease_owner') || !columns.includes('fence')) continue
    const [row] = await tx.all(`select coalesce(max(fence), 0) as fence from ${quoted(name)}`)
    highest.set(name, Number(row?.['fence'] ?? 0))
  }
  return highest
}

/** What resources stand for may have changed meanwhile, so each of them is checked. */
async function scheduleAll(tx: SqlTx, { reconciledTypes }: StateOptions): Promise<void> {
  for (const type of reconciledTypes()) {
    await tx.run(
      `insert into work (key, due_at, fence, attempt) select key, 0, 0, 0 from resources where type = ?
        on conflict (key) do update set due_at = excluded.due_at`,
      type,
    )
  }
}

/** Replaces all feed entries with one for each key that ever existed, so that every reader reads all keys again. */
async function followAnew(
  tx: SqlTx,
): Promise<(follows: readonly (readonly unknown[])[]) => Promise<void>> {
  await tx.run('delete from feed_entries')
  const seen = new Set<string>()
  return async (follows) => {
    for (const [feed, key] of follows) {
      const entry = JSON.stringify([feed, key])
      if (seen.has(entry)) continue
      seen.add(entry)
      await tx.follow(String(feed), String(key))
    }
  }
}

function schemaOf(rows: readonly Readonly<Record<string, SqlValue>>[]): readonly string[] {
  return rows.map((row) => `${row['area']} ${row['number']}`)
}

function notReadable(reason: string): Error {
  return refuse.ControlNotPossible({
    reason: `this is no state that can be brought back: ${reason}`,
  })
}

function assertOwner(head: Head, owner: StateOwner): void {
  if (head.tenantId !== owner.tenantId || head.subscriptionId !== owner.subscriptionId) {
    throw notReadable('it is of another installation')
  }
  if (head.keyProof !== owner.keyProof) {
    throw notReadable('its secrets are sealed with another key; the key was rotated since')
  }
}

function assertSchema(head: Head, schema: readonly string[]): void {
  if (JSON.stringify(head.schema) !== JSON.stringify(schema)) {
    throw notReadable('it was saved by another version')
  }
}

/**
 * Decompresses in pieces off the event loop. Only the first piece of another installation's state is unpacked: a
 * megabyte may expand to a thousand.
 */
async function unpack(
  content: Uint8Array,
  owner: StateOwner,
): Promise<{ readonly head: Head; readonly text: Buffer }> {
  const gunzip = createGunzip({ chunkSize: pieceBytes })
  gunzip.end(content)
  const received: Buffer[] = []
  let head: Head | undefined
  let bytes = 0
  let lineBytes = 0
  try {
    for await (const part of gunzip as AsyncIterable<Buffer>) {
      if (head === undefined) {
        head = readHead(part)
        assertOwner(head, owner)
      }
      bytes += part.length
      if (bytes > stateBytesMax) throw notReadable(`it is larger than ${stateBytesMax} bytes`)
      // Before it is unpacked whole: a megabyte may be one line of a thousand.
      const end = part.indexOf(newLine)
      lineBytes += end < 0 ? part.length : end
      if (lineBytes > lineBytesMax) throw tooLongLine()
      if (end >= 0) lineBytes = part.length - 1 - part.lastIndexOf(newLine)
      received.push(part)
    }
  } catch (error) {
    if (error instanceof ApiError) throw error
    throw notReadable(error instanceof Error ? error.message : String(error))
  }
  if (head === undefined) throw notReadable('it is empty')
  return { head, text: Buffer.concat(received) }
}

function readHead(text: Buffer): Head {
  const end = text.indexOf(newLine)
  const head = end < 0 ? undefined : readLine(text.toString('utf8', 0, end))
  if (!isJsonObject(head) || head['format'] !== format) throw notReadable('it begins like none')
  const { savedAt, clock } = head
  const isClock = isJsonObject(clock) && isMoment(clock['at']) && isRate(clock['rate'])
  if (!isMoment(savedAt) || !(clock === undefined || isClock)) {
    throw notReadable('its time or its clock is none')
  }
  // `saveState` writes this under this format.
  return head as unknown as Head
}

const newLine = 0x0a

function tooLongLine(): Error {
  return notReadable('a line of it is too long')
}

interface RowBatch {
  readonly table: string
  readonly rows: readonly (readonly SqlValue[])[]
}

/** The rows in batches of one table; none for an empty table. */
function* batchesOf(text: Buffer): Generator<RowBatch> {
  let table: string | undefined
  let rows: (readonly SqlValue[])[] = []
  for (let at = text.indexOf(newLine) + 1; at < text.length; ) {
    const end = text.indexOf(newLine, at)
    if (end < 0) throw notReadable('it ends in the middle of a line')
    const line = readLine(text.toString('utf8', at, end))
    at = end + 1
    if (Array.isArray(line)) {
      rows.push(line.map(unpacked))
      if (rows.length < rowsAtOnce) continue
    }
    if (table !== undefined && rows.length > 0) yield { table, rows }
    rows = []
    if (!isJsonObject(line)) continue
    table = String(line['table'])
    yield { table, rows: [] }
  }
  if (table !== undefined && rows.length > 0) yield { table, rows }
}

function readLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    throw notReadable('a line of it is not JSON')
  }
}

/** Every request reads resources, so one without a document, or with an id that is none, would end all of them. */
function isReadable({ name, columns }: Table, row: readonly SqlValue[]): boolean {
  if (name !== 'resources') return true
  const cell = (column: string): string => String(row[columns.indexOf(column)])
  return (
    parseResourceId(cell('id'))?.key === cell('key') && isJsonObject(readLine(cell('document')))
  )
}

/** JSON has no form for bytes. */
function packed(this: unknown, _name: string, value: unknown): unknown {
  return value instanceof Uint8Array ? { bytes: Buffer.from(value).toString('base64') } : value
}

/** `isRowOf` checks it. */
function unpacked(value: unknown): SqlValue {
  if (isJsonObject(value)) return Buffer.from(String(value['bytes']), 'base64')
  return value as SqlValue
}
