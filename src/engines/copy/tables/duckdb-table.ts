/** The shape of a table in an attached DuckDB file. Views are refused: what they read is not theirs to share. */

import { CopyFailure, type DuckdbTable } from '../engine.ts'
import { type DuckdbFiles, literal, quoted } from './duckdb-files.ts'
import { isDuckdbType } from './duckdb-types.ts'
import type { TableShape } from './postgres-table.ts'

export interface DuckdbShape extends TableShape {
  /** The statements that create the table and its indexes, as DuckDB prints them. */
  readonly makes: readonly string[]
}

export function pathOf(catalog: string, schema: string, table: string): string {
  return `${quoted(catalog)}.${quoted(schema)}.${quoted(table)}`
}

/** Undefined when there is no such table. */
export async function duckdbShape(
  files: DuckdbFiles,
  catalog: string,
  { schema, table }: DuckdbTable,
): Promise<DuckdbShape | undefined> {
  const where = `database_name = ${literal(catalog)} and schema_name = ${literal(schema)} and table_name = ${literal(table)}`
  const [found] = await files.rows(`select comment, sql from duckdb_tables() where ${where}`)
  if (found === undefined) return undefined
  const columns = await files.rows(
    `select column_name as name, data_type as type, is_nullable from duckdb_columns() where ${where} order by column_index`,
  )
  for (const { name, type } of columns) {
    if (isDuckdbType(String(type))) continue
    const shown = String(name).slice(0, 63)
    throw new CopyFailure('Unsupported', `the type of the column '${shown}' is none`)
  }
  const key = await files.rows(
    `select unnest(constraint_column_names) as name from duckdb_constraints()
      where ${where} and constraint_type = 'PRIMARY KEY'`,
  )
  const indexes = await files.rows(
    `select sql from duckdb_indexes() where ${where} and sql is not null`,
  )
  const comment = found['comment']
  return {
    columns: columns.map((one) => ({
      name: String(one['name']),
      type: String(one['type']),
      notNull: one['is_nullable'] === false,
    })),
    key: key.map((one) => String(one['name'])),
    comment: typeof comment === 'string' ? comment : null,
    makes: [found, ...indexes].map((one) => String(one['sql'])),
  }
}
