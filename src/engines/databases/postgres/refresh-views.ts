/**
 * Fills the materialized views of a target anew at the cutover, while nobody writes: several at once, each after those that it
 * reads. What it needs is opened ahead of that moment.
 */

import type { Session } from './connect.ts'
import { type DatabaseTask, openTarget, together } from './database-task.ts'

/** Views that read none of their own level. Only those that hold data. */
const levelsQuery = `
  WITH RECURSIVE depends (view, on_view) AS (
    SELECT r.ev_class, d.refobjid FROM pg_catalog.pg_rewrite r
    JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::regclass
      AND d.objid = r.oid AND d.refclassid = 'pg_catalog.pg_class'::regclass
      AND d.refobjid <> r.ev_class
    JOIN pg_catalog.pg_class c ON c.oid = d.refobjid AND c.relkind IN ('v', 'm')
  ), depth (view, level) AS (
    SELECT oid, 0 FROM pg_catalog.pg_class WHERE relkind IN ('v', 'm')
    UNION
    SELECT depends.view, depth.level + 1 FROM depends JOIN depth ON depth.view = depends.on_view
    WHERE depth.level < 100
  )
  SELECT pg_catalog.array_agg(name) AS names FROM (
    SELECT pg_catalog.format('%I.%I', n.nspname, c.relname) AS name, max(depth.level) AS level
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    JOIN depth ON depth.view = c.oid
    WHERE c.relkind = 'm' AND c.relispopulated GROUP BY 1
  ) views GROUP BY level ORDER BY level`

export class ViewRefresh implements AsyncDisposable {
  readonly #task: DatabaseTask
  readonly #levels: readonly (readonly string[])[]
  readonly #sessions: readonly Session[]
  readonly #opened: AsyncDisposableStack

  static async open(task: DatabaseTask, target: Session): Promise<ViewRefresh> {
    await using opening = new AsyncDisposableStack()
    const rows = await target.rows<{ names: readonly string[] }>(levelsQuery)
    const levels = rows.map(({ names }) => names)
    const count = Math.min(task.spec.tablesAtOnce, Math.max(0, ...levels.map((one) => one.length)))
    const sessions = await together(
      Array.from({ length: count }, async () => {
        const session = opening.use(await openTarget(task))
        // A later commit takes all to the disk.
        await session.run('SET synchronous_commit = off')
        return session
      }),
    )
    return new ViewRefresh({ task, levels, sessions, opened: opening.move() })
  }

  private constructor(given: {
    readonly task: DatabaseTask
    readonly levels: readonly (readonly string[])[]
    readonly sessions: readonly Session[]
    readonly opened: AsyncDisposableStack
  }) {
    this.#task = given.task
    this.#levels = given.levels
    this.#sessions = given.sessions
    this.#opened = given.opened
  }

  async run(): Promise<void> {
    for (const level of this.#levels) {
      const queue = [...level]
      await together(
        this.#sessions.map(async (session) => {
          for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
            this.#task.signal.throwIfAborted()
            await session.run(`REFRESH MATERIALIZED VIEW ${name}`)
          }
        }),
      )
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#opened.disposeAsync()
  }
}
