/**
 * Copies the source application's publications once the copy is complete, so that the target can publish what the
 * source does. Subscriptions stay: two copies of one would receive the same changes.
 */

import { isTransient, majorOf, quoteName, quoteText, type Session } from './connect.ts'
import type { DatabaseTask } from './database-task.ts'
import { fewWords } from './record.ts'

interface Publication {
  readonly name: string
  readonly owner: string
  readonly comment: string | null
  readonly everything: boolean
  /**
   * `ONLY "schema"."table" ("column") WHERE (…)`: the source's own text, trusted as much as the definitions of a
   * dump.
   */
  readonly tables: readonly string[]
  /** Quoted, ready for SQL. */
  readonly schemas: readonly string[]
  readonly publish: string
  readonly viaRoot: boolean
  /** From version 18; null when the source does not know it. */
  readonly generated: string | null
}

/** Publications of migrations are named by `nameOf`. */
const ofOthers = "pubname !~ '^mig_'"

function publicationsQuery(major: number): string {
  const [columns, rows, schemas] =
    major >= 15
      ? [
          `CASE WHEN r.prattrs IS NOT NULL THEN ' (' || (SELECT pg_catalog.string_agg(pg_catalog.quote_ident(a.attname), ', ' ORDER BY a.attnum)
             FROM pg_catalog.pg_attribute a WHERE a.attrelid = r.prrelid AND a.attnum = ANY (r.prattrs::pg_catalog.int2[])) || ')' ELSE '' END`,
          `CASE WHEN r.prqual IS NOT NULL THEN ' WHERE (' || pg_catalog.pg_get_expr(r.prqual, r.prrelid) || ')' ELSE '' END`,
          `ARRAY(SELECT pg_catalog.quote_ident(n.nspname) FROM pg_catalog.pg_publication_namespace s
             JOIN pg_catalog.pg_namespace n ON n.oid = s.pnnspid WHERE s.pnpubid = p.oid ORDER BY 1)`,
        ]
      : ["''", "''", "'{}'::pg_catalog.text[]"]
  return `SELECT p.pubname AS name, pg_catalog.pg_get_userbyid(p.pubowner) AS owner,
      pg_catalog.obj_description(p.oid, 'pg_publication') AS comment, p.puballtables AS everything,
      ARRAY(SELECT pg_catalog.format('ONLY %I.%I', n.nspname, c.relname) || ${columns} || ${rows}
        FROM pg_catalog.pg_publication_rel r JOIN pg_catalog.pg_class c ON c.oid = r.prrelid
        JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        WHERE r.prpubid = p.oid ORDER BY n.nspname, c.relname) AS tables,
      ${schemas} AS schemas,
      pg_catalog.concat_ws(', ', CASE WHEN p.pubinsert THEN 'insert' END, CASE WHEN p.pubupdate THEN 'update' END,
        CASE WHEN p.pubdelete THEN 'delete' END, CASE WHEN p.pubtruncate THEN 'truncate' END) AS publish,
      coalesce((pg_catalog.to_jsonb(p) ->> 'pubviaroot')::pg_catalog.bool, false) AS "viaRoot",
      CASE pg_catalog.to_jsonb(p) ->> 'pubgencols' WHEN 's' THEN 'stored' WHEN 'n' THEN 'none' END AS generated
    FROM pg_catalog.pg_publication p WHERE ${ofOthers} ORDER BY 1`
}

function statementsOf(
  { name, owner, comment, everything, tables, schemas, publish, viaRoot, generated }: Publication,
  owners: boolean,
): readonly string[] {
  const objects = [
    ...tables.map((table) => `TABLE ${table}`),
    ...schemas.map((schema) => `TABLES IN SCHEMA ${schema}`),
  ]
  const what = everything
    ? ' FOR ALL TABLES'
    : objects.length > 0
      ? ` FOR ${objects.join(', ')}`
      : ''
  const options = [
    `publish = ${quoteText(publish)}`,
    ...(viaRoot ? ['publish_via_partition_root = true'] : []),
    ...(generated === 'stored' ? ['publish_generated_columns = stored'] : []),
  ]
  const quoted = quoteName(name)
  return [
    `CREATE PUBLICATION ${quoted}${what} WITH (${options.join(', ')})`,
    ...(comment === null ? [] : [`COMMENT ON PUBLICATION ${quoted} IS ${quoteText(comment)}`]),
    ...(owners ? [`ALTER PUBLICATION ${quoted} OWNER TO ${quoteName(owner)}`] : []),
  ]
}

/**
 * Publications that the target's user may not create are reported as left out; the copy is complete without them.
 */
export async function carryPublications(
  task: DatabaseTask,
  source: Session,
  target: Session,
): Promise<void> {
  const query = publicationsQuery(await majorOf(source))
  // The target may have more keywords.
  await source.run('BEGIN READ ONLY; SET LOCAL quote_all_identifiers = on')
  const given = await source.rows<Publication>(query)
  await source.run('COMMIT')
  if (given.length === 0) return
  const there = new Set(
    (
      await target.rows<{ name: string }>('SELECT pubname AS name FROM pg_catalog.pg_publication')
    ).map(({ name }) => name),
  )
  for (const one of given.filter(({ name }) => !there.has(name))) {
    try {
      await target.run(`BEGIN; ${statementsOf(one, task.record.owners).join('; ')}; COMMIT`)
    } catch (error) {
      await target.run('ROLLBACK')
      if (isTransient(error)) throw error
      const reason = error instanceof Error ? error.message : String(error)
      const left = `the publication ${one.name} (${reason})`
      task.record.setAside = fewWords([...task.record.setAside, left])
    }
  }
}
