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
  // Of the catalogs themselves: `information_schema` computes rights and keys of all tables, which takes a second.
  postgres: `select c.relname as place, 'table' as kind, a.attname as name, format_type(a.atttypid, null) as type,
      coalesce(k.part, 0) as part, case when a.attnotnull then 1 else 0 end as required,
      case when a.attidentity in ('a', 'd') then 1 else 0 end as numbered,
      case when a.attgenerated = '' then 0 else 1 end as generated
    from pg_catalog.pg_class c
    join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join (
      select p.conrelid, u.attnum, u.part
      from pg_catalog.pg_constraint p, unnest(p.conkey) with ordinality as u (attnum, part)
      where p.contype = 'p'
    ) k on k.conrelid = c.oid and k.attnum = a.attnum
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
    order by c.relname, a.attnum`,
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
