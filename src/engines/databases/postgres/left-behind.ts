/** What a copy leaves at the source on purpose, in words for its report: what no dump carries, and what would not be of use. */

import type { Session } from './connect.ts'
import { listed } from './findings.ts'

const shownMax = 20

/** A catalog with its names, and a condition for what stands there by itself. */
const catalogs: readonly (readonly [string, string, string])[] = [
  ['pg_class', 'rel', "o.relkind IN ('r', 'p', 'v', 'm', 'S', 'f', 'c')"],
  ['pg_proc', 'pro', 'true'],
  ['pg_type', 'typ', "o.typtype <> 'c' AND o.typelem = 0"],
  ['pg_operator', 'opr', 'o.oprcode <> 0'],
  ['pg_opclass', 'opc', 'true'],
  ['pg_opfamily', 'opf', 'true'],
  ['pg_collation', 'coll', 'true'],
  ['pg_conversion', 'con', 'true'],
  ['pg_ts_config', 'cfg', 'true'],
  ['pg_ts_dict', 'dict', 'true'],
]

/** A dump takes these schemas for the server's own. What came with an extension, or with something else, comes with that again. */
const systemObjectsQuery = catalogs
  .map(
    ([catalog, prefix, condition]) => `
SELECT pg_catalog.pg_describe_object(o.tableoid, o.oid, 0) || ' in ' || n.nspname AS what
FROM pg_catalog.${catalog} o JOIN pg_catalog.pg_namespace n ON n.oid = o.${prefix}namespace
WHERE n.nspname IN ('pg_catalog', 'information_schema') AND o.oid >= 16384 AND ${condition}
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = o.tableoid AND d.objid = o.oid AND d.deptype IN ('e', 'i'))`,
  )
  .join(' UNION ALL ')

/** A build that was broken off: it serves no query. */
const invalidIndexesQuery = `
SELECT pg_catalog.pg_describe_object(c.tableoid, c.oid, 0) AS what
FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
JOIN pg_catalog.pg_class t ON t.oid = i.indrelid JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
WHERE NOT i.indisvalid AND t.relkind <> 'p' AND n.nspname !~ '^pg_'`

const subscriptionsQuery = `
SELECT 'the subscription ' || s.subname AS what FROM pg_catalog.pg_subscription s
JOIN pg_catalog.pg_database d ON d.oid = s.subdbid WHERE d.datname = pg_catalog.current_database()`

export const systemObjects = (source: Session): Promise<readonly string[]> =>
  namesOf(source, systemObjectsQuery)

export const invalidIndexes = (source: Session): Promise<readonly string[]> =>
  namesOf(source, invalidIndexesQuery)

async function namesOf(source: Session, query: string): Promise<readonly string[]> {
  const rows = await source.rows<{ what: string }>(query)
  return rows.map(({ what }) => what).sort()
}

export async function leftBehind(
  source: Session,
  lacking: readonly string[],
  compressed: number,
): Promise<readonly string[]> {
  const of = (names: readonly string[], why: string): readonly string[] =>
    names.slice(0, shownMax).map((name) => `${name} (${why})`)
  return [
    ...of(
      await namesOf(source, subscriptionsQuery),
      'a copy is no part of the replication of its source',
    ),
    ...of(await systemObjects(source), 'schemas of the system come with the server'),
    ...of(await invalidIndexes(source), 'its build was broken off'),
    ...(lacking.length === 0
      ? []
      : [`owners and grants (the target lacks, or may not act as, ${listed(lacking)})`]),
    ...(compressed === 0
      ? []
      : [
          `the compression lz4 of ${compressed} columns (the target's server was built without it)`,
        ]),
  ]
}
