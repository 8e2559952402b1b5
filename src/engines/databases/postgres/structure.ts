/**
 * Is the structure of the tables at both ends still the one that was copied? Changes of it are not replicated, so
 * rows of a table made meanwhile, or values of a column, would be missing without a word.
 */

import { DatabaseEngineError } from '../engine.ts'
import type { Session } from './connect.ts'
import { type DatabaseTask, nameOf } from './database-task.ts'

interface TableShape {
  readonly name: string
  readonly shape: string
  /** Its changes are sent, or it has none that could be. */
  readonly covered: boolean
}

/** In SQL, quoted by the same rule on every server: `%I` quotes by the keywords of the server's own version. */
const quoted = (name: string): string => `'"' || pg_catalog.replace(${name}, '"', '""') || '"'`

/**
 * Without those of extensions, whose versions may differ; `$1` is the publication. The types' names are quoted alike
 * too: the session's `quote_all_identifiers` is on for this query.
 */
const shapesQuery = `
SELECT ${quoted('n.nspname')} || '.' || ${quoted('c.relname')} AS name,
  c.relpersistence = 'u' OR EXISTS (SELECT FROM pg_catalog.pg_publication_rel r
    JOIN pg_catalog.pg_publication p ON p.oid = r.prpubid
    WHERE p.pubname = $1 AND r.prrelid = c.oid) AS covered,
  coalesce(a.shape, '') AS shape
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN (
  SELECT attrelid, pg_catalog.md5(pg_catalog.string_agg(pg_catalog.format('%s %s %s', ${quoted('attname')},
    pg_catalog.format_type(atttypid, atttypmod), attgenerated), ',' ORDER BY attname)) AS shape
  FROM pg_catalog.pg_attribute WHERE attrelid >= 16384 AND attnum > 0 AND NOT attisdropped
  GROUP BY attrelid) a ON a.attrelid = c.oid
WHERE c.relkind = 'r' AND c.relpersistence IN ('p', 'u')
  AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_class'::regclass
    AND d.objid = c.oid AND d.deptype = 'e')`

const namedMax = 5

type Shapes = readonly TableShape[]

async function readShapes(task: DatabaseTask, session: Session): Promise<Shapes> {
  await session.run('SET quote_all_identifiers = on')
  const shapes = await session.rows<TableShape>(shapesQuery, [nameOf(task)])
  await session.run('SET quote_all_identifiers = off')
  return shapes
}

/** Of tables that `now` has and `then` has not, the other way round, or that differ, or that send no changes. */
function differing(now: Shapes, then: Shapes): readonly string[] {
  const left = new Map(then.map(({ name, shape }) => [name, shape]))
  const changed: string[] = []
  for (const { name, shape, covered } of now) {
    if (!covered || left.get(name) !== shape) changed.push(name)
    left.delete(name)
  }
  return [...changed, ...left.keys()]
}

/** Of tables that were made, dropped or altered since the copy began. */
export async function changedTables(
  task: DatabaseTask,
  source: Session,
  target: Session,
): Promise<readonly string[]> {
  const [here, there] = await Promise.all([readShapes(task, source), readShapes(task, target)])
  return differing(here, there)
}

export function altered(tables: readonly string[]): string {
  const more = tables.length > namedMax ? ` and ${tables.length - namedMax} more` : ''
  return `The source's tables were made, dropped or altered during the migration: ${tables.slice(0, namedMax).join(', ')}${more}.`
}

function requireNone(changed: readonly string[]): void {
  if (changed.length === 0) return
  throw new DatabaseEngineError(
    'refused',
    `${altered(changed)} Such changes do not come over: start it anew.`,
  )
}

/** `refused` when it is not; so is what comes back, asked once more when nobody can alter the source any more. */
export async function requireSameStructure(
  task: DatabaseTask,
  source: Session,
  target: Session,
): Promise<() => Promise<void>> {
  const [before, there] = await Promise.all([readShapes(task, source), readShapes(task, target)])
  requireNone(differing(before, there))
  return async () => requireNone(differing(await readShapes(task, source), before))
}
