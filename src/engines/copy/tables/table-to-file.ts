/**
 * A table as one file: CSV with a header as PostgreSQL writes it, or Parquet that DuckDB makes of it. The file is
 * put together in a temporary folder of this machine and then goes the way of any object.
 */

import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { copyObjects } from '../copy-objects.ts'
import {
  CopyCancelled,
  type CopyTask,
  type Counted,
  type Ledger,
  type PostgresTable,
} from '../engine.ts'
import { FolderSource } from '../files/folder-source.ts'
import type { ObjectSink } from '../objects.ts'
import { Meter } from './meter.ts'
import { csvToParquet } from './parquet.ts'
import { openPostgresSource } from './postgres-source.ts'
import { inWords } from './postgres-table.ts'

export async function copyTableToFile(
  task: CopyTask,
  from: PostgresTable,
  sink: ObjectSink,
  ledger: Ledger,
  signal: AbortSignal,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'armature-table-'))
  try {
    await using source = await openPostgresSource(from, { ...task, mode: 'full' })
    const csv = join(folder, 'export', 'table')
    const path = join(folder, 'export', 'out')
    await mkdir(join(folder, 'export'))
    const meter = new Meter(ledger)
    const read = source.stream('all', 'csv', true)
    await inWords(from, 'read', () => pipeline(read, meter, createWriteStream(csv), { signal }))
    await meter.settled()
    const parquet = task.format === 'Parquet'
    if (parquet) await csvToParquet(csv, path, source.shape.columns)
    const file = parquet ? 'out' : 'table'
    const { size } = await stat(join(folder, 'export', file))
    const counted = { rowsRead: read.rowCount, sizeRead: meter.bytes, sizeWritten: size }
    await using made = new FolderSource({
      kind: 'folder',
      shape: 'file',
      root: folder,
      container: 'export',
      path: file,
    })
    await copyObjects(task, made, sink, countingRows(ledger, counted), signal)
  } catch (error) {
    if (signal.aborted) throw new CopyCancelled()
    throw error
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** What was read is rows, not a file; it counts with the end. The file is known by this run alone. */
function countingRows(
  ledger: Ledger,
  table: Pick<Counted, 'rowsRead' | 'sizeRead' | 'sizeWritten'>,
): Ledger {
  return {
    ...ledger,
    todo: (items) => Promise.resolve(items.map(() => ({ kind: 'copy' }) as const)),
    commit: (progress) =>
      ledger.commit({
        ...progress,
        counted: progress.done.length === 0 ? {} : { ...progress.counted, filesRead: 0, ...table },
      }),
  }
}
