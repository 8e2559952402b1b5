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
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    const read = columns.map(({ name, type }) => fromCsv(`"${name.replaceAll('"', '""')}"`, type))
    const types = columns.map(({ name, type }) => `${quoted(name)}: ${quoted(csvType(type))}`)
    await connection.run(
      `copy (select ${read.join(', ')} from read_csv(${quoted(csv)}, header = true, delim = ',', quote = '"', escape = '"',
        nullstr = '', allow_quoted_nulls = false, columns = {${types.join(', ')}}))
        to ${quoted(parquet)} (format parquet)`,
    )
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
