/**
 * Functions whose bodies find names by the `search_path` of their caller. A migration has an empty one, as dumps, restores and
 * the replication of the servers have: such a function fails there, though the application never sees it fail.
 */

import type { Clock } from '#kernel/ports.ts'
import { codeOf, type Session } from './connect.ts'
import { ownersQuery } from './functions-of-others.ts'
import { memberOfExtension } from './structure-sql.ts'

/** Rows of a table that an expression is tried with. */
const rowsTried = 100
const triedMax = 500
const millisecondsEach = 2_000
const millisecondsMax = 20_000
const secondsOfStatement = '2s'

/** An expression that is computed where rows, or an index of them, are made at the target. */
interface Expression {
  readonly what: string
  readonly expression: string
  /** Its table, ready for SQL, and the name that stands for the table's rows; null for what a view selects. */
  readonly table: string | null
  readonly row: string | null
}

const ofTable = (expression: string, table: string): string =>
  `${expression} AS expression, ${table}::pg_catalog.regclass::text AS table,
    (SELECT pg_catalog.quote_ident(named.relname) FROM pg_catalog.pg_class named WHERE named.oid = ${table}) AS row`

const computed = (expression: string, rows: string): string =>
  `SELECT pg_catalog.count(x) FROM (SELECT ROW(${expression}) AS x FROM ${rows} LIMIT ${rowsTried}) s`

const depends = (catalog: string, oid: string, part = '0'): string =>
  `EXISTS (SELECT FROM pg_catalog.pg_depend d JOIN own ON own.oid = d.refobjid
    WHERE d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.objsubid = ${part}
      AND d.classid = 'pg_catalog.${catalog}'::pg_catalog.regclass AND d.objid = ${oid})`

const expressionsQuery = `WITH RECURSIVE own AS (
  SELECT p.oid FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_language l ON l.oid = p.prolang
  WHERE p.oid >= 16384 AND l.lanname NOT IN ('internal', 'c') AND NOT ${memberOfExtension('pg_proc', 'p.oid')}
    AND NOT EXISTS (SELECT FROM pg_catalog.unnest(p.proconfig) s WHERE pg_catalog.starts_with(s, 'search_path='))
), views AS (
  SELECT r.ev_class AS oid FROM pg_catalog.pg_rewrite r WHERE ${depends('pg_rewrite', 'r.oid')}
  UNION
  SELECT r.ev_class FROM views JOIN pg_catalog.pg_depend d ON d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
    AND d.refobjid = views.oid AND d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
  JOIN pg_catalog.pg_rewrite r ON r.oid = d.objid
)
SELECT 'the index ' || i.indexrelid::pg_catalog.regclass AS what, ${ofTable('e', 'i.indrelid')}
FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indrelid AND c.relkind IN ('r', 'm'),
  pg_catalog.unnest(ARRAY[pg_catalog.pg_get_expr(i.indexprs, i.indrelid), pg_catalog.pg_get_expr(i.indpred, i.indrelid)]) e
WHERE e IS NOT NULL AND c.relpersistence <> 't' AND ${depends('pg_class', 'i.indexrelid')}
UNION ALL
SELECT 'the constraint ' || pg_catalog.quote_ident(k.conname) || ' of ' || k.conrelid::pg_catalog.regclass,
  ${ofTable('pg_catalog.pg_get_expr(k.conbin, k.conrelid)', 'k.conrelid')}
FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class c ON c.oid = k.conrelid AND c.relkind = 'r'
WHERE k.contype = 'c' AND c.relpersistence <> 't' AND ${depends('pg_constraint', 'k.oid')}
UNION ALL
SELECT 'the domain ' || a.atttypid::pg_catalog.regtype || ', as of a column of ' || c.oid::pg_catalog.regclass,
  ${ofTable("pg_catalog.format('CAST(CAST(%I AS %s) AS %s)', a.attname, pg_catalog.format_type(t.typbasetype, t.typtypmod), a.atttypid::pg_catalog.regtype)", 'c.oid')}
FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_type t ON t.oid = k.contypid
JOIN pg_catalog.pg_attribute a ON a.atttypid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_catalog.pg_class c ON c.oid = a.attrelid AND c.relkind = 'r'
WHERE k.contype = 'c' AND c.relpersistence <> 't' AND ${depends('pg_constraint', 'k.oid')}
UNION ALL
SELECT 'the generated column ' || pg_catalog.quote_ident(a.attname) || ' of ' || c.oid::pg_catalog.regclass,
  ${ofTable('pg_catalog.pg_get_expr(x.adbin, x.adrelid)', 'c.oid')}
FROM pg_catalog.pg_attrdef x JOIN pg_catalog.pg_class c ON c.oid = x.adrelid AND c.relkind = 'r'
JOIN pg_catalog.pg_attribute a ON a.attrelid = x.adrelid AND a.attnum = x.adnum AND a.attgenerated <> ''
WHERE c.relpersistence <> 't' AND (${depends('pg_attrdef', 'x.oid')} OR ${depends('pg_class', 'c.oid', 'a.attnum')})
UNION ALL
SELECT 'the materialized view ' || c.oid::pg_catalog.regclass, pg_catalog.rtrim(pg_catalog.pg_get_viewdef(c.oid), ';'), NULL, NULL
FROM pg_catalog.pg_class c JOIN views ON views.oid = c.oid WHERE c.relkind = 'm' AND c.relispopulated
LIMIT ${triedMax}`

