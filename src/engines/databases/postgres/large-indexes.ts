/**
 * Builds the indexes of large tables, several at once and as soon as the rows of their table are copied, while
 * other tables are still being copied. `pg_restore` would start after all rows, and would build the indexes of one
 * table one after the other if one belongs to a key. Only plain indexes are built here. `pg_restore` restores the
 * rest of a table.
 */

import { DatabaseEngineError } from '../engine.ts'
import type { SourceTable } from './catalog.ts'
import { codeOf, isTransient, quoteName, type Session } from './connect.ts'
import { type DatabaseTask, openTarget } from './database-task.ts'
import { entryNumbers } from './schema.ts'

/** `pg_restore` builds the indexes of smaller tables as fast, with fewer statements. */
const tableBytesMin = 16 * 1024 * 1024

interface LargeIndex {
  /** The oids of the table, and of the index or the constraint that it belongs to. */
  readonly table: string
  readonly entry: string
  readonly schema: string
  readonly table_name: string
  readonly name: string
  readonly definition: string | null
  /** The clause that makes the index a key, after the table's name. */
  readonly key: string | null
}

/**
 * With what `pg_dump` says in the same entry they are left out: a table clustered or identified by it, statistics of its
 * columns. Names of functions in expressions may be found by a search path alone.
 */
const indexesQuery = `
SELECT i.indrelid::text AS table, pg_catalog.format('%s %s', coalesce(k.tableoid, c.tableoid), coalesce(k.oid, c.oid)) AS entry,
  n.nspname AS schema, t.relname AS table_name, c.relname AS name,
  pg_catalog.pg_get_indexdef(i.indexrelid) AS definition,
  CASE k.contype WHEN 'p' THEN 'PRIMARY KEY' WHEN 'u' THEN 'UNIQUE' END AS key
FROM pg_catalog.pg_index i
JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
JOIN pg_catalog.pg_class t ON t.oid = i.indrelid
JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
JOIN pg_catalog.pg_am a ON a.oid = c.relam
LEFT JOIN pg_catalog.pg_constraint k ON k.conindid = i.indexrelid AND k.conrelid = i.indrelid AND k.contype IN ('p', 'u', 'x')
WHERE i.indrelid = ANY ($1::pg_catalog.oid[]) AND i.indisvalid AND i.indislive AND t.relkind = 'r'
  AND NOT t.relispartition AND i.indexprs IS NULL AND i.indpred IS NULL
  AND NOT i.indisclustered AND NOT i.indisreplident AND a.amname IN ('btree', 'hash', 'gin', 'gist', 'brin', 'spgist')
  AND (k.oid IS NULL OR (k.contype IN ('p', 'u') AND NOT k.condeferrable AND a.amname = 'btree'))
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass
    AND d.objid = i.indexrelid AND d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass)
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_inherits h WHERE h.inhrelid = i.indexrelid)
ORDER BY i.indrelid, c.oid`

/**
 * `pg_dump` says in one entry that an index is made and that its table is clustered or identified by it: two such entries of
 * one table lock each other out where they are restored at the same time.
 */
const loneQuery = `
SELECT pg_catalog.format('%s %s', coalesce(k.tableoid, c.tableoid), coalesce(k.oid, c.oid)) AS entry
FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
JOIN pg_catalog.pg_class t ON t.oid = i.indrelid AND t.relkind = 'r'
LEFT JOIN pg_catalog.pg_constraint k ON k.conindid = i.indexrelid AND k.conrelid = i.indrelid AND k.contype IN ('p', 'u', 'x')
WHERE (i.indisclustered OR i.indisreplident) AND c.oid >= 16384`

/** Builds the planned indexes. `pg_restore` leaves out those that it has built. */
export class LargeIndexes implements AsyncDisposable {
  readonly #task: DatabaseTask
  readonly #byTable = new Map<number, readonly LargeIndex[]>()
  readonly #lone: ReadonlySet<string>
  readonly #waiting: LargeIndex[] = []
  readonly #ending = new AbortController()
  #working: Promise<void>[] = []
  #failure: unknown
  #ended: Promise<void> | undefined

