/**
 * The SQL that reads the structure of a database: one row for every object that a schema dump carries, with its facts as
 * text. What a server prints itself has to be read with `quote_all_identifiers` on.
 */

import { tableOfExtension } from './structure-difference.ts'
import { inSchemas, ofDatabase } from './structure-queries-rare.ts'
import {
  comment,
  enabled,
  type Facts,
  foreignOptions,
  isReplicated,
  list,
  madeBySystem,
  memberOfExtension,
  nameOfCollation,
  namespace,
  type Objects,
  ofUser,
  ownerOf,
  privileges,
  select,
} from './structure-sql.ts'

const schemas: Objects = {
  kind: `'schema'`,
  path: ['n.nspname'],
  facts: {
    owner: ownerOf('n.nspowner'),
    privileges: privileges('n.nspacl', 'n', 'n.nspowner'),
    comment: comment('pg_namespace', 'n.oid'),
  },
  from: `FROM pg_catalog.pg_namespace n WHERE ${ofUser('pg_namespace', 'n.oid')}`,
}

const relations: Objects = {
  kind: `CASE c.relkind WHEN 'r' THEN 'table' WHEN 'p' THEN 'partitioned table' WHEN 'v' THEN 'view'
    WHEN 'm' THEN 'materialized view' WHEN 'f' THEN 'foreign table' ELSE 'type' END`,
  path: ['n.nspname', 'c.relname'],
  facts: {
    owner: ownerOf('c.relowner'),
    privileges: `CASE c.relkind WHEN 'c' THEN ${privileges('t.typacl', 'T', 'c.relowner')}
      ELSE ${privileges('c.relacl', 'r', 'c.relowner')} END`,
    comment: `coalesce(${comment('pg_class', 'c.oid')}, ${comment('pg_type', 't.oid')})`,
    persistence: `CASE c.relpersistence WHEN 'u' THEN 'unlogged' END`,
    options: list('c.reloptions'),
    'options of its TOAST table': `SELECT ${list('toast.reloptions')} FROM pg_catalog.pg_class toast WHERE toast.oid = c.reltoastrelid`,
    'row security': `CASE WHEN c.relrowsecurity THEN 'on' END`,
    'row security for its owner': `CASE WHEN c.relforcerowsecurity THEN 'on' END`,
    'replica identity': `CASE c.relreplident WHEN 'f' THEN 'full' WHEN 'n' THEN 'nothing' END`,
    'partition bound': 'pg_catalog.pg_get_expr(c.relpartbound, c.oid)',
    'partition key': `CASE c.relkind WHEN 'p' THEN pg_catalog.pg_get_partkeydef(c.oid) END`,
    parents: `SELECT pg_catalog.string_agg(i.inhparent::pg_catalog.regclass::text, ', ' ORDER BY i.inhseqno)
      FROM pg_catalog.pg_inherits i WHERE i.inhrelid = c.oid`,
    definition: `CASE WHEN c.relkind IN ('v', 'm') THEN pg_catalog.pg_get_viewdef(c.oid) END`,
    'access method': `SELECT m.amname FROM pg_catalog.pg_am m WHERE m.oid = c.relam AND m.amname <> 'heap'`,
    'typed as': `CASE WHEN c.reloftype <> 0 THEN c.reloftype::pg_catalog.regtype::text END`,
    server: `SELECT s.srvname FROM pg_catalog.pg_foreign_table f JOIN pg_catalog.pg_foreign_server s ON s.oid = f.ftserver
      WHERE f.ftrelid = c.oid`,
    'foreign options': `SELECT ${foreignOptions('f.ftoptions')} FROM pg_catalog.pg_foreign_table f WHERE f.ftrelid = c.oid`,
  },
  from: `FROM pg_catalog.pg_class c ${namespace('c.relnamespace')}
  LEFT JOIN pg_catalog.pg_type t ON t.oid = c.reltype
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'c') AND c.relpersistence <> 't' AND ${ofUser('pg_class', 'c.oid')}`,
}

const typeOfColumn = 'pg_catalog.format_type(a.atttypid, a.atttypmod)'
const collationOfColumn = `CASE WHEN a.attcollation <> 0 AND a.attcollation <> y.typcollation
      THEN ${nameOfCollation('a.attcollation')} END`

