/**
 * Copies tables when one side or both are DuckDB. Rows are first read completely into the stage, so that no file is
 * held longer than one statement, then loaded beside the target, and made visible in one transaction.
 */

import { createReadStream, createWriteStream, statSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import {
  CopyCancelled,
  type CopyControl,
  CopyFailure,
  type CopyTask,
  type DuckdbTable,
  type PostgresTable,
} from '../engine.ts'
import type { RoutedTask } from '../routed-task.ts'
import type { CompletionMarker } from './completion-marker.ts'
import { recordEnd, withoutKey } from './copy-tables.ts'
import { type DuckdbFiles, literal, openDuckdbFiles } from './duckdb-files.ts'
import { openDuckdbSource } from './duckdb-source.ts'
import { openDuckdbTarget } from './duckdb-target.ts'
import { asDuckdb, asPostgres } from './duckdb-types.ts'
import { Meter } from './meter.ts'
import { openPostgresSource } from './postgres-source.ts'
import { callServer } from './postgres-table.ts'
import { openPostgresTarget } from './postgres-target.ts'
import { openTableStage, type TableStage } from './table-stage.ts'

/** What was read into the stage. */
interface Taken {
  readonly kind: 'all' | 'changes'
  readonly columns: readonly Column[]
  readonly key: readonly string[]
  readonly rows: number
  readonly bytes: number
  readonly watermark: string | undefined
  readonly note: string | undefined
}

type Column = Parameters<typeof asDuckdb>[0][number]
type Merges = (columns: readonly Column[], key: readonly string[]) => boolean

/** Where rows wait to be loaded, and whether the target can take only changes. */
interface Staging {
  readonly stage: TableStage
  readonly merges: Merges
}

const csvFile = 'rows.csv'

export async function copyToDuckdb(
  task: RoutedTask,
  from: PostgresTable | DuckdbTable,
  to: DuckdbTable,
  { journal, signal }: CopyControl,
): Promise<void> {
  if (from.kind === 'duckdb') refuseOverlap(from, to)
  const stage = openTableStage(to.root, task)
  try {
    await using files = await openDuckdbFiles(to, stage, 'TargetRefused', signal)
    const target = await openDuckdbTarget(files, to, task, stage)
    if (target.marker !== undefined) return await recordEnd(journal, target.marker, undefined)
    let taken: Taken
    let loaded: number
    if (from.kind === 'postgres') {
      taken = await takeFromPostgres(
        task,
        from,
        { stage, merges: target.merges },
        { journal, signal },
      )
      loaded = await target.loadCsv(stage.at(csvFile), taken.columns)
      taken = { ...taken, columns: asDuckdb(taken.columns) }
    } else {
      await using read = await openDuckdbFiles(from, stage, 'SourceRefused', signal)
      await using source = await openDuckdbSource(read, from, task)
      const { columns, key } = source.shape
      const chosen = choose(task, source, target.merges(columns, key))
      loaded = await target.loadRows(read, source.select(chosen.kind, 'values'))
      const bytes = statSync(stage.at('rows.duckdb')).size
      taken = { ...chosen, columns, key, rows: loaded, bytes, watermark: source.watermark }
    }
    const marker = markOf(task, taken, loaded)
    await target.open()
    try {
      if (signal.aborted) throw new CopyCancelled()
      files.holdOut()
      await journal.publishing()
      const { kind, columns, key } = taken
      if (kind === 'changes') await target.publishChanges(columns, key, marker)
      else await target.publishAll(columns, key, marker)
    } finally {
      await target.close()
    }
    await recordEnd(journal, marker, taken.note)
  } finally {
    stage.remove()
  }
}

export async function copyDuckdbToPostgres(
  task: RoutedTask,
  from: DuckdbTable,
  to: PostgresTable,
  { journal, signal }: CopyControl,
): Promise<void> {
  await using target = await openPostgresTarget(to, task)
  if (target.marker !== undefined) return recordEnd(journal, target.marker, undefined)
  const stage = openTableStage(from.root, task)
  let isPublishing = false
  try {
    await using files = await openDuckdbFiles(from, stage, 'SourceRefused', signal)
    const taken = await takeFromDuckdb(task, from, files, { stage, merges: target.merges })
    const columns = asPostgres(taken.columns)
    const load = await target.load(taken.kind, columns, 'csv')
    const meter = new Meter(journal)
    await callServer(to, 'write', () =>
      pipeline(createReadStream(stage.at(csvFile)), meter, load, { signal }),
    )
    await meter.settled()
    const marker = markOf(task, taken, load.rowCount)
    if (signal.aborted) throw new CopyCancelled()
    await journal.publishing()
    isPublishing = true
    if (taken.kind === 'changes') await target.publishChanges(columns, taken.key, marker)
    else await target.publishAll(taken.key, marker)
    await recordEnd(journal, marker, taken.note)
  } catch (error) {
    if (signal.aborted && !isPublishing) throw new CopyCancelled()
    throw error
  } finally {
    stage.remove()
  }
}

async function takeFromPostgres(
  task: RoutedTask,
  from: PostgresTable,
  { stage, merges }: Staging,
  { journal, signal }: CopyControl,
): Promise<Taken> {
  try {
    await using source = await openPostgresSource(from, task)
    const { columns, key } = source.shape
    const chosen = choose(task, source, merges(columns, key))
    const meter = new Meter(journal)
    const read = source.stream(chosen.kind, false)
    const file = createWriteStream(stage.at(csvFile))
    await callServer(from, 'read', () => pipeline(read, meter, file, { signal }))
    await meter.settled()
    const { watermark } = source
    return { ...chosen, columns, key, rows: read.rowCount, bytes: meter.bytes, watermark }
  } catch (error) {
    if (signal.aborted) throw new CopyCancelled()
    throw error
  }
}

async function takeFromDuckdb(
  task: CopyTask,
  from: DuckdbTable,
  files: DuckdbFiles,
  { stage, merges }: Staging,
): Promise<Taken> {
  await using source = await openDuckdbSource(files, from, task)
  const { columns, key } = source.shape
  const chosen = choose(task, source, merges(columns, key))
  const path = stage.at(csvFile)
  const select = source.select(chosen.kind, 'csv')
  const rows = await files.run(`copy (${select}) to ${literal(path)} (format csv, header false)`)
  const bytes = statSync(path).size
  return { ...chosen, columns, key, rows, bytes, watermark: source.watermark }
}

function choose(
  task: CopyTask,
  source: { readonly changes: string | undefined; readonly note: string | undefined },
  merges: boolean,
): Pick<Taken, 'kind' | 'note'> {
  const wanted = task.mode === 'incremental' && task.owned && source.changes !== undefined
  if (wanted && merges) return { kind: 'changes', note: source.note }
  return { kind: 'all', note: wanted ? withoutKey : source.note }
}

function markOf(task: CopyTask, taken: Taken, loaded: number): CompletionMarker {
  if (taken.rows !== loaded) {
    throw new CopyFailure('Damaged', `${taken.rows} rows were read and ${loaded} arrived`, 'later')
  }
  return {
    armature: task.token,
    run: task.run,
    rows: loaded,
    bytes: taken.bytes,
    ...(taken.watermark === undefined ? {} : { watermark: taken.watermark }),
  }
}

/** The stage of both sides is below one folder. */
function refuseOverlap(from: DuckdbTable, to: DuckdbTable): void {
  if (from.root !== to.root) {
    throw new CopyFailure('Unsupported', 'the databases lie below different folders')
  }
  const same = (['folder', 'database', 'schema', 'table'] as const).every(
    (one) => from[one].toLowerCase() === to[one].toLowerCase(),
  )
  if (same) throw new CopyFailure('TargetRefused', 'source and target are the same table')
}
