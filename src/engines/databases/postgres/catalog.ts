/** Reads what a source database holds, in one snapshot: tables in the order they are copied, and sequences. */

import { quoteName, quoteText, type Session } from './connect.ts'
import { hasRowKey, isPlannedBlind, isReplicated } from './structure-sql.ts'

export interface SourceTable {
  readonly oid: number
  readonly schema: string
  readonly table: string
  /** Quoted, ready for SQL. */
  readonly name: string
  /** The size with TOAST and without indexes. */
  readonly bytes: number
  readonly pages: number
  readonly unlogged: boolean
  /** Otherwise its rows are compared at the cutover, and copied again if they differ. */
  readonly replicated: boolean
  /** Quoted, without generated columns. */
  readonly columns: readonly string[]
  /** Quoted, with generated columns. The columns' positions may differ from server to server. */
  readonly columnsByName: readonly string[]
  /** All types have a binary form that means the same on another server. */
  readonly binarySafe: boolean
  /** A query of it runs no function that was written at the source. Otherwise it is read whole, by a COPY without a query. */
  readonly queried: boolean
  /** For an extension's own table: the condition for the user's rows, which the extension declares. */
  readonly condition: string | undefined
  /** No key identifies its rows for logical replication; a deferrable key does not count. */
  readonly identityMissing: boolean
  readonly hasKey: boolean
  /** `d`, `n`, `f` or `i`. */
  readonly identity: string
  /** Changes with a TRUNCATE, a rewrite, or an ALTER of columns. */
  readonly version: string
}

interface TableRow {
  readonly oid: string
  readonly schema: string
  readonly table: string
  readonly bytes: string
  readonly pages: string
  readonly persistence: string
  readonly identity: string
  readonly has_key: boolean
  readonly replicated: boolean
  readonly columns: readonly string[] | null
  readonly by_name: readonly string[] | null
  readonly safe: boolean | null
  readonly condition: string | null
  readonly queried: boolean
  readonly version: string
}

/**
 * A snapshot's rows can be read while this stays the same. Read from the catalogs' rows, so that in a snapshot it
 * is the snapshot's own value.
 */
const version = `c.relfilenode || ' ' || c.relname || ' ' || c.relnamespace || ' ' || coalesce((
    SELECT pg_catalog.md5(pg_catalog.string_agg(
      pg_catalog.concat_ws(' ', v.attnum, v.attname, v.atttypid, v.atttypmod, v.attisdropped, v.attgenerated), ',' ORDER BY v.attnum))
    FROM pg_catalog.pg_attribute v WHERE v.attrelid = c.oid AND v.attnum > 0), '')`

/**
 * Binary forms are taken for built-in base types and ranges that can be sent, and for enums (sent as text).
 * Not for `reg*` types, whose binary form is a number of this server, nor composites, which carry such
 * numbers inside (facts A.2).
 */
const tablesQuery = `
WITH RECURSIVE base (type, at) AS (
  SELECT oid, oid FROM pg_catalog.pg_type
  UNION ALL
  SELECT base.type, t.typbasetype FROM base JOIN pg_catalog.pg_type t ON t.oid = base.at
  WHERE t.typtype = 'd'
), safe AS (
  SELECT base.type,
    (t.typtype = 'e' OR (t.oid < 10000 AND t.typtype IN ('b', 'r', 'm')
      AND t.typsend <> 0 AND t.typreceive <> 0
      AND t.typname !~ '^_?(reg|aclitem|xid|cid|tid)')) AS ok
  FROM base JOIN pg_catalog.pg_type t ON t.oid = base.at WHERE t.typtype <> 'd'
)
SELECT c.oid, n.nspname AS schema, c.relname AS table,
  pg_catalog.pg_table_size(c.oid) AS bytes,
  pg_catalog.pg_relation_size(c.oid) / pg_catalog.current_setting('block_size')::int AS pages,
  c.relpersistence AS persistence, c.relreplident AS identity,
  ${hasRowKey} AS has_key, ${isReplicated} AS replicated,
  a.columns, a.by_name, a.safe,
  x.condition, ${isPlannedBlind} AS queried, ${version} AS version
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_class'::regclass
  AND d.objid = c.oid AND d.deptype = 'e'
LEFT JOIN LATERAL (
  SELECT e.extcondition[pg_catalog.array_position(e.extconfig, c.oid)] AS condition
  FROM pg_catalog.pg_extension e WHERE e.oid = d.refobjid AND c.oid = ANY (e.extconfig)) x ON true
LEFT JOIN (
  SELECT a.attrelid, pg_catalog.array_agg(a.attname::text ORDER BY a.attnum)
      FILTER (WHERE a.attgenerated = '') AS columns,
    pg_catalog.array_agg(a.attname::text ORDER BY a.attname::text COLLATE "C") AS by_name,
    pg_catalog.bool_and(s.ok) FILTER (WHERE a.attgenerated = '') AS safe
  FROM pg_catalog.pg_attribute a JOIN safe s ON s.type = a.atttypid
  WHERE a.attrelid >= 16384 AND a.attnum > 0 AND NOT a.attisdropped GROUP BY 1) a ON a.attrelid = c.oid
WHERE c.relkind = 'r' AND c.relpersistence IN ('p', 'u')
  AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'
  AND (d.objid IS NULL OR x.condition IS NOT NULL)
ORDER BY bytes DESC, n.nspname, c.relname`

