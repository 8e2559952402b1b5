/**
 * Which tables a store has and how their rows are identified, read from the database itself, so that new tables are
 * found like the others. Reads only.
 */

import type { Sql, SqlRow, SqlValue } from './store.ts'

/** A column as the database describes it: `place` is its table, `part` its place in the primary key, or 0. */
interface CatalogColumn {
  readonly name: string
  /** In lower case. */
  readonly type: string
  readonly part: number
  readonly isRequired: boolean
  /** Numbered by the database. */
  readonly isNumbered: boolean
  /** Computed by the database, so nobody can write it. */
  readonly isGenerated: boolean
}

export interface CatalogTable {
  readonly name: string
  /** `shadow`: a table that SQLite keeps for a virtual table. */
  readonly kind: 'table' | 'virtual' | 'shadow'
  /** In their order in the table. */
  readonly columns: readonly CatalogColumn[]
  /** Names of the primary key, in its order; empty where there is none. */
  readonly key: readonly string[]
}

const queries = {
  sqlite: `select l.name as place, l.type as kind, p.name as name, lower(p.type) as type, p.pk as part,
      p."notnull" as required, 0 as numbered, 0 as generated
    from pragma_table_list l, pragma_table_info(l.name) p
    where l.schema = 'main' and l.type in ('table', 'virtual', 'shadow') and l.name not like 'sqlite_%'
    order by l.name, p.cid`,
  postgres: `select c.table_name as place, 'table' as kind, c.column_name as name, c.data_type as type,
      coalesce(k.ordinal_position, 0) as part, case when c.is_nullable = 'NO' then 1 else 0 end as required,
      case when c.is_identity = 'YES' then 1 else 0 end as numbered,
      case when c.is_generated = 'NEVER' then 0 else 1 end as generated
    from information_schema.columns c
    join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
    left join (
      select u.table_schema, u.table_name, u.column_name, u.ordinal_position
      from information_schema.key_column_usage u
      join information_schema.table_constraints n on n.constraint_schema = u.constraint_schema
        and n.constraint_name = u.constraint_name and n.table_name = u.table_name
      where n.constraint_type = 'PRIMARY KEY'
    ) k on k.table_schema = c.table_schema and k.table_name = c.table_name and k.column_name = c.column_name
    where c.table_schema = current_schema() and t.table_type = 'BASE TABLE'
    order by c.table_name, c.ordinal_position`,
} as const

export async function readCatalog(
  sql: Pick<Sql, 'all'>,
  dialect: keyof typeof queries,
): Promise<readonly CatalogTable[]> {
  const rows = await sql.all(queries[dialect])
  return [...Map.groupBy(rows, (row) => String(row['place']))].map(([name, of]) => {
    const columns = of.map((row) => ({
      name: String(row['name']),
      type: String(row['type']),
      part: Number(row['part']),
      // SQLite takes null in a key that is not declared otherwise.
      isRequired: Number(row['required']) === 1 || Number(row['part']) > 0,
      isNumbered: Number(row['numbered']) === 1,
      isGenerated: Number(row['generated']) === 1,
    }))
    const key = columns
      .filter(({ part }) => part > 0)
      .sort((left, right) => left.part - right.part)
      .map((column) => column.name)
    // The query returns no other kind.
    return { name, kind: String(of[0]?.['kind']) as CatalogTable['kind'], columns, key }
  })
}

/** The next rows of a table in the order of its key. */
export function rowsAfter(
  sql: Pick<Sql, 'all'>,
  table: {
    readonly name: string
    readonly key: readonly string[]
    readonly columns: readonly string[]
    /** Columns read as text: 64-bit integers, of which a number holds only 53 bits exactly. */
    readonly wholes?: ReadonlySet<string>
  },
  after: readonly SqlValue[] | undefined,
  limit: number,
): Promise<readonly SqlRow[]> {
  const key = table.key.map(quoted).join(', ')
  const select = (name: string) =>
    table.wholes?.has(name) === true
      ? `cast(${quoted(name)} as text) as ${quoted(name)}`
      : quoted(name)
  // Qualified with the table, because a bare name would mean the selected expression of that name.
  const order = table.key.map((name) => `${quoted(table.name)}.${quoted(name)}`).join(', ')
  const from =
    after === undefined ? '' : `where (${key}) > (${table.key.map(() => '?').join(', ')})`
  return sql.all(
    `select ${table.columns.map(select).join(', ')} from ${quoted(table.name)} ${from}
      order by ${order} limit ${limit}`,
    ...(after ?? []),
  )
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
