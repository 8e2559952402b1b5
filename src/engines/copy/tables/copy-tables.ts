/** PostgreSQL to PostgreSQL: COPY from one snapshot, piped into COPY, without parsing a row. */

import { pipeline } from 'node:stream/promises'
import {
  CopyCancelled,
  type CopyControl,
  CopyFailure,
  type CopyJournal,
  type PostgresTable,
} from '../engine.ts'
import type { RoutedTask } from '../routed-task.ts'
import type { CompletionMarker } from './completion-marker.ts'
import { Meter } from './meter.ts'
import { openPostgresSource } from './postgres-source.ts'
import { callServer, frameFormat } from './postgres-table.ts'
import { openPostgresTarget } from './postgres-target.ts'

export async function copyPostgresToPostgres(
  task: RoutedTask,
  from: PostgresTable,
  to: PostgresTable,
  { journal, signal }: CopyControl,
): Promise<void> {
  await using target = await openPostgresTarget(to, task)
  if (target.marker !== undefined) return recordEnd(journal, target.marker, undefined)
  await using source = await openPostgresSource(from, task)
  const { shape } = source
  const wanted = task.mode === 'incremental' && task.owned && source.changes !== undefined
  const merges = wanted && target.merges(shape.columns, shape.key)
  const note = wanted && !merges ? withoutKey : source.note
  const kind = merges ? 'changes' : 'all'
  let isPublishing = false
  try {
    const format = frameFormat(shape.columns, target.shape?.columns ?? shape.columns)
    const load = await target.load(kind, shape.columns, format)
    const read = source.frames(kind, format)
    const meter = new Meter(journal, read)
    const copied = pipeline(read, meter, load, { signal }).catch((error: unknown) => {
      if (read.failure === undefined) throw error
      return callServer(from, 'read', () => Promise.reject(read.failure))
    })
    await callServer(to, 'write', () => copied)
    await meter.settled()
    if (read.rowCount !== load.rowCount) {
      throw new CopyFailure(
        'Damaged',
        `${read.rowCount} rows were read and ${load.rowCount} arrived`,
        'later',
      )
    }
    const marker: CompletionMarker = {
      armature: task.token,
      run: task.run,
      rows: load.rowCount,
      bytes: read.bytes,
      ...(source.watermark === undefined ? {} : { watermark: source.watermark }),
    }
    if (signal.aborted) throw new CopyCancelled()
    await journal.publishing()
    isPublishing = true
    if (merges) await target.publishChanges(shape.columns, shape.key, marker)
    else await target.publishAll(shape.key, marker)
    await recordEnd(journal, marker, note)
  } catch (error) {
    if (signal.aborted && !isPublishing) throw new CopyCancelled()
    throw error
  }
}

/** The note when an incremental copy was not possible. */
export const withoutKey =
  'All was copied: without a primary key on both sides, changed rows cannot be told from new ones.'

/**
 * The counts come from the marker and are counted once together with the end, however often a run is cut off here.
 */
export async function recordEnd(
  journal: CopyJournal,
  marker: CompletionMarker,
  note: string | undefined,
): Promise<void> {
  await journal.published({
    replaces: false,
    counted: {
      rowsRead: marker.rows,
      rowsCopied: marker.rows,
      sizeRead: marker.bytes,
      sizeWritten: marker.bytes,
    },
    ...(marker.watermark === undefined ? {} : { watermark: marker.watermark }),
    ...(note === undefined ? {} : { note }),
  })
}
