/**
 * What the queries for structure are made of. Names are read as they are and never quoted by `%I` or `quote_ident`, which
 * quote by the keywords of the server's own version.
 */

export const memberOfExtension = (catalog: string, oid: string): string =>
  `EXISTS (SELECT FROM pg_catalog.pg_depend member WHERE member.classid = 'pg_catalog.${catalog}'::pg_catalog.regclass
    AND member.objid = ${oid} AND member.deptype = 'e')`

export const ofUser = (catalog: string, oid: string): string =>
  `n.nspname <> 'information_schema' AND n.nspname !~ '^pg_' AND NOT ${memberOfExtension(catalog, oid)}`

/** Objects in no schema: those of the system have small numbers. */
export const madeByUser = (catalog: string, oid: string): string =>
  `${oid} >= 16384 AND NOT ${memberOfExtension(catalog, oid)}`

export const ownerOf = (column: string): string => `pg_catalog.pg_get_userbyid(${column})`

/** It came with another object: a range has a constructor and a multirange. */
export const madeBySystem = (catalog: string, oid: string): string =>
  `EXISTS (SELECT FROM pg_catalog.pg_depend inner_one WHERE inner_one.classid = 'pg_catalog.${catalog}'::pg_catalog.regclass
    AND inner_one.objid = ${oid} AND inner_one.deptype = 'i')`

/** Who may do what, whoever granted it, in an order that is no server's own. An empty list stands for the default of its kind, when that is given. */
export const privileges = (list: string, kind?: string, owner?: string): string => {
  const all =
    kind === undefined ? list : `coalesce(${list}, pg_catalog.acldefault('${kind}', ${owner}))`
  return `(SELECT pg_catalog.string_agg(whom || ': ' || what, ', ' ORDER BY whom COLLATE "C") FROM (
      SELECT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE pg_catalog.pg_get_userbyid(grantee)::text END AS whom,
        pg_catalog.string_agg(DISTINCT (privilege_type || CASE WHEN is_grantable THEN ' with grant option' ELSE '' END) COLLATE "C", ' ') AS what
      FROM pg_catalog.aclexplode(${all}) GROUP BY grantee) grants)`
}

export const comment = (catalog: string, oid: string): string =>
  `pg_catalog.obj_description(${oid}, '${catalog}')`

export const list = (array: string): string => `pg_catalog.array_to_string(${array}, ', ')`

const ordered = (array: string, shown: string): string =>
  `(SELECT pg_catalog.string_agg(${shown}, ', ' ORDER BY o COLLATE "C") FROM pg_catalog.unnest(${array}) o)`

/** Options of foreign objects, which a dump gives in another order. */
export const foreignOptions = (array: string): string => ordered(array, 'o')

/** Options that may hold secrets: their names as text, their values only as a hash. */
export const optionNames = (array: string): string =>
  ordered(array, "pg_catalog.split_part(o, '=', 1)")

export const hashOfOptions = (array: string): string => `pg_catalog.md5(${foreignOptions(array)})`

export const nameOfCollation = (oid: string): string =>
  `(SELECT s.nspname || '.' || k.collname FROM pg_catalog.pg_collation k
      JOIN pg_catalog.pg_namespace s ON s.oid = k.collnamespace WHERE k.oid = ${oid})`

export type Facts = Readonly<Record<string, string>>

export interface Objects {
  /** An expression, or a text in quotes. */
  readonly kind: string
  /** Expressions: the names that lead to it. */
  readonly path: readonly string[]
  readonly facts: Facts
  /** From FROM on. */
  readonly from: string
}

export function select({ kind, path, facts, from }: Objects): string {
  const pairs = Object.entries(facts).map(([name, value]) => `'${name}', (${value})::text`)
  return `SELECT (${kind})::text AS kind, ARRAY[${path.map((one) => `(${one})::text`).join(', ')}] AS path,
  pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object(${pairs.join(', ')})) AS facts
  ${from}`
}

export const namespace = (column: string): string =>
  `JOIN pg_catalog.pg_namespace n ON n.oid = ${column}`

export const enabled = (column: string): string =>
  `CASE ${column} WHEN 'D' THEN 'never' WHEN 'R' THEN 'replica' WHEN 'A' THEN 'always' END`

/** `c` has a primary key, or another index that its rows are told apart by in replication. */
export const hasRowKey = `EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid AND i.indisvalid AND i.indimmediate
    AND CASE c.relreplident WHEN 'i' THEN i.indisreplident ELSE i.indisprimary END)`

