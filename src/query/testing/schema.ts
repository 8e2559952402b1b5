/** Compares typed tables with what the migrations made, in a real store. */

import assert from 'node:assert/strict'
import type { Sql, SqlRow } from '#stores/store.ts'
import { createTable, type Table } from '../table.ts'

type Declared = Pick<Table, 'name' | 'columns' | 'primaryKey'>

/** Each table has the columns and the primary key of its declaration. */
export async function assertTables(sql: Sql, tables: readonly Declared[]): Promise<void> {
  for (const table of tables) {
    const anew = { ...table, name: `anew_${table.name}` }
    await sql.transact((tx) => tx.run(createTable(anew, sql.dialect)))
    assert.deepEqual(await columnsOf(sql, table.name), await columnsOf(sql, anew.name), table.name)
    await sql.transact((tx) => tx.run(`drop table ${anew.name}`))
  }
}

/** By name. Columns that the store computes are left out. */
async function columnsOf(sql: Sql, table: string): Promise<readonly SqlRow[]> {
  if (sql.dialect === 'sqlite') {
    return sql.all(
      `select name, lower(type) as type, ("notnull" = 1 or pk > 0) as filled, dflt_value, pk
        from pragma_table_info(?) order by name`,
      table,
    )
  }
  return sql.all(
    `select c.column_name as name, data_type as type, is_nullable, column_default, collation_name,
        k.ordinal_position as pk
      from information_schema.columns c
      left join information_schema.table_constraints t
        on t.table_name = c.table_name and t.table_schema = c.table_schema and t.constraint_type = 'PRIMARY KEY'
      left join information_schema.key_column_usage k
        on k.constraint_name = t.constraint_name and k.table_schema = t.table_schema
          and k.table_name = c.table_name and k.column_name = c.column_name
      where c.table_name = ? and c.table_schema = current_schema() and c.is_generated = 'NEVER'
      order by c.column_name`,
    table,
  )
}