  /** Reads the indexes in the snapshot of the rows. */
  static async plan(
    task: DatabaseTask,
    reader: Session,
    tables: readonly SourceTable[],
  ): Promise<LargeIndexes> {
    const large = tables.filter(
      ({ bytes, condition }) => bytes >= tableBytesMin && condition === undefined,
    )
    const lone = await reader.rows<{ entry: string }>(loneQuery)
    const planned = new LargeIndexes(task, new Set(lone.map(({ entry }) => entry)))
    if (large.length === 0) return planned
    const rows = await reader.rows<LargeIndex>(indexesQuery, [large.map(({ oid }) => oid)])
    for (const { oid } of large) {
      const own = rows.filter(({ table }) => Number(table) === oid)
      if (own.length > 0) planned.#byTable.set(oid, own)
    }
    return planned
  }

  private constructor(task: DatabaseTask, lone: ReadonlySet<string>) {
    this.#task = task
    this.#lone = lone
  }

  /** The rows of the table are committed. */
  begin({ oid }: SourceTable): void {
    const own = this.#byTable.get(oid)
    if (own === undefined || this.#failure !== undefined) return
    this.#waiting.push(...own)
    const free = this.#task.spec.tablesAtOnce - this.#working.length
    for (let more = Math.min(free, own.length); more > 0; more--) this.#work()
  }

  #work(): void {
    const working = this.#build()
      .catch((error: unknown) => {
        this.#failure ??= error
        this.#waiting.length = 0
      })
      .finally(() => {
        this.#working = this.#working.filter((one) => one !== working)
      })
    this.#working.push(working)
  }

  async #build(): Promise<void> {
    await using target = await openTarget(this.#task)
    await target.run('SET synchronous_commit = off')
    for (let one = this.#waiting.shift(); one !== undefined; one = this.#waiting.shift()) {
      this.#ending.signal.throwIfAborted()
      await run(target, one, one.definition ?? '')
    }
  }

  /** Resolves when all started indexes are built and those of keys are attached. It may be called again. */
  end(): Promise<void> {
    this.#ended ??= this.#finish()
    return this.#ended
  }

  async #finish(): Promise<void> {
    while (this.#working.length > 0) await Promise.all(this.#working)
    if (this.#failure !== undefined) throw this.#failure
    const keys = [...this.#byTable.values()].flat().filter(({ key }) => key !== null)
    if (keys.length === 0) return
    await using target = await openTarget(this.#task)
    for (const one of keys) {
      const table = `${quoteName(one.schema)}.${quoteName(one.table_name)}`
      const name = quoteName(one.name)
      await run(
        target,
        one,
        `ALTER TABLE ONLY ${table} ADD CONSTRAINT ${name} ${one.key} USING INDEX ${name}`,
      )
    }
  }

  /** The rest of a dump's list, first the entries to restore one by one, then those to restore together. */
  leftOf(lines: readonly string[]): {
    readonly lone: readonly string[]
    readonly others: readonly string[]
  } {
    const built = new Set([...this.#byTable.values()].flat().map(({ entry }) => entry))
    const left = lines.filter((line) => !built.has(entryNumbers(line)))
    const isLone = (line: string): boolean => this.#lone.has(entryNumbers(line))
    return { lone: left.filter(isLone), others: left.filter((line) => !isLone(line)) }
  }

  /**
   * Keeps only indexes that the dump has too. The dump may have been made while an index was created or dropped.
   */
  restrictTo(lines: readonly string[]): void {
    const dumped = new Set(lines.map(entryNumbers))
    for (const [table, own] of this.#byTable) {
      this.#byTable.set(
        table,
        own.filter(({ entry, definition }) => definition !== null && dumped.has(entry)),
      )
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#waiting.length = 0
    this.#ending.abort()
  }
}

async function run(
  target: Session,
  { schema, name }: LargeIndex,
  statement: string,
): Promise<void> {
  try {
    await target.run(statement)
  } catch (error) {
    if (isTransient(error) || codeOf(error) === undefined) throw error
    const message = error instanceof Error ? error.message : String(error)
    throw new DatabaseEngineError('refused', `Index ${schema}.${name}: ${message}`, {
      cause: error,
    })
  }
}