/**
 * Rows of `c` have no key, and a column of a type without equality (facts A.7): a subscriber cannot find the row that is
 * updated or deleted. A type is looked into as deep as it goes: domains, arrays, composites.
 */
const isUnfindable = `NOT ${hasRowKey} AND NOT EXISTS (
    SELECT FROM pg_catalog.pg_constraint k WHERE k.confrelid = c.oid)
  AND EXISTS (
    WITH RECURSIVE inside (type) AS (
      SELECT a.atttypid FROM pg_catalog.pg_attribute a
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      UNION
      SELECT part.type FROM inside JOIN pg_catalog.pg_type t ON t.oid = inside.type,
      LATERAL (
        SELECT t.typbasetype WHERE t.typtype = 'd'
        UNION ALL SELECT t.typelem WHERE t.typelem <> 0 AND t.typlen = -1
        UNION ALL SELECT m.atttypid FROM pg_catalog.pg_attribute m
          WHERE t.typtype = 'c' AND m.attrelid = t.typrelid AND m.attnum > 0 AND NOT m.attisdropped
      ) part (type))
    SELECT FROM inside JOIN pg_catalog.pg_type t ON t.oid = inside.type
    WHERE t.typtype = 'b' AND NOT (t.typelem <> 0 AND t.typlen = -1) AND NOT EXISTS (
      SELECT FROM pg_catalog.pg_opclass o JOIN pg_catalog.pg_am m ON m.oid = o.opcmethod
      WHERE o.opcdefault AND m.amname IN ('btree', 'hash') AND (o.opcintype = t.oid OR EXISTS (
        SELECT FROM pg_catalog.pg_cast b WHERE b.castsource = t.oid AND b.casttarget = o.opcintype
          AND b.castmethod = 'b' AND b.castcontext = 'i'))))`

/**
 * Planning a query of `c` computes nothing that was written at the source. A planner computes calls with constants in expressions
 * of indexes and statistics, with the rights and the path of whoever reads. Functions in C come from files of the server.
 */
export const isPlannedBlind = `NOT EXISTS (SELECT FROM (
    SELECT 'pg_catalog.pg_class'::pg_catalog.regclass AS class, i.indexrelid AS oid FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid
    UNION ALL
    SELECT 'pg_catalog.pg_statistic_ext'::pg_catalog.regclass, s.oid FROM pg_catalog.pg_statistic_ext s WHERE s.stxrelid = c.oid) part
  JOIN pg_catalog.pg_depend d ON d.classid = part.class AND d.objid = part.oid
    AND d.refclassid IN ('pg_catalog.pg_proc'::pg_catalog.regclass, 'pg_catalog.pg_operator'::pg_catalog.regclass)
  LEFT JOIN pg_catalog.pg_operator o ON o.oid = d.refobjid AND d.refclassid = 'pg_catalog.pg_operator'::pg_catalog.regclass
  JOIN pg_catalog.pg_proc p ON p.oid = coalesce(o.oprcode::pg_catalog.oid, d.refobjid)
  JOIN pg_catalog.pg_language l ON l.oid = p.prolang JOIN pg_catalog.pg_roles r ON r.oid = p.proowner
  WHERE p.oid >= 16384 AND (l.lanname NOT IN ('c', 'internal') OR NOT r.rolsuper))`

/**
 * A publisher does not send generated columns, so a subscriber cannot find a row by a key that holds one. Without a key, one
 * from version 16 on takes any index whose first column is sent, looks for NULL in the others, and passes the change over.
 */
const isKeyUnsent = `EXISTS (SELECT FROM pg_catalog.pg_index i
    JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attgenerated <> ''
      AND a.attnum = ANY ((i.indkey::pg_catalog.int2[])[0:i.indnkeyatts - 1])
    WHERE i.indrelid = c.oid AND CASE WHEN ${hasRowKey} THEN i.indisvalid AND i.indimmediate
        AND CASE c.relreplident WHEN 'i' THEN i.indisreplident ELSE i.indisprimary END
      ELSE i.indpred IS NULL AND a.attnum <> i.indkey[0] END)`

/** Changes of the table `c` go through replication. */
export const isReplicated = `(c.relpersistence = 'p' AND NOT (${isUnfindable}) AND NOT ${isKeyUnsent})`
