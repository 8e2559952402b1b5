/**
 * All there is to compare of two databases, as text by subject: rows with checksums, sequences, catalogs,
 * large objects, and the database's own properties. For tests; independent of how the engine verifies.
 */

import { openWay } from '#outbound/testing/ways.ts'
import { connect } from '../postgres/connect.ts'
import type { TestServer } from './servers.ts'

export type Fingerprint = Readonly<Record<string, readonly string[]>>

const user = "n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_'"

/** It came with an extension, whose version is the server's own, or with another object (the multirange of a range). */
const ofAnother = (catalog: string, oid: string): string =>
  `EXISTS (SELECT FROM pg_depend d WHERE d.classid = '${catalog}'::regclass AND d.objid = ${oid} AND d.objsubid = 0
    AND d.deptype IN ('e', 'i') AND ('${catalog}' <> 'pg_class' OR d.deptype = 'e'))`
const own = `${user} AND NOT ${ofAnother('pg_class', 'c.oid')}`

/**
 * Each gives one column of text. Written so that versions do not show but for what is excepted: from version 17 on, partitions have
 * the identity columns of their parent.
 */
const subjects: Readonly<Record<string, string>> = {
  tables: `SELECT format('%I.%I %s %s %s rls=%s', n.nspname, c.relname, c.relkind, c.relpersistence,
      c.relreplident, c.relrowsecurity)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f') AND ${own}`,
  columns: `SELECT format('%I.%I.%I %s notnull=%s %s gen=%s id=%s', n.nspname, c.relname, a.attname,
      format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid), a.attgenerated, CASE WHEN NOT c.relispartition THEN a.attidentity END)
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
    WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p', 'v', 'm') AND ${own}`,
  indexes: `SELECT pg_get_indexdef(i.indexrelid) || ' valid=' || i.indisvalid FROM pg_index i
    JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE ${own}`,
  constraints: `SELECT format('%s %I %s valid=%s', k.conrelid::regclass, k.conname, pg_get_constraintdef(k.oid), k.convalidated)
    FROM pg_constraint k JOIN pg_namespace n ON n.oid = k.connamespace WHERE k.contype <> 'n' AND ${user}
    AND NOT ${ofAnother('pg_class', 'k.conrelid')} AND NOT ${ofAnother('pg_type', 'k.contypid')}
    AND NOT (k.contype = 'f' AND k.conparentid <> 0)`,
  views: `SELECT format('%I %s', c.relname, pg_get_viewdef(c.oid)) FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('v', 'm') AND ${own}`,
  populated: `SELECT format('%I %s', c.relname, c.relispopulated) FROM pg_class c WHERE c.relkind = 'm'`,
  triggers: `SELECT pg_get_triggerdef(t.oid) || t.tgenabled::text FROM pg_trigger t
    WHERE NOT t.tgisinternal AND coalesce(to_jsonb(t) ->> 'tgparentid', '0') = '0'`,
  rules: `SELECT pg_get_ruledef(r.oid) FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
    JOIN pg_namespace n ON n.oid = c.relnamespace WHERE r.rulename <> '_RETURN' AND ${own}`,
  policies: `SELECT format('%s %s %s %s', polname, polrelid::regclass, ARRAY(SELECT r::regrole::text FROM unnest(polroles) r ORDER BY 1), pg_get_expr(polqual, polrelid)) FROM pg_policy`,
  functions: `SELECT pg_get_functiondef(p.oid) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
    WHERE ${user} AND p.prokind <> 'a' AND NOT ${ofAnother('pg_proc', 'p.oid')}`,
  aggregates: `SELECT format('%s %s %s', g.aggfnoid::regprocedure, g.aggtransfn, g.aggtranstype::regtype) FROM pg_aggregate g
    WHERE g.aggfnoid >= 16384 AND NOT ${ofAnother('pg_proc', 'g.aggfnoid')}`,
  extensions: `SELECT extname::text FROM pg_extension`,
  owners: `SELECT format('%I.%I %s', n.nspname, c.relname, pg_get_userbyid(c.relowner)) FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace WHERE ${own} AND c.relkind IN ('r', 'p', 'v', 'm', 'S')`,
  grants: `SELECT format('%I.%I %s to %s by %s %s', n.nspname, c.relname, a.privilege_type, a.grantee, a.grantor, a.is_grantable)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace,
    LATERAL (SELECT privilege_type, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(grantee)::text END AS grantee,
      pg_get_userbyid(grantor) AS grantor, is_grantable
        FROM aclexplode(coalesce(c.relacl, acldefault(CASE c.relkind WHEN 'S' THEN 's' ELSE 'r' END::"char", c.relowner)))) a
    WHERE ${own} AND a.privilege_type <> 'MAINTAIN' AND c.relkind IN ('r', 'p', 'v', 'm', 'S')`,
  columnGrants: `SELECT format('%s.%I %s', a.attrelid::regclass, a.attname, a.attacl) FROM pg_attribute a
    JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE a.attacl IS NOT NULL AND ${own}`,
  defaults: `SELECT format('%s %s %s %s', pg_get_userbyid(d.defaclrole), d.defaclobjtype, d.defaclnamespace::regnamespace, ARRAY(
      SELECT format('%s %s %s', CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(a.grantee)::text END, a.privilege_type, a.is_grantable)
      FROM aclexplode(d.defaclacl) a WHERE a.privilege_type <> 'MAINTAIN' ORDER BY 1)) FROM pg_default_acl d`,
  enums: `SELECT enumtypid::regtype || ' ' || enumlabel FROM pg_enum`,
  comments: `SELECT format('%s %s %s', objoid::regclass, objsubid, description) FROM pg_description
    WHERE classoid = 'pg_class'::regclass AND objoid >= 16384 AND NOT ${ofAnother('pg_class', 'objoid')}`,
  statistics: `SELECT pg_get_statisticsobjdef(oid) FROM pg_statistic_ext`,
  eventTriggers: `SELECT evtname || ' ' || evtevent FROM pg_event_trigger`,
  largeObjects: `SELECT format('%s %s %s %s %s', m.oid, pg_get_userbyid(m.lomowner), m.lomacl, md5(lo_get(m.oid)), obj_description(m.oid, 'pg_largeobject'))
    FROM pg_largeobject_metadata m`,
  database: `SELECT format('%s %s %s %s %s %s', pg_get_userbyid(datdba), pg_encoding_to_char(encoding), datcollate,
      datctype, datconnlimit, shobj_description(oid, 'pg_database')) FROM pg_database WHERE datname = current_database()`,
  databaseGrants: `SELECT format('%s %s', a.privilege_type, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(a.grantee)::text END)
    FROM pg_database d, aclexplode(d.datacl) a WHERE d.datname = current_database()`,
  settings: `SELECT format('%s %s', CASE setrole WHEN 0 THEN '' ELSE pg_get_userbyid(setrole)::text END, c)
    FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase, unnest(setconfig) c
    WHERE d.datname = current_database()`,
  subscriptions: `SELECT subname::text FROM pg_subscription`,
  publications: `SELECT pubname::text FROM pg_publication`,
}