/** Every table whose rows are copied: partitions one by one, the largest first. */
export async function readTables(session: Session): Promise<readonly SourceTable[]> {
  const rows = await session.rows<TableRow>(tablesQuery)
  return rows.map((row) => ({
    oid: Number(row.oid),
    schema: row.schema,
    table: row.table,
    name: `${quoteName(row.schema)}.${quoteName(row.table)}`,
    bytes: Number(row.bytes),
    pages: Number(row.pages),
    unlogged: row.persistence === 'u',
    replicated: row.replicated,
    columns: (row.columns ?? []).map(quoteName),
    columnsByName: (row.by_name ?? []).map(quoteName),
    binarySafe: row.safe === true,
    queried: row.queried,
    condition: row.condition === null || row.condition === '' ? undefined : row.condition,
    identityMissing: row.identity === 'n' || (row.identity !== 'f' && !row.has_key),
    hasKey: row.has_key,
    identity: row.identity,
    version: row.version,
  }))
}

/** Tables whose rows as of the reading of `tables` cannot be read any more, or not with certainty. */
export async function alteredTables(
  session: Session,
  tables: readonly SourceTable[],
): Promise<readonly SourceTable[]> {
  const rows = await session.rows<{ oid: string; version: string }>(
    `SELECT c.oid, ${version} AS version FROM pg_catalog.pg_class c WHERE c.oid = ANY ($1::pg_catalog.oid[])`,
    [tables.map(({ oid }) => oid)],
  )
  const now = new Map(rows.map((row) => [Number(row.oid), row.version]))
  return tables.filter((table) => now.get(table.oid) !== table.version)
}

/** The tables that still exist, by their current names; quoted. */
export async function currentNames(
  session: Session,
  tables: readonly SourceTable[],
): Promise<readonly string[]> {
  const rows = await session.rows<{ schema: string; name: string }>(
    `SELECT n.nspname AS schema, c.relname AS name FROM pg_catalog.pg_class c
     JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind = 'r' AND (c.oid = ANY ($1::pg_catalog.oid[]) OR pg_catalog.format('%s.%s', n.nspname, c.relname) = ANY ($2))`,
    [tables.map(({ oid }) => oid), tables.map(({ schema, table }) => `${schema}.${table}`)],
  )
  return rows.map(({ schema, name }) => `${quoteName(schema)}.${quoteName(name)}`)
}

/** The tables whose shape has not changed. */
export async function unalteredShape(
  session: Session,
  tables: readonly SourceTable[],
): Promise<readonly SourceTable[]> {
  if (tables.length === 0) return []
  const now = new Map((await readTables(session)).map((table) => [table.oid, table.version]))
  const shape = (version: string | undefined): string | undefined => version?.replace(/^\d+ /, '')
  return tables.filter(({ oid, version: before }) => shape(now.get(oid)) === shape(before))
}

interface SequenceName {
  readonly schema: string
  readonly sequence: string
}

/** Without sequences of extensions. */
const sequencesQuery = `
SELECT n.nspname AS schema, c.relname AS sequence
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'S' AND c.relpersistence IN ('p', 'u') AND n.nspname !~ '^pg_'
  AND n.nspname <> 'information_schema'
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d
    WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
ORDER BY 1, 2`

const sequencesAtOnce = 200

/**
 * Sets every sequence of the target to the source's value. Sequences belong to no transaction or snapshot, so read
 * them when writers have stopped, or last.
 */
export async function copySequences(source: Session, target: Session): Promise<void> {
  const names = await source.rows<SequenceName>(sequencesQuery)
  for (let at = 0; at < names.length; at += sequencesAtOnce) {
    const some = names.slice(at, at + sequencesAtOnce)
    const reads = some.map(
      ({ schema, sequence }, index) =>
        `SELECT ${index} AS i, last_value, is_called FROM ${quoteName(schema)}.${quoteName(sequence)}`,
    )
    const states = await source.rows<{ i: number; last_value: string; is_called: boolean }>(
      reads.join(' UNION ALL '),
    )
    const statements = states.flatMap(({ i, last_value, is_called }) => {
      const name = some[i]
      if (name === undefined) return []
      const relation = quoteText(`${quoteName(name.schema)}.${quoteName(name.sequence)}`)
      return [`SELECT pg_catalog.setval(${relation}, ${last_value}, ${is_called})`]
    })
    if (statements.length > 0) await target.run(statements.join(';'))
  }
}
