/** PostgreSQL to PostgreSQL: COPY out of one snapshot, piped into COPY, without a row being looked at on the way. */

import { pipeline } from 'node:stream/promises'
import { CopyCancelled, CopyFailure, type Ledger, type PostgresTable } from '../engine.ts'
import type { RoutedTask } from '../routed-task.ts'
import type { TableMark } from './marks.ts'
import { Meter } from './meter.ts'
import { openPostgresSource } from './postgres-source.ts'
import { frameFormat, inWords } from './postgres-table.ts'
import { openPostgresTarget } from './postgres-target.ts'

export async function copyPostgresToPostgres(
  task: RoutedTask,
  from: PostgresTable,
  to: PostgresTable,
  ledger: Ledger,
  signal: AbortSignal,
): Promise<void> {
  await using target = await openPostgresTarget(to, task)
  if (target.mark !== undefined) return conclude(ledger, target.mark, undefined)
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
    const meter = new Meter(ledger, read)
    const copied = pipeline(read, meter, load, { signal }).catch((error: unknown) => {
      if (read.failure === undefined) throw error
      return inWords(from, 'read', () => Promise.reject(read.failure))
    })
    await inWords(to, 'write', () => copied)
    await meter.settled()
    if (read.rowCount !== load.rowCount) {
      throw new CopyFailure(
        'Damaged',
        `${read.rowCount} rows were read and ${load.rowCount} arrived`,
        'later',
      )
    }
    const mark: TableMark = {
      armature: task.token,
      run: task.run,
      rows: load.rowCount,
      bytes: read.bytes,
      ...(source.watermark === undefined ? {} : { watermark: source.watermark }),
    }
    if (signal.aborted) throw new CopyCancelled()
    await ledger.publishing()
    isPublishing = true
    if (merges) await target.publishChanges(shape.columns, shape.key, mark)
    else await target.publishAll(shape.key, mark)
    await conclude(ledger, mark, note)
  } catch (error) {
    if (signal.aborted && !isPublishing) throw new CopyCancelled()
    throw error
  }
}

/** The note of an increment that could not be one. */
export const withoutKey =
  'All was copied: without a primary key on both sides, changed rows cannot be told from new ones.'

/** The numbers are the mark's, counted in one go with the end: however often a run is cut off here, once. */
export async function conclude(
  ledger: Ledger,
  mark: TableMark,
  note: string | undefined,
): Promise<void> {
  await ledger.published({
    replaces: false,
    counted: {
      rowsRead: mark.rows,
      rowsCopied: mark.rows,
      sizeRead: mark.bytes,
      sizeWritten: mark.bytes,
    },
    ...(mark.watermark === undefined ? {} : { watermark: mark.watermark }),
    ...(note === undefined ? {} : { note }),
  })
}
