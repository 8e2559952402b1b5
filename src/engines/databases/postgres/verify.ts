/** Compares a database on both sides, table by table. Says the first differences; changes nothing. */

import { DatabaseEngineError, type Verification } from '../engine.ts'
import { readTables, type SourceTable } from './catalog.ts'
import { type DatabaseTask, openSource, openTarget } from './database-task.ts'

interface Fingerprint {
  readonly rows: string
  readonly checksum: string | null
}

const differencesMax = 5
/** Tables compared in one statement: a thousand small ones should not cost a thousand round trips. */
const tablesAtOnce = 50
/** Above this a table is asked about alone, so that the pairs of sessions share the work. */
const smallBytes = 8 * 1024 * 1024

/**
 * Both sides must stand still, or `snapshot` must be the one that was copied. The rows compared; throws
 * `refused` when the sides differ.
 */
export async function verifyDatabase(
  task: DatabaseTask,
  how: Verification,
  snapshot?: string,
): Promise<{ readonly tables: number; readonly rows: number }> {
  if (how === 'none') return { tables: 0, rows: 0 }
  await using first = await openSource(task)
  const begin = async (session: typeof first): Promise<void> => {
    await session.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    if (snapshot !== undefined) await session.run(`SET TRANSACTION SNAPSHOT '${snapshot}'`)
  }
  await begin(first)
  const tables = (await readTables(first)).filter(({ condition }) => condition === undefined)
  const queue: SourceTable[][] = []
  let open: SourceTable[] | undefined
  for (const table of tables) {
    if (open === undefined || open.length === tablesAtOnce || table.bytes > smallBytes) {
      open = []
      queue.push(open)
    }
    open.push(table)
    if (table.bytes > smallBytes) open = undefined
  }
  const differences: string[] = []
  let rows = 0
  const work = async (): Promise<void> => {
    await using source = await openSource(task)
    await using target = await openTarget(task)
    await begin(source)
    for (let some = queue.shift(); some !== undefined; some = queue.shift()) {
      task.signal.throwIfAborted()
      const text = some
        .map((table, index) => `SELECT ${index} AS i, ${fingerprintOf(table, how)}`)
        .join(' UNION ALL ')
      const query = `${text} ORDER BY 1`
      const [left, right] = await Promise.all([
        source.rows<Fingerprint>(query),
        target.rows<Fingerprint>(query),
      ])
      for (const [index, { name }] of some.entries()) {
        const [one, other] = [left[index], right[index]]
        rows += Number(one?.rows ?? 0)
        if (one?.rows === other?.rows && one?.checksum === other?.checksum) continue
        differences.push(
          one?.rows === other?.rows
            ? `${name} differs in content`
            : `${name} has ${one?.rows} rows at the source and ${other?.rows} at the target`,
        )
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(task.spec.tablesAtOnce, queue.length) }, work))
  if (differences.length > 0) {
    const more =
      differences.length > differencesMax ? ` and ${differences.length - differencesMax} more` : ''
    throw new DatabaseEngineError(
      'refused',
      `The copy is not what the source has: ${differences.slice(0, differencesMax).join('; ')}${more}.`,
    )
  }
  return { tables: tables.length, rows }
}

/**
 * Order does not matter, so neither side sorts: a sum of 64-bit hashes of the text of the rows. Columns stand in the order
 * of their names: their places differ where a parent of the table got a column after it was made.
 */
export function fingerprintOf(table: SourceTable, how: Exclude<Verification, 'none'>): string {
  const row = `ROW(${table.columnsByName.map((column) => `t.${column}`).join(', ')})`
  const checksum =
    how === 'checksums'
      ? `coalesce(pg_catalog.sum(pg_catalog.hashtextextended((${row})::text, 0)::numeric), 0)::text`
      : 'NULL::text'
  return `pg_catalog.count(*)::text AS rows, ${checksum} AS checksum FROM ONLY ${table.name} t`
}