const columns = (major: number): Objects => ({
  kind: `'column'`,
  path: ['n.nspname', 'c.relname', 'a.attname'],
  facts: {
    type: `CASE WHEN c.relkind NOT IN ('v', 'm') THEN ${typeOfColumn} END`,
    // What a view selects decides, and a newer server may decide otherwise.
    'computed type': `CASE WHEN c.relkind IN ('v', 'm') THEN pg_catalog.concat_ws(' ', ${typeOfColumn}, ${collationOfColumn}) END`,
    'not null':
      major >= 18
        ? `CASE WHEN a.attnotnull THEN 'yes' || coalesce((SELECT CASE WHEN k.convalidated THEN '' ELSE ', not valid' END
            || CASE WHEN k.connoinherit THEN ', not inherited' ELSE '' END FROM pg_catalog.pg_constraint k
          WHERE k.conrelid = c.oid AND k.contype = 'n' AND k.conkey[1] = a.attnum), '') END`
        : `CASE WHEN a.attnotnull THEN 'yes' END`,
    default: `CASE a.attgenerated WHEN '' THEN pg_catalog.pg_get_expr(x.adbin, x.adrelid) END`,
    'generated as': `CASE WHEN a.attgenerated <> '' THEN pg_catalog.pg_get_expr(x.adbin, x.adrelid)
      || CASE a.attgenerated WHEN 'v' THEN ' virtual' ELSE ' stored' END END`,
    // From version 17 on, partitions have that of their parent.
    identity: `CASE WHEN ${major >= 17 ? 'c.relispartition' : 'false'} THEN NULL
      WHEN a.attidentity = 'a' THEN 'always' WHEN a.attidentity = 'd' THEN 'by default' END`,
    collation: `CASE WHEN c.relkind NOT IN ('v', 'm') THEN ${collationOfColumn} END`,
    storage: `CASE WHEN a.attstorage <> y.typstorage THEN
      CASE a.attstorage WHEN 'p' THEN 'plain' WHEN 'e' THEN 'external' WHEN 'm' THEN 'main' ELSE 'extended' END END`,
    ...(major >= 14
      ? { compression: `CASE a.attcompression WHEN 'p' THEN 'pglz' WHEN 'l' THEN 'lz4' END` }
      : {}),
    'statistics target': 'nullif(a.attstattarget, -1)',
    options: list('a.attoptions'),
    'foreign options': foreignOptions('a.attfdwoptions'),
    privileges: privileges('a.attacl'),
    comment: 'pg_catalog.col_description(c.oid, a.attnum)',
  },
  from: `FROM pg_catalog.pg_class c ${namespace('c.relnamespace')}
  JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  JOIN pg_catalog.pg_type y ON y.oid = a.atttypid
  LEFT JOIN pg_catalog.pg_attrdef x ON x.adrelid = c.oid AND x.adnum = a.attnum
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'c') AND c.relpersistence <> 't' AND ${ofUser('pg_class', 'c.oid')}`,
})

const usedBy = (index: string): Facts => ({
  'replica identity': `SELECT 'by this index' FROM pg_catalog.pg_index u WHERE u.indexrelid = ${index} AND u.indisreplident`,
  clustered: `SELECT 'by this index' FROM pg_catalog.pg_index u WHERE u.indexrelid = ${index} AND u.indisclustered`,
  valid: `SELECT 'no' FROM pg_catalog.pg_index u WHERE u.indexrelid = ${index} AND NOT u.indisvalid`,
})

/** Only their extension brings them: what was added to one by hand is in no dump. */
const tablesOfExtensions: Objects = {
  kind: `'${tableOfExtension}'`,
  path: ['n.nspname', 'c.relname'],
  facts: { extension: 'e.extname' },
  from: `FROM pg_catalog.pg_class c ${namespace('c.relnamespace')}
  JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objid = c.oid AND d.deptype = 'e'
  JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid WHERE c.relkind IN ('r', 'p') AND c.relpersistence <> 't'`,
}

