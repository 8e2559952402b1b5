/**
 * The tables of a store as a state of it has them: which there are, their columns that are written, and how many rows go
 * into one statement. Asks the database itself, so that a table that somebody adds is kept like the rest. What belongs to
 * the process and its history, and not to what is stored, is left out.
 */

import type { SqlTx, SqlValue } from '#stores/store.ts'

export interface Table {
  readonly name: string
  readonly columns: readonly string[]
  /** Their order; all columns where there is no primary key. */
  readonly key: readonly string[]
  /** Numbered by the database, which must go on behind the highest number. */
  readonly numbered: readonly string[]
}

/** Keys, schema, feeds and fences go on: whoever follows them must never see them go back. */
const left = /^(?:sqlite_|store_|installation$|installation_rotation|feeds$|feed_entries$|fences$)/

const columns = {
  // Without generated columns, which nobody can write, and without what a search index is kept in: it follows its table,
  // whose rows are told apart by a column that is not in the list.
  sqlite: `select l.name as place, p.name as name, p.pk as part, 0 as numbered,
      case when l.type = 'virtual' then 1 else 0 end as virtual
    from pragma_table_list l, pragma_table_info(l.name) p
    where l.schema = 'main' and l.type in ('table', 'virtual') order by l.name, p.cid`,
  postgres: `select c.table_name as place, c.column_name as name,
      coalesce(k.ordinal_position, 0) as part,
      case when c.is_identity = 'YES' then 1 else 0 end as numbered
    from information_schema.columns c
    join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
    left join (
      select u.table_schema, u.table_name, u.column_name, u.ordinal_position
      from information_schema.key_column_usage u
      join information_schema.table_constraints n on n.constraint_schema = u.constraint_schema
        and n.constraint_name = u.constraint_name and n.table_name = u.table_name
      where n.constraint_type = 'PRIMARY KEY'
    ) k on k.table_schema = c.table_schema and k.table_name = c.table_name and k.column_name = c.column_name
    where c.table_schema = current_schema() and t.table_type = 'BASE TABLE' and c.is_generated = 'NEVER'
    order by c.table_name, c.ordinal_position`,
} as const

type Dialect = keyof typeof columns

export async function readTables(
  sql: Pick<SqlTx, 'all'>,
  dialect: Dialect,
): Promise<readonly Table[]> {
  const rows = await sql.all(columns[dialect])
  return [...Map.groupBy(rows, (row) => String(row['place']))]
    .filter(([name]) => !left.test(name))
    .map(([name, of]) => {
      const virtual = Number(of[0]?.['virtual'] ?? 0) === 1
      const names = [...(virtual ? ['rowid'] : []), ...of.map((row) => String(row['name']))]
      const found = of
        .filter((row) => Number(row['part']) > 0)
        .sort((one, other) => Number(one['part']) - Number(other['part']))
        .map((row) => String(row['name']))
      return {
        name,
        columns: names,
        key: virtual ? ['rowid'] : found.length > 0 ? found : names,
        numbered: of
          .filter((row) => Number(row['numbered']) === 1)
          .map((row) => String(row['name'])),
      }
    })
}

/** Values in one statement. */
const valuesMax = 2000

/** Writes rows, many in a statement. */
export async function writeRows(
  tx: SqlTx,
  dialect: Dialect,
  table: Pick<Table, 'name' | 'columns' | 'numbered'>,
  rows: readonly (readonly SqlValue[])[],
): Promise<void> {
  const width = table.columns.length
  const atOnce = Math.max(1, Math.floor(valuesMax / width))
  const names = table.columns.map(quoted).join(', ')
  const over = dialect === 'postgres' && table.numbered.length > 0 ? ' overriding system value' : ''
  const row = `(${Array.from({ length: width }, () => '?').join(', ')})`
  for (let at = 0; at < rows.length; at += atOnce) {
    const part = rows.slice(at, at + atOnce)
    await tx.run(
      `insert into ${quoted(table.name)} (${names})${over} values ${part.map(() => row).join(', ')}`,
      ...part.flat(),
    )
  }
}

export async function emptyTables(
  tx: SqlTx,
  dialect: Dialect,
  tables: readonly Table[],
): Promise<void> {
  if (dialect === 'postgres') {
    // Those who read go on; those who write wait until the other state is whole.
    await tx.run(
      `lock table ${tables.map(({ name }) => quoted(name)).join(', ')} in exclusive mode`,
    )
  }
  for (const { name } of tables) await tx.run(`delete from ${quoted(name)}`)
}

/** The database numbers on behind what is there now. */
export async function numberOn(
  tx: SqlTx,
  dialect: Dialect,
  tables: readonly Table[],
): Promise<void> {
  if (dialect === 'sqlite') return
  for (const { name, numbered } of tables) {
    for (const column of numbered) {
      await tx.all(
        `select setval(pg_get_serial_sequence('${quoted(name)}', '${column}'),
          greatest(coalesce((select max(${quoted(column)}) from ${quoted(name)}), 0), 1),
          exists (select 1 from ${quoted(name)})) as at`,
      )
    }
  }
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
