/**
 * What users of a source who are no superusers define, and would run with the rights of the target's user there. Where that is a
 * superuser, such users would have its rights.
 */

import type { Session } from './connect.ts'

const functionsQuery = `SELECT DISTINCT p.oid::pg_catalog.regprocedure::text || ' of ' || r.rolname || ' in the '
    || pg_catalog.pg_describe_object(d.classid, d.objid, d.objsubid) AS what
  FROM pg_catalog.pg_depend d
  LEFT JOIN pg_catalog.pg_operator o ON o.oid = d.refobjid AND d.refclassid = 'pg_catalog.pg_operator'::pg_catalog.regclass
  JOIN pg_catalog.pg_proc p ON p.oid = coalesce(o.oprcode::pg_catalog.oid, d.refobjid) AND p.oid >= 16384
  JOIN pg_catalog.pg_roles r ON r.oid = p.proowner AND NOT r.rolsuper
  LEFT JOIN pg_catalog.pg_class c ON c.oid = d.objid AND d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass
  LEFT JOIN pg_catalog.pg_constraint k ON CASE d.classid WHEN 'pg_catalog.pg_constraint'::pg_catalog.regclass THEN k.oid = d.objid
    WHEN 'pg_catalog.pg_class'::pg_catalog.regclass THEN k.conindid = d.objid AND k.contype IN ('p', 'u', 'x') END
  WHERE d.refclassid IN ('pg_catalog.pg_proc'::pg_catalog.regclass, 'pg_catalog.pg_operator'::pg_catalog.regclass)
    AND (k.oid IS NOT NULL OR c.oid IS NOT NULL
      OR EXISTS (SELECT FROM pg_catalog.pg_attrdef x JOIN pg_catalog.pg_attribute a ON a.attrelid = x.adrelid AND a.attnum = x.adnum
        WHERE d.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass AND x.oid = d.objid AND a.attgenerated <> '')
      OR EXISTS (SELECT FROM pg_catalog.pg_trigger f WHERE d.classid = 'pg_catalog.pg_trigger'::pg_catalog.regclass
        AND f.oid = d.objid AND f.tgenabled IN ('A', 'R')))
  ORDER BY 1`

async function isSuperuser(target: Session): Promise<boolean> {
  const query = 'SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = current_user AND rolsuper'
  return (await target.value(query)) !== undefined
}

/**
 * Functions in checks, generated columns, indexes, and triggers that always fire: whatever writes rows runs them, a restore as well
 * as replication. None where the target's user is no superuser.
 */
export async function functionsOfOthers(
  source: Session,
  target: Session,
): Promise<readonly string[]> {
  if (!(await isSuperuser(target))) return []
  const rows = await source.rows<{ what: string }>(functionsQuery)
  return rows.map(({ what }) => what)
}

/**
 * Roles `r` that are no superusers and may have written something that is computed: functions, views, or the expressions of tables
 * and domains. A table or view has a type of its own. Built-in functions do harm too, so an expression of any of these is enough.
 */
export const ownersQuery = `SELECT r.rolname AS name FROM pg_catalog.pg_roles r WHERE NOT r.rolsuper AND (
    EXISTS (SELECT FROM pg_catalog.pg_proc p WHERE p.proowner = r.oid AND p.oid >= 16384)
    OR EXISTS (SELECT FROM pg_catalog.pg_type t WHERE t.typowner = r.oid AND t.oid >= 16384))`

/**
 * Users who own functions, tables or types of the source: what these define is computed where the structure is made, also
 * without rows (bounds of partitions, constants in expressions). None where the target's user is no superuser.
 */
export async function ownersWithoutRights(
  source: Session,
  target: Session,
): Promise<readonly string[]> {
  if (!(await isSuperuser(target))) return []
  const rows = await source.rows<{ name: string }>(`${ownersQuery} ORDER BY 1`)
  return rows.map(({ name }) => name)
}