/** NOT NULL stands with its column: only newer versions give it a name. Those that a partition has from its parent go with it. */
const constraints: Objects = {
  kind: `'constraint'`,
  path: ['n.nspname', 'coalesce(c.relname, t.typname)', 'k.conname'],
  facts: {
    definition: 'pg_catalog.pg_get_constraintdef(k.oid)',
    comment: comment('pg_constraint', 'k.oid'),
    ...usedBy('k.conindid'),
  },
  from: `FROM pg_catalog.pg_constraint k ${namespace('k.connamespace')}
  LEFT JOIN pg_catalog.pg_class c ON c.oid = k.conrelid AND k.conrelid <> 0
  LEFT JOIN pg_catalog.pg_type t ON t.oid = k.contypid AND k.contypid <> 0
  WHERE k.contype IN ('c', 'f', 'p', 'u', 'x') AND NOT (k.contype = 'f' AND k.conparentid <> 0)
    AND coalesce(c.relpersistence, 'p') <> 't' AND ${ofUser('pg_constraint', 'k.oid')}
    AND NOT ${memberOfExtension('pg_class', 'k.conrelid')} AND NOT ${memberOfExtension('pg_type', 'k.contypid')}`,
}

/** Without those behind constraints, and without builds that were broken off or go on: no dump carries them. */
const indexes: Objects = {
  kind: `'index'`,
  path: ['n.nspname', 't.relname', 'c.relname'],
  facts: {
    definition: 'pg_catalog.pg_get_indexdef(c.oid)',
    comment: comment('pg_class', 'c.oid'),
    parents: `SELECT pg_catalog.string_agg(h.inhparent::pg_catalog.regclass::text, ', ') FROM pg_catalog.pg_inherits h
      WHERE h.inhrelid = c.oid`,
    'statistics targets': `SELECT pg_catalog.string_agg(a.attnum || ': ' || a.attstattarget, ', ' ORDER BY a.attnum)
      FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attstattarget >= 0`,
    ...usedBy('c.oid'),
  },
  from: `FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
  JOIN pg_catalog.pg_class t ON t.oid = i.indrelid ${namespace('c.relnamespace')}
  WHERE c.relpersistence <> 't' AND (i.indisvalid OR t.relkind = 'p') AND ${ofUser('pg_class', 't.oid')}
    AND NOT ${memberOfExtension('pg_class', 'c.oid')} AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k WHERE k.conindid = c.oid AND k.contype IN ('p', 'u', 'x'))`,
}

const triggers = (major: number): Objects => ({
  kind: `'trigger'`,
  path: ['n.nspname', 'c.relname', 't.tgname'],
  facts: {
    definition: 'pg_catalog.pg_get_triggerdef(t.oid)',
    fires: enabled('t.tgenabled'),
    comment: comment('pg_trigger', 't.oid'),
  },
  from: `FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid ${namespace('c.relnamespace')}
  WHERE NOT t.tgisinternal AND c.relpersistence <> 't' AND ${ofUser('pg_trigger', 't.oid')}
    AND NOT ${memberOfExtension('pg_class', 'c.oid')}${major >= 13 ? ' AND t.tgparentid = 0' : ''}`,
})

const rules: Objects = {
  kind: `'rule'`,
  path: ['n.nspname', 'c.relname', 'r.rulename'],
  facts: {
    definition: 'pg_catalog.pg_get_ruledef(r.oid)',
    fires: enabled('r.ev_enabled'),
    comment: comment('pg_rewrite', 'r.oid'),
  },
  from: `FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_class c ON c.oid = r.ev_class ${namespace('c.relnamespace')}
  WHERE r.rulename <> '_RETURN' AND c.relpersistence <> 't' AND ${ofUser('pg_rewrite', 'r.oid')}
    AND NOT ${memberOfExtension('pg_class', 'c.oid')}`,
}

