/** The tables of a store on disk, read without the server in one transaction. Only reads. */

import { DatabaseSync } from 'node:sqlite'

interface StoredResource {
  readonly key: string
  readonly document: string
}
interface StoredOperation {
  readonly id: string
  readonly resource_key: string
  readonly document: string
  readonly running: number
}
export interface StoredEvent {
  readonly key: string
  readonly action: string
  readonly status: string
  readonly correlation_id: string
  readonly operation_id: string | null
  readonly detail: string
}
export interface Snapshot {
  readonly resources: readonly StoredResource[]
  readonly operations: readonly StoredOperation[]
  /** In the order in which they were recorded, without those of refused requests. */
  readonly events: readonly StoredEvent[]
  /** Keys with work to do. */
  readonly work: ReadonlySet<string>
}

const texts = {
  resources: `SELECT key, document FROM resources`,
  operations: 'SELECT id, resource_key, document, running FROM operations',
  events: `SELECT key, action, status, correlation_id, operation_id, detail FROM events
    WHERE status <> 'Failed' OR operation_id IS NOT NULL ORDER BY number`,
  work: 'SELECT key FROM work',
} as const

export function snapshotOfSqlite(path: string): Snapshot {
  const db = new DatabaseSync(path, { timeout: 5000 })
  try {
    db.exec('BEGIN')
    const all = (text: string): unknown => db.prepare(text).all()
    return shape(all(texts.resources), all(texts.operations), all(texts.events), all(texts.work))
  } finally {
    db.close()
  }
}

export async function snapshotOfPostgres(url: string): Promise<Snapshot> {
  const { Client } = (await import('pg')).default
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const all = async (text: string): Promise<unknown> => (await client.query(text)).rows
    return shape(
      await all(texts.resources),
      await all(texts.operations),
      await all(texts.events),
      await all(texts.work),
    )
  } finally {
    await client.end()
  }
}

/** The process ids of a server's sessions, to kill them one by one. */
export async function sessionsOf(url: string): Promise<readonly number[]> {
  const { Client } = (await import('pg')).default
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rows } = await client.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'
         AND datname = current_database() AND pid <> pg_backend_pid()`,
    )
    return rows.map(({ pid }) => pid)
  } finally {
    await client.end()
  }
}

/** The columns are those of the statements above. */
function shape(resources: unknown, operations: unknown, events: unknown, work: unknown): Snapshot {
  return {
    resources: resources as readonly StoredResource[],
    operations: (operations as readonly StoredOperation[]).map((row) => ({
      ...row,
      running: Number(row.running),
    })),
    events: events as readonly StoredEvent[],
    work: new Set((work as readonly { key: string }[]).map(({ key }) => key)),
  }
}