/** A server quotes what is a keyword of its version. */
const unquoted = (text: string): string => text.replaceAll(/"([a-z_][a-z0-9_]*)"/g, '$1')

/** Columns in the order of their names: a dump gives those of an heir another order. */
const checksum = (columns: string): string =>
  `coalesce(sum(hashtextextended(ROW(${columns})::text, 0)::numeric), 0)::text`

export async function fingerprint(server: TestServer, database: string): Promise<Fingerprint> {
  await using session = await connect(
    { address: server.address, password: server.password, outbound: openWay },
    { database, applicationName: 'fingerprint' },
  )
  const found: Record<string, readonly string[]> = {}
  for (const [subject, query] of Object.entries(subjects)) {
    const rows = await session.rows<Record<string, string | null>>(query)
    found[subject] = rows.map((row) => unquoted(String(Object.values(row)[0]))).sort()
  }
  const relations = await session.rows<{ name: string; columns: string }>(
    `SELECT format('%I.%I', n.nspname, c.relname) AS name, coalesce((
       SELECT string_agg(format('t.%I', a.attname), ', ' ORDER BY a.attname) FROM pg_attribute a
       WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped), '') AS columns
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE (c.relkind = 'r' OR (c.relkind = 'm' AND c.relispopulated)) AND ${user} ORDER BY 1`,
  )
  const rows: string[] = []
  for (const { name, columns } of relations) {
    const [row] = await session.rows<{ n: string; sum: string }>(
      `SELECT count(*)::text AS n, ${checksum(columns)} AS sum FROM ONLY ${name} t`,
    )
    rows.push(`${unquoted(name)} ${row?.n} ${row?.sum}`)
  }
  found['rows'] = rows.sort()
  const sequences = await session.rows<{ name: string }>(
    `SELECT format('%I.%I', n.nspname, c.relname) AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind = 'S' AND ${user} ORDER BY 1`,
  )
  const states: string[] = []
  for (const { name } of sequences) {
    const [row] = await session.rows<{ state: string }>(
      `SELECT last_value || ' ' || is_called AS state FROM ${name}`,
    )
    states.push(`${unquoted(name)} ${row?.state}`)
  }
  found['sequences'] = states.sort()
  return found
}