const policies: Objects = {
  kind: `'policy'`,
  path: ['n.nspname', 'c.relname', 'p.polname'],
  facts: {
    kind: `CASE WHEN p.polpermissive THEN 'permissive' ELSE 'restrictive' END`,
    command: `CASE p.polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE' ELSE 'ALL' END`,
    // A dump gives them in another order.
    roles: `SELECT pg_catalog.string_agg(who, ', ' ORDER BY who COLLATE "C") FROM (
      SELECT CASE r WHEN 0 THEN 'PUBLIC' ELSE pg_catalog.pg_get_userbyid(r)::text END AS who
      FROM pg_catalog.unnest(p.polroles) r) roles`,
    using: 'pg_catalog.pg_get_expr(p.polqual, p.polrelid)',
    'with check': 'pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid)',
    comment: comment('pg_policy', 'p.oid'),
  },
  from: `FROM pg_catalog.pg_policy p JOIN pg_catalog.pg_class c ON c.oid = p.polrelid ${namespace('c.relnamespace')}
  WHERE ${ofUser('pg_class', 'c.oid')}`,
}

const sequences: Objects = {
  kind: `'sequence'`,
  path: ['n.nspname', 'c.relname'],
  facts: {
    type: 'pg_catalog.format_type(s.seqtypid, NULL)',
    start: 's.seqstart',
    increment: 's.seqincrement',
    minimum: 's.seqmin',
    maximum: 's.seqmax',
    cache: 's.seqcache',
    cycle: `CASE WHEN s.seqcycle THEN 'yes' END`,
    'belongs to': `SELECT o.refobjid::pg_catalog.regclass::text || '.' || a.attname
      FROM pg_catalog.pg_depend o JOIN pg_catalog.pg_attribute a ON a.attrelid = o.refobjid AND a.attnum = o.refobjsubid
      WHERE o.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND o.objid = c.oid
        AND o.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND o.deptype IN ('a', 'i')`,
    persistence: `CASE c.relpersistence WHEN 'u' THEN 'unlogged' END`,
    owner: ownerOf('c.relowner'),
    privileges: privileges('c.relacl', 's', 'c.relowner'),
    comment: comment('pg_class', 'c.oid'),
  },
  from: `FROM pg_catalog.pg_sequence s JOIN pg_catalog.pg_class c ON c.oid = s.seqrelid ${namespace('c.relnamespace')}
  WHERE c.relpersistence <> 't' AND ${ofUser('pg_class', 'c.oid')}`,
}

const functions: Objects = {
  kind: `CASE p.prokind WHEN 'p' THEN 'procedure' WHEN 'a' THEN 'aggregate' ELSE 'function' END`,
  path: [
    'n.nspname',
    'p.proname',
    `'(' || coalesce((SELECT pg_catalog.string_agg(pg_catalog.format_type(a.type, NULL), ', ' ORDER BY a.at)
      FROM pg_catalog.unnest(p.proargtypes) WITH ORDINALITY a (type, at)), '') || ')'`,
  ],
  facts: {
    definition: `CASE WHEN p.prokind <> 'a' THEN pg_catalog.pg_get_functiondef(p.oid) ELSE (
      SELECT pg_catalog.concat_ws(' ', g.aggkind, g.aggtransfn, g.aggtranstype::pg_catalog.regtype, g.aggfinalfn, g.aggcombinefn,
        g.aggserialfn, g.aggdeserialfn, g.aggmtransfn, g.aggminvtransfn, g.aggmfinalfn, g.agginitval, g.aggsortop::pg_catalog.regoperator,
        p.proparallel)
      FROM pg_catalog.pg_aggregate g WHERE g.aggfnoid = p.oid) END`,
    owner: ownerOf('p.proowner'),
    privileges: privileges('p.proacl', 'f', 'p.proowner'),
    comment: comment('pg_proc', 'p.oid'),
  },
  from: `FROM pg_catalog.pg_proc p ${namespace('p.pronamespace')}
  WHERE ${ofUser('pg_proc', 'p.oid')} AND NOT ${madeBySystem('pg_proc', 'p.oid')}`,
}

