/** Reads a table of DuckDB in one statement: all of it, or the new rows by a growing column. */

import { CopyFailure, type CopyTask, type DuckdbTable } from '../engine.ts'
import { type DuckdbFiles, isThere, literal, quoted } from './duckdb-files.ts'
import { type DuckdbShape, duckdbShape, pathOf } from './duckdb-table.ts'
import { intoCsv } from './duckdb-types.ts'
import {
  longValues,
  type Watermark,
  watermarkCharactersMax,
  watermarkText,
} from './postgres-source.ts'

interface DuckdbSource extends AsyncDisposable {
  readonly shape: DuckdbShape
  /** Undefined: changes cannot be determined, and everything is copied. */
  readonly changes: string | undefined
  readonly note: string | undefined
  readonly watermark: string | undefined
  /** The statement that reads the rows; `csv` writes every value as the other side reads it. */
  select(which: 'all' | 'changes', as: 'csv' | 'values'): string
}

const name = 'source'

export async function openDuckdbSource(
  files: DuckdbFiles,
  location: DuckdbTable,
  task: CopyTask,
): Promise<DuckdbSource> {
  const { path } = files
  const missing = new CopyFailure(
    'SourceMissing',
    `there is no table ${location.schema}.${location.table} in '${location.database}'`,
  )
  if (!isThere(path)) throw missing
  const catalog = `${name}_${task.token}`
  await files.attach(path, catalog, 'read')
  try {
    const shape = await duckdbShape(files, catalog, location)
    if (shape === undefined) throw missing
    const from = pathOf(catalog, location.schema, location.table)
    const since = await changesOf(files, from, shape, task)
    return {
      shape,
      ...since,
      select(which, as) {
        const columns = shape.columns.map((one) =>
          as === 'csv' ? intoCsv(quoted(one.name), one.type) : quoted(one.name),
        )
        const where =
          which === 'changes' && since.changes !== undefined ? ` where ${since.changes}` : ''
        return `select ${columns.join(', ')} from ${from}${where}`
      },
      [Symbol.asyncDispose]: () => files.detach(catalog),
    }
  } catch (error) {
    await files.detach(catalog)
    throw error
  }
}

const withoutColumn =
  'All was copied: DuckDB keeps no numbers of changes; name a watermarkColumn in the data set.'

async function changesOf(
  files: DuckdbFiles,
  from: string,
  shape: DuckdbShape,
  task: CopyTask,
): Promise<Pick<DuckdbSource, 'changes' | 'note' | 'watermark'>> {
  const column = task.watermarkColumn
  if (column === undefined) {
    const note = task.mode === 'incremental' && task.owned ? withoutColumn : undefined
    return { changes: undefined, note, watermark: undefined }
  }
  const found = shape.columns.find((one) => one.name === column)
  if (found === undefined) {
    const message = `the watermark column '${column.slice(0, 63)}' does not exist`
    throw new CopyFailure('SourceMissing', message)
  }
  const [row] = await files.rows(
    `select left(max(${quoted(column)})::varchar, ${watermarkCharactersMax}) as top from ${from}`,
  )
  const above = row === undefined || row['top'] === null ? null : String(row['top'])
  const watermark = watermarkText({ kind: 'column', column, above })
  if (watermark === undefined) return { changes: undefined, note: longValues, watermark }
  // A run of this mapping wrote it, and the journal kept it.
  const since = task.watermark === undefined ? undefined : (JSON.parse(task.watermark) as Watermark)
  if (since?.kind !== 'column' || since.column !== column || since.above === null) {
    return { changes: undefined, note: undefined, watermark }
  }
  // A row equal to the last one may be new; it is written once more rather than lost.
  const changes = `${quoted(column)} >= cast(${literal(since.above)} as ${found.type})`
  return { changes, note: undefined, watermark }
}