/** Tables whose planning may open a function. */
const indexedQuery = `SELECT DISTINCT i.indrelid::pg_catalog.regclass::text AS name FROM pg_catalog.pg_index i
  JOIN pg_catalog.pg_class c ON c.oid = i.indrelid AND c.relkind = 'r' AND c.relpersistence <> 't'
  WHERE i.indrelid >= 16384 AND (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL) LIMIT ${triedMax}`

/** Names that are not found: of a schema, table, function, and of any other object. */
const notFound: ReadonlySet<string> = new Set(['3F000', '42P01', '42883', '42704'])

/**
 * What is tried runs with the rights of whoever reads. So nothing is tried where a user that lacks these rights may have written
 * some of it.
 */
const ownOnly = `SELECT NOT EXISTS (${ownersQuery} AND r.rolname <> current_user)`

interface Blind {
  /** What would fail at the target, each with the server's words. */
  readonly failing: readonly string[]
  /** What may fail: nothing that other users may have written is run. */
  readonly untried: readonly string[]
}

/**
 * Tried at the source with some of its rows, in a session whose path is empty, without writing. What takes long, or fails
 * for another reason, is passed over.
 */
export async function blindWithoutPath(source: Session, clock: Clock): Promise<Blind> {
  const expressions = await source.rows<Expression>(expressionsQuery)
  if (expressions.length === 0) return { failing: [], untried: [] }
  if ((await source.value(ownOnly)) !== 'true') {
    return { failing: [], untried: [...new Set(expressions.map(({ what }) => what))] }
  }
  const until = clock.now() + millisecondsMax
  const blind = new Map<string, string>()
  for (const one of expressions) {
    if (blind.has(one.what) || clock.now() + millisecondsEach > until) continue
    const missing = await missingFor(source, one)
    if (missing !== undefined) blind.set(one.what, missing)
  }
  return { failing: [...blind].map(([what, message]) => `${what} (${message})`), untried: [] }
}

/**
 * The words of the server where the expression does not find a name. Planning any query of a table opens functions in all of its
 * indexes: it may be another one that does not find a name, such as one of an extension, which the target's version may have mended.
 */
async function missingFor(source: Session, one: Expression): Promise<string | undefined> {
  const { expression, table, row } = one
  if (table === null) {
    const rows = `SELECT * FROM (${expression}) v LIMIT ${rowsTried}`
    const missing = await missingIn(source, `SELECT pg_catalog.count(s) FROM (${rows}) s`)
    if (missing === undefined) return undefined
    for (const { name } of await source.rows<{ name: string }>(indexedQuery)) {
      if ((await missingIn(source, planned(name))) === missing) return undefined
    }
    return missing
  }
  const missing = await missingIn(source, computed(expression, `ONLY ${table}`))
  if (missing === undefined) return undefined
  if ((await missingIn(source, planned(table))) === undefined) return missing
  // Tried with a row that is in no table.
  const apart = `pg_catalog.jsonb_populate_recordset(NULL::${table}, '[{}]') AS ${row}`
  return missingIn(source, computed(expression, apart))
}

const planned = (table: string): string => `SELECT FROM ONLY ${table} LIMIT 0`

async function missingIn(source: Session, query: string): Promise<string | undefined> {
  await source.run(`BEGIN READ ONLY; SET LOCAL statement_timeout = '${secondsOfStatement}'`)
  try {
    await source.run(query)
    return undefined
  } catch (error) {
    const code = codeOf(error)
    if (code === undefined) throw error
    return notFound.has(code) && error instanceof Error ? error.message : undefined
  } finally {
    await source.run('ROLLBACK')
  }
}
