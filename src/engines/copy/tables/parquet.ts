/** Converts PostgreSQL's CSV to Parquet with DuckDB. Loaded only for Parquet. */

import { loadOptional } from '../optional-package.ts'
import { csvType, fromCsv } from './duckdb-types.ts'
import type { Column } from './postgres-table.ts'

export async function csvToParquet(
  csv: string,
  parquet: string,
  columns: readonly Column[],
): Promise<void> {
  const { DuckDBInstance } = await loadOptional(
    '@duckdb/node-api',
    () => import('@duckdb/node-api'),
  )
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: '512MB',
    temp_directory: `${csv}.spill`,
    // Order is what one thread keeps by itself. Asked to keep it, DuckDB holds groups of rows however large they are.
    threads: '1',
    preserve_insertion_order: 'false',
  })
  const connection = await instance.connect()
  try {
    const read = columns.map(({ name, type }) => fromCsv(`"${name.replaceAll('"', '""')}"`, type))
    const types = columns.map(({ name, type }) => `${quoted(name)}: ${quoted(csvType(type))}`)
    await connection.run(
      `copy (select ${read.join(', ')} from read_csv(${quoted(csv)}, header = true, delim = ',', quote = '"', escape = '"',
        nullstr = '', allow_quoted_nulls = false, columns = {${types.join(', ')}}))
        to ${quoted(parquet)} (format parquet, row_group_size_bytes '64MB')`,
    )
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
