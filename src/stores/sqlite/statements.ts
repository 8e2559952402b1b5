/**
 * Every text this store sends to SQLite, by name. Nothing here runs; `store.ts` and `open.ts` do that. The
 * same names stand in the PostgreSQL dialect where the statement has the same purpose.
 */

const resource = 'key, id, type, tracked, unique_key, etag, generation, document'
const operation = 'id, resource_key, document, running, ended_at'

// The index is named because the planner has no statistics here and may prefer the primary key.
const byType = 'FROM resources INDEXED BY resources_by_type WHERE type = ? AND'
const tracked = 'FROM resources INDEXED BY resources_tracked WHERE tracked = 1 AND'
const range = 'key > ? AND key < ?'

export const queries = {
  get: `SELECT ${resource} FROM resources WHERE key = ?`,
  keyOfUnique: 'SELECT key FROM resources WHERE unique_key = ?',
  listUnique: `SELECT unique_key, key FROM resources WHERE unique_key > ? AND unique_key < ?
    ORDER BY unique_key LIMIT ?`,
  listAll: `SELECT ${resource} FROM resources WHERE ${range} ORDER BY key LIMIT ?`,
  listTracked: `SELECT ${resource} ${tracked} ${range} ORDER BY key LIMIT ?`,
  listByType: `SELECT ${resource} ${byType} ${range} ORDER BY key LIMIT ?`,
  listByTypeTracked: `SELECT ${resource} ${byType} ${range} AND tracked = 1 ORDER BY key LIMIT ?`,
  countAll: `SELECT count(*) FROM (SELECT 1 FROM resources WHERE ${range} LIMIT ?)`,
  countTracked: `SELECT count(*) FROM (SELECT 1 ${tracked} ${range} LIMIT ?)`,
  countByType: `SELECT count(*) FROM (SELECT 1 ${byType} ${range} LIMIT ?)`,
  countByTypeTracked: `SELECT count(*) FROM (SELECT 1 ${byType} ${range} AND tracked = 1 LIMIT ?)`,
  operation: `SELECT ${operation} FROM operations WHERE id = ?`,
  runningOperation: `SELECT ${operation} FROM operations WHERE resource_key = ? AND running = 1`,
  claimable: `SELECT key, attempt FROM work
    WHERE due_at <= ? AND (lease_owner IS NULL OR lease_until <= ?) ORDER BY due_at, key LIMIT ?`,
  nextDue: 'SELECT due_at FROM work WHERE lease_owner IS NULL ORDER BY due_at LIMIT 1',
  nextLeaseEnd:
    'SELECT lease_until FROM work WHERE lease_owner IS NOT NULL ORDER BY lease_until LIMIT 1',
  anyAfter: 'SELECT 1 FROM work WHERE due_at > ? AND lease_owner IS NULL LIMIT 1',
  anySwept: 'SELECT 1 FROM operations WHERE running = 0 AND ended_at < ? LIMIT 1',
  feedPositions: 'SELECT name, position FROM feeds',
  feedSince:
    'SELECT position, key FROM feed_entries WHERE name = ? AND position > ? ORDER BY position LIMIT ?',
  ping: 'SELECT 1',
} as const

