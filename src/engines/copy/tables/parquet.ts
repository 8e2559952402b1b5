/** CSV as PostgreSQL writes it to Parquet, by DuckDB. The module is loaded only where Parquet is asked for. */

import type { Column } from './postgres-table.ts'

export async function csvToParquet(
  csv: string,
  parquet: string,
  columns: readonly Column[],
): Promise<void> {
  const { DuckDBInstance } = await import('@duckdb/node-api')
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    const types = columns.map(({ name, type }) => `${quoted(name)}: ${quoted(duckdbType(type))}`)
    await connection.run(
      `copy (select * from read_csv(${quoted(csv)}, header = true, delim = ',', quote = '"', escape = '"',
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

/** Types that mean the same in both; everything else stays the text that PostgreSQL writes. */
function duckdbType(type: string): string {
  if (/^numeric\(\d+,\d+\)$/.test(type)) return type.replace('numeric', 'decimal')
  return same.get(type) ?? 'varchar'
}

const same: ReadonlyMap<string, string> = new Map([
  ['smallint', 'smallint'],
  ['integer', 'integer'],
  ['bigint', 'bigint'],
  ['real', 'real'],
  ['double precision', 'double'],
  ['boolean', 'boolean'],
  ['date', 'date'],
  ['timestamp without time zone', 'timestamp'],
  ['timestamp with time zone', 'timestamptz'],
  ['uuid', 'uuid'],
])
