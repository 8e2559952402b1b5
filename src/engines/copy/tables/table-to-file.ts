/**
 * Exports a table as one file: CSV with a header, or Parquet made by DuckDB. The file is prepared in a temporary
 * folder of this machine (for a DuckDB table: below its root) and then copied like any object.
 */

import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { copyObjects } from '../copy-objects.ts'
import {
  CopyCancelled,
  type CopyControl,
  type CopyJournal,
  type CopyTask,
  type CountedWork,
  type DuckdbTable,
  type PostgresTable,
} from '../engine.ts'
import { FolderSource } from '../files/folder-source.ts'
import type { ObjectSink } from '../objects.ts'
import type { RoutedTask } from '../routed-task.ts'
import { type DuckdbFiles, literal, openDuckdbFiles } from './duckdb-files.ts'
import { openDuckdbSource } from './duckdb-source.ts'
import { Meter } from './meter.ts'
import { csvToParquet } from './parquet.ts'
import { openPostgresSource } from './postgres-source.ts'
import { callServer } from './postgres-table.ts'
import { openTableStage } from './table-stage.ts'

export async function copyTableToFile(
  task: RoutedTask,
  from: PostgresTable | DuckdbTable,
  sink: ObjectSink,
  { journal, signal }: CopyControl,
): Promise<void> {
  try {
    if (from.kind === 'duckdb') {
      // DuckDB can reach nothing else.
      const stage = openTableStage(from.root, task)
      try {
        await using files = await openDuckdbFiles(from, stage, 'SourceRefused', signal)
        const counted = await exportDuckdb(task, from, files, stage.at('export'))
        await send(task, { root: stage.folder, counted }, sink, { journal, signal })
      } finally {
        stage.remove()
      }
      return
    }
    const folder = await mkdtemp(join(tmpdir(), 'armature-table-'))
    try {
      const counted = await exportPostgres(task, from, join(folder, 'export'), { journal, signal })
      await send(task, { root: folder, counted }, sink, { journal, signal })
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  } catch (error) {
    if (signal.aborted) throw new CopyCancelled()
    throw error
  }
}

type Exported = Required<Pick<CountedWork, 'rowsRead' | 'sizeRead' | 'sizeWritten'>>

const file = 'table'

async function exportPostgres(
  task: RoutedTask,
  from: PostgresTable,
  folder: string,
  { journal, signal }: CopyControl,
): Promise<Exported> {
  await using source = await openPostgresSource(from, { ...task, mode: 'full' })
  const isParquet = task.format === 'Parquet'
  const path = join(folder, file)
  const csv = isParquet ? join(folder, 'csv') : path
  await mkdir(folder)
  const meter = new Meter(journal)
  const read = source.stream('all', true)
  await callServer(from, 'read', () => pipeline(read, meter, createWriteStream(csv), { signal }))
  await meter.settled()
  if (isParquet) await csvToParquet(csv, path, source.shape.columns)
  return { rowsRead: read.rowCount, sizeRead: meter.bytes, sizeWritten: (await stat(path)).size }
}

async function exportDuckdb(
  task: CopyTask,
  from: DuckdbTable,
  files: DuckdbFiles,
  folder: string,
): Promise<Exported> {
  await using source = await openDuckdbSource(files, from, { ...task, mode: 'full' })
  const isParquet = task.format === 'Parquet'
  const path = join(folder, file)
  await mkdir(folder)
  const select = source.select('all', isParquet ? 'values' : 'csv')
  const options = isParquet ? 'format parquet' : 'format csv, header true'
  const rowsRead = await files.run(`copy (${select}) to ${literal(path)} (${options})`)
  const { size } = await stat(path)
  return { rowsRead, sizeRead: size, sizeWritten: size }
}

/** The file is copied like any object. */
async function send(
  task: CopyTask,
  { root, counted }: { readonly root: string; readonly counted: Exported },
  sink: ObjectSink,
  { journal, signal }: CopyControl,
): Promise<void> {
  const location = { kind: 'folder', shape: 'file', root, container: 'export', path: file } as const
  await using made = new FolderSource(location)
  await copyObjects(task, made, sink, { journal: countingRows(journal, counted), signal })
}

/** Rows are counted, not the file, and they count with the end. Only this run knows the file. */
function countingRows(journal: CopyJournal, table: Exported): CopyJournal {
  return {
    ...journal,
    todo: (items) => Promise.resolve(items.map(() => ({ kind: 'copy' }) as const)),
    commit: (progress) =>
      journal.commit({
        ...progress,
        counted: progress.done.length === 0 ? {} : { ...progress.counted, filesRead: 0, ...table },
      }),
  }
}