/** Without those that come with a table, an array or a range. Composite ones stand with the relations. */
const types: Objects = {
  kind: `CASE t.typtype WHEN 'd' THEN 'domain' ELSE 'type' END`,
  path: ['n.nspname', 't.typname'],
  facts: {
    labels: `SELECT pg_catalog.string_agg(pg_catalog.quote_literal(e.enumlabel), ', ' ORDER BY e.enumsortorder)
      FROM pg_catalog.pg_enum e WHERE e.enumtypid = t.oid`,
    base: `CASE t.typtype WHEN 'd' THEN pg_catalog.format_type(t.typbasetype, t.typtypmod) END`,
    'not null': `CASE WHEN t.typnotnull THEN 'yes' END`,
    default: 'coalesce(pg_catalog.pg_get_expr(t.typdefaultbin, 0), t.typdefault)',
    collation: `CASE WHEN t.typtype = 'd' AND t.typcollation <> 0 THEN ${nameOfCollation('t.typcollation')} END`,
    range: `SELECT pg_catalog.concat_ws(' ', r.rngsubtype::pg_catalog.regtype, r.rngcanonical, r.rngsubdiff,
        nullif(r.rngcollation, 0)::pg_catalog.regcollation, (SELECT o.opcname FROM pg_catalog.pg_opclass o WHERE o.oid = r.rngsubopc))
      FROM pg_catalog.pg_range r WHERE r.rngtypid = t.oid`,
    functions: `CASE t.typtype WHEN 'b' THEN pg_catalog.concat_ws(' ', t.typinput, t.typoutput, t.typreceive, t.typsend,
      t.typmodin, t.typmodout, t.typanalyze, t.typlen,
      t.typalign, t.typstorage, t.typcategory, t.typdelim) END`,
    owner: ownerOf('t.typowner'),
    privileges: privileges('t.typacl', 'T', 't.typowner'),
    comment: comment('pg_type', 't.oid'),
  },
  from: `FROM pg_catalog.pg_type t ${namespace('t.typnamespace')}
  WHERE t.typtype IN ('b', 'd', 'e', 'r', 'p') AND t.typrelid = 0
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_type e WHERE e.typarray = t.oid) AND ${ofUser('pg_type', 't.oid')}`,
}

/** Rows of kind, path and facts. Publications and subscriptions are left out: a copy is no part of the source's own. */
export function structureQuery(major: number): string {
  return [
    schemas,
    relations,
    columns(major),
    tablesOfExtensions,
    constraints,
    indexes,
    triggers(major),
    rules,
    policies,
    sequences,
    functions,
    types,
    ...inSchemas,
    ...ofDatabase,
  ]
    .map(select)
    .join('\nUNION ALL\n')
}

/** Tables whose changes the publication `$1` does not send, though they have some. */
export const unpublishedQuery = `
SELECT ARRAY[n.nspname::text, c.relname::text] AS path
FROM pg_catalog.pg_class c ${namespace('c.relnamespace')}
WHERE c.relkind = 'r' AND ${isReplicated} AND ${ofUser('pg_class', 'c.oid')}
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_publication_rel r
    JOIN pg_catalog.pg_publication p ON p.oid = r.prpubid WHERE p.pubname = $1 AND r.prrelid = c.oid)
ORDER BY 1`

const catalogs = (
  'am amop amproc attrdef attribute cast class collation constraint conversion default_acl depend description ' +
  'enum event_trigger extension foreign_data_wrapper foreign_server foreign_table index inherits language ' +
  'namespace opclass operator opfamily policy proc publication_rel range rewrite seclabel sequence statistic_ext ' +
  'transform trigger ts_config ts_config_map ts_dict ts_parser ts_template type'
).split(' ')

/**
 * A sum over the versions of all rows that describe structure: where it stays the same, nothing was altered. A row that was written
 * since has the number of a transaction that no row had before. Servers read several catalogs at once, and give their rows in any order.
 */
export const signatureQuery = `SELECT pg_catalog.md5(pg_catalog.string_agg(one, ',' ORDER BY one COLLATE "C")) FROM (${catalogs
  .map(
    (name) =>
      `SELECT '${name}' || pg_catalog.count(*) || ' ' || coalesce(pg_catalog.sum(pg_catalog.hashint8(c.xmin::text::bigint)::bigint), 0) AS one
  FROM pg_catalog.pg_${name} c`,
  )
  .join('\nUNION ALL\n')}) catalogs`
