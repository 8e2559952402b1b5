/**
 * Rows that stand in another's place since the copy was made: of a column that was dropped and made again, of two that changed
 * their names, of one that was computed anew. Replication sends none of them, and the structure reads as before. Known by the
 * numbers that the source's catalogs give to tables, files and columns, so nothing is put into somebody's database for it.
 */

import type { Session } from './connect.ts'
import { nameInWords, nameOfTable } from './structure-difference.ts'
import { ofUser } from './structure-sql.ts'

interface TableRows {
  readonly path: readonly string[]
  readonly oid: string
  /** Changes with a rewrite, and with a TRUNCATE, which is sent. */
  readonly file: string
  /** By name: its place, its type, and the number of the transaction that last altered it. */
  readonly columns: Readonly<
    Record<string, readonly [place: number, type: string, altered: string]>
  >
}

/** By `nameOfTable`. */
export type RowsOfTables = Readonly<Record<string, TableRows>>

const rowsQuery = `
SELECT ARRAY[n.nspname::text, c.relname::text] AS path, c.oid::text AS oid, c.relfilenode::text AS file,
  coalesce((SELECT pg_catalog.jsonb_object_agg(a.attname, pg_catalog.jsonb_build_array(a.attnum, pg_catalog.format_type(a.atttypid, a.atttypmod), a.xmin::text))
    FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped), '{}') AS columns
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'r' AND c.relpersistence = 'p' AND ${ofUser('pg_class', 'c.oid')}
  AND ($1::text IS NULL OR EXISTS (SELECT FROM pg_catalog.pg_publication_rel r
    JOIN pg_catalog.pg_publication p ON p.oid = r.prpubid WHERE p.pubname = $1 AND r.prrelid = c.oid))`

/** Of all tables, or of those that a publication sends. */
export async function readRows(session: Session, publication?: string): Promise<RowsOfTables> {
  const rows = await session.rows<TableRows>(rowsQuery, [publication ?? null])
  return Object.fromEntries(rows.map((row) => [nameOfTable(row.path), row]))
}

/**
 * Why the rows of each such table are others than those that were copied, in words, by `nameOfTable`. What the structure shows by
 * itself, another type or another column, is not said again: it may have been altered alike at both ends.
 */
export function replacedRows(before: RowsOfTables, now: RowsOfTables): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const [name, table] of Object.entries(now)) {
    const copied = before[name]
    const why = copied === undefined ? undefined : whyReplaced(copied, table)
    if (why !== undefined) found.set(name, `the table ${nameInWords(table.path)} ${why}`)
  }
  return found
}

function whyReplaced(copied: TableRows, now: TableRows): string | undefined {
  if (copied.oid !== now.oid) return 'is another one than was copied'
  const alike = Object.entries(now.columns).flatMap(([column, [place, type, altered]]) => {
    const was = copied.columns[column]
    if (was === undefined || was[1] !== type) return []
    return [{ column, isMoved: was[0] !== place, isAltered: was[2] !== altered }]
  })
  const moved = alike.filter(({ isMoved }) => isMoved).map(({ column }) => nameInWords([column]))
  if (moved.length > 0) {
    return `has under the ${moved.length === 1 ? 'name' : 'names'} ${moved.join(', ')} other columns than were copied`
  }
  return copied.file !== now.file && alike.some(({ isAltered }) => isAltered)
    ? 'was written anew by an ALTER TABLE, and its rows do not come over'
    : undefined
}
