/**
 * Every place of a store that may hold text, by asking the database itself: a table that somebody adds is walked like the
 * rest. Reads only.
 */

import type { Sql, SqlRow, SqlValue } from '#stores/store.ts'

export interface TextPlace {
  readonly table: string
  /** The columns that tell its rows apart, in order. */
  readonly key: readonly string[]
  readonly texts: readonly string[]
}

/** What the rotation itself keeps: nothing in there is sealed. */
const own = /^installation_rotation/

const columns = {
  sqlite: `select m.name as place, p.name as name, lower(p.type) as type, p.pk as part
    from sqlite_master m, pragma_table_info(m.name) p
    where m.type = 'table' and m.name not like 'sqlite_%' order by m.name, p.cid`,
  postgres: `select c.table_name as place, c.column_name as name, c.data_type as type,
      coalesce(k.ordinal_position, 0) as part
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

const textTypes = new Set(['text', 'character varying', 'varchar'])

export async function textPlaces(sql: Pick<Sql, 'all' | 'dialect'>): Promise<readonly TextPlace[]> {
  const rows = await sql.all(columns[sql.dialect])
  return [...Map.groupBy(rows, (row) => String(row['place']))]
    .filter(([table]) => !own.test(table))
    .map(([table, of]) => placeOf(table, of))
    .filter(({ texts }) => texts.length > 0)
    .sort((left, right) => (left.table < right.table ? -1 : 1))
}

function placeOf(table: string, rows: readonly SqlRow[]): TextPlace {
  const key = rows
    .filter((row) => Number(row['part']) > 0)
    .sort((left, right) => Number(left['part']) - Number(right['part']))
    .map((row) => String(row['name']))
  const texts = rows
    .filter((row) => textTypes.has(String(row['type'])))
    .map((row) => String(row['name']))
  if (key.length === 0 && texts.length > 0) {
    throw new Error(`the table ${table} has text and no primary key: its rows cannot be walked`)
  }
  return { table, key, texts }
}

/** The next rows of a place in the order of its key. */
export function rowsAfter(
  sql: Pick<Sql, 'all'>,
  place: TextPlace,
  after: readonly SqlValue[] | undefined,
  limit: number,
): Promise<readonly SqlRow[]> {
  const key = place.key.map(quoted).join(', ')
  const named = [...new Set([...place.key, ...place.texts])].map(quoted).join(', ')
  const from =
    after === undefined ? '' : `where (${key}) > (${place.key.map(() => '?').join(', ')})`
  return sql.all(
    `select ${named} from ${quoted(place.table)} ${from} order by ${key} limit ${limit}`,
    ...(after ?? []),
  )
}

export function keyOf(place: TextPlace, row: SqlRow): readonly SqlValue[] {
  return place.key.map((name) => row[name] ?? null)
}

/** Puts one text in the place of another, unless somebody has changed it since. */
export function replaceText(place: TextPlace, column: string): string {
  const here = place.key.map((name) => `${quoted(name)} = ?`).join(' and ')
  return `update ${quoted(place.table)} set ${quoted(column)} = ? where ${here} and ${quoted(column)} = ?`
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
