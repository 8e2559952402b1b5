/**
 * Functions of a source that belong to no superuser, and run with the rights of the target's user there: in checks, generated
 * columns, indexes, and triggers that always fire. Whatever writes rows runs them, a restore as well as replication; and where an
 * index or a check is made, calls with constants are computed, without any row.
 */

import type { Session } from './connect.ts'
import { entryOf } from './schema.ts'

interface FunctionOfOthers {
  readonly what: string
  /** How the entry begins in the list of a dump that would run it without rows; null for others. */
  readonly entry: string | null
}

const query = `SELECT DISTINCT p.oid::pg_catalog.regprocedure::text || ' of ' || r.rolname || ' in the '
    || pg_catalog.pg_describe_object(d.classid, d.objid, d.objsubid) AS what,
  CASE WHEN k.contype = 'c' THEN 'CHECK CONSTRAINT '
    WHEN k.oid IS NOT NULL THEN 'CONSTRAINT ' WHEN c.relkind IN ('i', 'I') THEN 'INDEX ' END || n.nspname || ' '
    || CASE WHEN k.oid IS NULL THEN c.relname ELSE coalesce(h.relname, t.typname) || ' ' || k.conname END || ' ' AS entry
  FROM pg_catalog.pg_depend d
  LEFT JOIN pg_catalog.pg_operator o ON o.oid = d.refobjid AND d.refclassid = 'pg_catalog.pg_operator'::pg_catalog.regclass
  JOIN pg_catalog.pg_proc p ON p.oid = coalesce(o.oprcode::pg_catalog.oid, d.refobjid) AND p.oid >= 16384
  JOIN pg_catalog.pg_roles r ON r.oid = p.proowner AND NOT r.rolsuper
  LEFT JOIN pg_catalog.pg_class c ON c.oid = d.objid AND d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass
  LEFT JOIN pg_catalog.pg_constraint k ON CASE d.classid WHEN 'pg_catalog.pg_constraint'::pg_catalog.regclass THEN k.oid = d.objid
    WHEN 'pg_catalog.pg_class'::pg_catalog.regclass THEN k.conindid = d.objid AND k.contype IN ('p', 'u', 'x') END
  LEFT JOIN pg_catalog.pg_class h ON h.oid = k.conrelid LEFT JOIN pg_catalog.pg_type t ON t.oid = k.contypid
  LEFT JOIN pg_catalog.pg_namespace n ON n.oid = coalesce(k.connamespace, c.relnamespace)
  WHERE d.refclassid IN ('pg_catalog.pg_proc'::pg_catalog.regclass, 'pg_catalog.pg_operator'::pg_catalog.regclass)
    AND (k.oid IS NOT NULL OR c.oid IS NOT NULL
      OR EXISTS (SELECT FROM pg_catalog.pg_attrdef x JOIN pg_catalog.pg_attribute a ON a.attrelid = x.adrelid AND a.attnum = x.adnum
        WHERE d.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass AND x.oid = d.objid AND a.attgenerated <> '')
      OR EXISTS (SELECT FROM pg_catalog.pg_trigger f WHERE d.classid = 'pg_catalog.pg_trigger'::pg_catalog.regclass
        AND f.oid = d.objid AND f.tgenabled IN ('A', 'R')))
  ORDER BY 1`

/** None where the target's user is no superuser. */
export async function functionsOfOthers(
  source: Session,
  target: Session,
): Promise<readonly FunctionOfOthers[]> {
  const isSuper = await target.value(
    'SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = current_user AND rolsuper',
  )
  return isSuper === undefined ? [] : source.rows<FunctionOfOthers>(query)
}

/** The loop goes on in between: a source may have very many of both. */
const linesAtOnce = 500

/** Those lines of a dump's list that would run one of the functions without rows. */
export async function linesThatRun(
  lines: readonly string[],
  functions: readonly FunctionOfOthers[],
): Promise<ReadonlySet<string>> {
  const entries = new Set(functions.map(({ entry }) => entry).filter((entry) => entry !== null))
  const longest = [...entries].reduce((most, { length }) => Math.max(most, length), 0)
  const found = new Set<string>()
  if (entries.size === 0) return found
  for (const [at, line] of lines.entries()) {
    if (at % linesAtOnce === 0) await new Promise((done) => setImmediate(done))
    // A line may be much longer: it names all arguments of a function.
    const text = entryOf(line).slice(0, longest)
    // Names may hold blanks, so an entry may end at any of them.
    for (let end = text.indexOf(' '); end >= 0; end = text.indexOf(' ', end + 1)) {
      if (entries.has(text.slice(0, end + 1))) found.add(line)
    }
  }
  return found
}
