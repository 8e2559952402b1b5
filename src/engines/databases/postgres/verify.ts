/** Compares a database on both sides, table by table. Says the first differences; changes nothing. */

import { type ComparedTable, DatabaseEngineError, type Verification } from '../engine.ts'
import { readTables, type SourceTable } from './catalog.ts'
import type { Session } from './connect.ts'
import { type DatabaseTask, openSource, openTarget, tell } from './database-task.ts'
import { recordCompared } from './report.ts'
import { sumRows } from './row-sum.ts'

interface Fingerprint {
  readonly rows: string
  readonly checksum: string | null
}

const differencesMax = 5
/** Tables compared in one statement: a thousand small ones should not cost a thousand round trips. */
const tablesAtOnce = 50
/** Above this a table is asked about alone, so that the pairs of sessions share the work. */
const smallBytes = 8 * 1024 * 1024

interface Sides {
  readonly source: Session
  readonly target: Session
}

/** Opened ahead of the moment in which nobody may write, so that this moment is short. Both sides must stand still then. */
export class Comparison implements AsyncDisposable {
  /** All of the source, those too that are not compared. */
  readonly tables: readonly SourceTable[]
  readonly #task: DatabaseTask
  readonly #how: Verification
  readonly #sides: readonly Sides[]
  readonly #opened: AsyncDisposableStack
  readonly #compared: ComparedTable[] = []

  static async open(task: DatabaseTask, source: Session): Promise<Comparison> {
    await using opening = new AsyncDisposableStack()
    const tables = await readTables(source)
    const how = task.spec.verify
    const count = how === 'none' ? 0 : Math.min(task.spec.tablesAtOnce, Math.max(1, tables.length))
    const sides = await Promise.all(
      Array.from({ length: count }, async () => ({
        source: opening.use(await openSource(task)),
        target: opening.use(await openTarget(task)),
      })),
    )
    return new Comparison({ task, tables, sides, opened: opening.move() })
  }

  private constructor(given: {
    readonly task: DatabaseTask
    readonly tables: readonly SourceTable[]
    readonly sides: readonly Sides[]
    readonly opened: AsyncDisposableStack
  }) {
    this.tables = given.tables
    this.#task = given.task
    this.#how = given.task.spec.verify
    this.#sides = given.sides
    this.#opened = given.opened
  }

  /** Throws `refused` when the sides differ in one of these tables. */
  async compare(isMeant: (table: SourceTable) => boolean): Promise<void> {
    const how = this.#how
    if (how === 'none') return
    const queue = inTurns(
      this.tables.filter((table) => table.condition === undefined && isMeant(table)),
    )
    if (queue.length === 0) return
    const differences: string[] = []
    const work = async ({ source, target }: Sides): Promise<void> => {
      await source.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
      for (let some = queue.shift(); some !== undefined; some = queue.shift()) {
        this.#task.signal.throwIfAborted()
        differences.push(...(await this.#compareSome(some, how, { source, target })))
      }
      await source.run('COMMIT')
    }
    await Promise.all(this.#sides.map(work))
    if (differences.length === 0) return
    const more =
      differences.length > differencesMax ? ` and ${differences.length - differencesMax} more` : ''
    throw new DatabaseEngineError(
      'refused',
      `The copy is not what the source has: ${differences.slice(0, differencesMax).join('; ')}${more}.`,
    )
  }

  async #compareSome(
    some: readonly SourceTable[],
    how: Exclude<Verification, 'none'>,
    { source, target }: Sides,
  ): Promise<readonly string[]> {
    const began = this.#task.clock.now()
    const [left, right] = await Promise.all([
      fingerprintsOf(source, some, how),
      fingerprintsOf(target, some, how),
    ])
    const share = Math.round((this.#task.clock.now() - began) / some.length)
    return some.flatMap(({ name, schema, table }, index) => {
      const [one, other] = [left[index], right[index]]
      const rows = Number(one?.rows ?? 0)
      this.#compared.push({ name: `${schema}.${table}`, how, rows, milliseconds: share })
      if (one?.rows === other?.rows && one?.checksum === other?.checksum) return []
      return one?.rows === other?.rows
        ? [`${name} differs in content`]
        : [`${name} has ${one?.rows} rows at the source and ${other?.rows} at the target`]
    })
  }

  /** Once all is compared. */
  record(): void {
    const compared = this.#compared
    const rows = compared.reduce((sum, table) => sum + table.rows, 0)
    recordCompared(this.#task, compared)
    tell(this.#task, { verified: { how: this.#how, tables: compared.length, rows } })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#opened.disposeAsync()
  }
}

/** Small tables together, and each alone that is large or that no query may read. */
function inTurns(tables: readonly SourceTable[]): SourceTable[][] {
  const queue: SourceTable[][] = []
  let open: SourceTable[] | undefined
  for (const table of tables) {
    const isAlone = table.bytes > smallBytes || !table.queried
    if (open === undefined || open.length === tablesAtOnce || isAlone) {
      open = []
      queue.push(open)
    }
    open.push(table)
    if (isAlone) open = undefined
  }
  return queue
}

/** Of each table, in their order. */
export async function fingerprintsOf(
  session: Session,
  tables: readonly SourceTable[],
  how: Exclude<Verification, 'none'>,
): Promise<readonly Fingerprint[]> {
  const [first, ...others] = tables
  if (first?.queried === false && others.length === 0) return [await sumRows(session, first, how)]
  const text = tables
    .map((table, index) => `SELECT ${index} AS i, ${fingerprintOf(table, how)}`)
    .join(' UNION ALL ')
  return session.rows<Fingerprint>(`${text} ORDER BY 1`)
}

/**
 * Order does not matter, so neither side sorts: a sum of 64-bit hashes of the text of the rows. Columns stand in the order
 * of their names: their places differ where a parent of the table got a column after it was made.
 */
function fingerprintOf(table: SourceTable, how: Exclude<Verification, 'none'>): string {
  const row = `ROW(${table.columnsByName.map((column) => `t.${column}`).join(', ')})`
  const checksum =
    how === 'checksums'
      ? `coalesce(pg_catalog.sum(pg_catalog.hashtextextended((${row})::text, 0)::numeric), 0)::text`
      : 'NULL::text'
  return `pg_catalog.count(*)::text AS rows, ${checksum} AS checksum FROM ONLY ${table.name} t`
}