export const changes = {
  insert: `INSERT INTO resources (${resource}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  update: `UPDATE resources
    SET id = ?, type = ?, tracked = ?, unique_key = ?, etag = ?, generation = ?, document = ?
    WHERE key = ? AND etag = ?`,
  // Most writes do not change indexed columns; setting them anyway would rewrite three index entries.
  updateDocument: `UPDATE resources SET id = ?, etag = ?, generation = ?, document = ?
    WHERE key = ? AND etag = ? AND type = ? AND tracked = ? AND unique_key IS ?`,
  remove: 'DELETE FROM resources WHERE key = ? AND etag = ?',
  putOperation: `INSERT INTO operations (${operation}) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET resource_key = excluded.resource_key,
      document = excluded.document, running = excluded.running, ended_at = excluded.ended_at`,
  // Claimed work keeps its due time: a new wish waits in `wanted_at` until the claim is given back.
  schedule: `INSERT INTO work (key, due_at, fence, attempt) VALUES (?, ?, 0, 0)
    ON CONFLICT (key) DO UPDATE SET
      due_at = CASE WHEN lease_owner IS NULL THEN excluded.due_at ELSE due_at END,
      wanted_at = CASE WHEN lease_owner IS NULL THEN NULL ELSE excluded.due_at END,
      attempt = 0`,
  unschedule: 'DELETE FROM work WHERE key = ?',
  record: `INSERT INTO events
    (at, key, action, status, principal_id, caller, correlation_id, operation_id, subscription, detail)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  assertClaim: 'SELECT 1 FROM work WHERE key = ? AND fence = ? AND lease_owner IS NOT NULL',
  advanceFeed: `INSERT INTO feeds (name, position) VALUES (?, ?)
    ON CONFLICT (name) DO UPDATE SET position = excluded.position`,
  appendToFeed: 'INSERT INTO feed_entries (name, position, key) VALUES (?, ?, ?)',
  // One counter for all work, so that a fence never repeats, even after work was deleted in between.
  takeFence: 'UPDATE fences SET value = value + 1 RETURNING value',
  // A takeover keeps a wish for a time after now; this claim serves an earlier one.
  claim: `UPDATE work SET lease_owner = ?1, lease_until = ?2, fence = ?3,
      wanted_at = CASE WHEN wanted_at > ?4 THEN wanted_at END WHERE key = ?5`,
  renew: `UPDATE work SET lease_until = ?
    WHERE key = ? AND fence = ? AND lease_owner IS NOT NULL`,
  // A wish during the claim has set `attempt` to 0, and this failure concerns the time before it.
  release: `UPDATE work SET due_at = min(?1, coalesce(wanted_at, ?1)),
      attempt = CASE WHEN ?2 = 1 AND wanted_at IS NULL THEN attempt + 1 ELSE 0 END,
      wanted_at = NULL, lease_owner = NULL, lease_until = NULL
    WHERE key = ?3 AND fence = ?4 AND lease_owner IS NOT NULL`,
  hasten: 'UPDATE work SET due_at = ? WHERE due_at > ? AND lease_owner IS NULL',
  sweepOperations: `DELETE FROM operations WHERE id IN (
      SELECT id FROM operations WHERE running = 0 AND ended_at < ? ORDER BY ended_at LIMIT ?)`,
} as const

export const batches = {
  begin: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
  rollback: 'ROLLBACK',
  savepoint: 'SAVEPOINT work',
  release: 'RELEASE work',
  rollbackTo: 'ROLLBACK TO work',
} as const

export const snapshots = { begin: 'BEGIN', checkpoint: 'PRAGMA wal_checkpoint(PASSIVE)' } as const

export const opening = {
  /** Held open for the lifetime of the process; the system releases the lock with the process, however it ends. */
  holdLock: ['PRAGMA journal_mode = DELETE', 'PRAGMA locking_mode = EXCLUSIVE', 'BEGIN EXCLUSIVE'],
  /** An answered write survives a power failure: every commit flushes the log. */
  writer: [
    'PRAGMA journal_mode = WAL',
    'PRAGMA synchronous = FULL',
    'PRAGMA foreign_keys = ON',
    'PRAGMA busy_timeout = 5000',
    'PRAGMA temp_store = MEMORY',
    'PRAGMA cache_size = -32768',
    // In pages, 256 MiB of log: a commit copies the log itself only where `checkpoints.ts` could not.
    'PRAGMA wal_autocheckpoint = 65536',
    'PRAGMA journal_size_limit = 67108864',
  ],
  copier: ['PRAGMA busy_timeout = 5000', 'PRAGMA synchronous = FULL'],
  reader: [
    'PRAGMA busy_timeout = 5000',
    'PRAGMA cache_size = -16384',
    'PRAGMA mmap_size = 268435456',
  ],
  /** Only this process uses the file, so the holders of these claims are gone. */
  dropLeases: `UPDATE work SET due_at = min(due_at, coalesce(wanted_at, due_at)), wanted_at = NULL,
    lease_owner = NULL, lease_until = NULL WHERE lease_owner IS NOT NULL`,
  tables: [
    `CREATE TABLE IF NOT EXISTS store_migrations (
       area TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (area, number))`,
    'CREATE TABLE IF NOT EXISTS store_settings (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL)',
  ],
  /** A file of another program must not be taken for an empty store. */
  foreignTables: `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
    AND NOT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'store_migrations') LIMIT 1`,
  anyTable: 'SELECT 1 FROM sqlite_schema LIMIT 1',
  applied: 'SELECT area, number FROM store_migrations',
  apply: 'INSERT INTO store_migrations (area, number) VALUES (?, ?)',
  settings: 'SELECT name, value FROM store_settings',
  remember: 'INSERT INTO store_settings (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING',
} as const
