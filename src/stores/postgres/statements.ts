/**
 * Every text this store sends to PostgreSQL, by name; the named ones are prepared once per connection. The
 * same names stand in the SQLite dialect where the statement has the same purpose.
 */

import { serverStarted } from '../restored.ts'

/** A text under the name by which the server keeps it prepared. */
export interface Statement {
  readonly name: string
  readonly text: string
}

function named<T extends Readonly<Record<string, string>>>(
  texts: T,
): { readonly [K in keyof T]: Statement } {
  const entries = Object.entries(texts).map(([name, text]) => [name, { name, text }])
  // Same keys as `texts`.
  return Object.fromEntries(entries) as { readonly [K in keyof T]: Statement }
}

const resource = 'key, id, type, tracked, unique_key, etag, generation, document'
const operation = 'id, resource_key, document, running, ended_at'
const byKey = `SELECT ${resource} FROM resources WHERE key = $1`
/** The length of a text is known without reading it. */
const byKeys = `SELECT ${resource.replace(
  'document',
  'CASE WHEN octet_length(document) <= 65536 THEN document END',
)} FROM resources WHERE key = ANY($1)`

const record = `INSERT INTO events
      (at, key, action, status, principal_id, caller, correlation_id, operation_id, subscription, detail)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`

const range = 'key > $1 AND key < $2'
/** The page of a range, and the key itself before it. Two joined scans: one scan with OR would not use the index. */
function listOf(filter: string): string {
  return `SELECT ${resource} FROM (
      (SELECT ${resource} FROM resources WHERE ${range}${filter} ORDER BY key LIMIT $3)
      UNION ALL (SELECT ${resource} FROM resources WHERE key = $4${filter})
    ) AS found ORDER BY key LIMIT $3`
}
/**
 * Like a list, but ends with the row whose document brings the sum to $5 bytes. The length of a text is known without
 * reading it, so documents beyond the limit are not read.
 */
function pageOf(filter: string): string {
  return `SELECT ${resource} FROM (
      SELECT *, coalesce(sum(octet_length(document)) OVER (
          ORDER BY key ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS bytes_before
      FROM (${listOf(filter)}) AS listed
    ) AS page WHERE bytes_before < $5 ORDER BY key`
}
/** Ordered so that the planner uses the index; otherwise it expects to find enough rows anywhere in the table. */
function countOf(filter: string): string {
  return `SELECT count(*) FROM (
      SELECT 1 FROM ((SELECT 1 FROM resources WHERE ${range}${filter} ORDER BY key LIMIT $3)
      UNION ALL (SELECT 1 FROM resources WHERE key = $4${filter})) AS found LIMIT $3) AS counted`
}

/** The database's clock in milliseconds: the one all replicas share. */
const clock = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

export const queries = named({
  get: byKey,
  getAll: byKeys,
  keyOfUnique: 'SELECT key FROM resources WHERE unique_key = $1',
  listUnique: `SELECT unique_key, key FROM resources WHERE unique_key > $1 AND unique_key < $2
    ORDER BY unique_key LIMIT $3`,
  listAll: listOf(''),
  listTracked: listOf(' AND tracked = 1'),
  listByType: listOf(' AND type = $5'),
  listByTypeTracked: listOf(' AND type = $5 AND tracked = 1'),
  pageAll: pageOf(''),
  pageTracked: pageOf(' AND tracked = 1'),
  pageByType: pageOf(' AND type = $6'),
  pageByTypeTracked: pageOf(' AND type = $6 AND tracked = 1'),
  countAll: countOf(''),
  countTracked: countOf(' AND tracked = 1'),
  countByType: countOf(' AND type = $5'),
  countByTypeTracked: countOf(' AND type = $5 AND tracked = 1'),
  operation: `SELECT ${operation} FROM operations WHERE id = $1`,
  runningOperation: `SELECT ${operation} FROM operations WHERE resource_key = $1 AND running = 1`,
  /** The earliest due time of unclaimed work, and the remaining milliseconds of the lease that ends first. */
  nextDue: `SELECT
      (SELECT due_at FROM work WHERE lease_owner IS NULL ORDER BY due_at LIMIT 1),
      (SELECT lease_until - ${clock} FROM work WHERE lease_owner IS NOT NULL
        ORDER BY lease_until LIMIT 1)`,
  feedPositions: 'SELECT name, position FROM feeds WHERE name = ANY($1)',
  feedPositionsOfServer: `SELECT name, position, started FROM
    (SELECT ${serverStarted} AS started) AS server LEFT JOIN feeds ON name = ANY($1)`,
  feedSince: `SELECT position, key FROM feed_entries WHERE name = $1 AND position > $2
    ORDER BY position LIMIT $3`,
  ping: 'SELECT 1',
})

export const changes = named({
  lockForChange: `${byKey} FOR UPDATE`,
  lockForShare: `${byKey} FOR SHARE`,
  insert: `INSERT INTO resources (${resource}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
  update: `UPDATE resources
    SET id = $1, type = $2, tracked = $3, unique_key = $4, etag = $5, generation = $6, document = $7
    WHERE key = $8 AND etag = $9`,
  remove: 'DELETE FROM resources WHERE key = $1 AND etag = $2',
  putOperation: `INSERT INTO operations (${operation}) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (id) DO UPDATE SET resource_key = excluded.resource_key,
      document = excluded.document, running = excluded.running, ended_at = excluded.ended_at`,
  // Claimed work keeps its due time: a new wish waits in `wanted_at` until the claim is given back.
  schedule: `INSERT INTO work AS held (key, due_at, fence, attempt) VALUES ($1, $2, 0, 0)
    ON CONFLICT (key) DO UPDATE SET
      due_at = CASE WHEN held.lease_owner IS NULL THEN excluded.due_at ELSE held.due_at END,
      wanted_at = CASE WHEN held.lease_owner IS NULL THEN NULL ELSE excluded.due_at END,
      attempt = 0`,
  unschedule: 'DELETE FROM work WHERE key = $1',
  record,
  assertClaim: 'SELECT 1 FROM work WHERE key = $1 AND fence = $2 AND lease_owner IS NOT NULL',
  lockClaim: `SELECT 1 FROM work WHERE key = $1 AND fence = $2 AND lease_owner IS NOT NULL
    FOR UPDATE`,
  /** Outside a transaction it would be released at once, so like a read it may be sent together with BEGIN. */
  alone: 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))',
  appendToFeed: `WITH advanced AS (
      INSERT INTO feeds AS held (name, position) VALUES ($1, $2)
      ON CONFLICT (name) DO UPDATE SET position = held.position + excluded.position
      RETURNING position)
    INSERT INTO feed_entries (name, position, key)
    SELECT $1, advanced.position - $2 + number, key
    FROM advanced, unnest($3::text[]) WITH ORDINALITY AS entry (key, number)`,
  notifyWork: `SELECT pg_notify('armature_work', '')`,
  // `$2` is the caller's time and decides what is due; leases use the database's clock. A takeover keeps a wish for a
  // time after now; this claim serves an earlier one.
  claim: `WITH due AS (
      SELECT key FROM work
      WHERE due_at <= $2 AND (lease_owner IS NULL OR lease_until <= ${clock})
      ORDER BY due_at, key LIMIT $4 FOR UPDATE SKIP LOCKED)
    UPDATE work SET lease_owner = $1, lease_until = ${clock} + $3::bigint,
      fence = nextval('fences'), wanted_at = CASE WHEN wanted_at > $2 THEN wanted_at END
    FROM due WHERE work.key = due.key
    RETURNING work.key, work.fence, work.attempt, work.due_at`,
  renew: `UPDATE work SET lease_until = ${clock} + $1::bigint
    WHERE key = $2 AND fence = $3 AND lease_owner IS NOT NULL`,
  // A wish during the claim has set `attempt` to 0, and this failure concerns the time before it.
  release: `UPDATE work SET due_at = least($1, wanted_at),
      attempt = CASE WHEN $2 = 1 AND wanted_at IS NULL THEN attempt + 1 ELSE 0 END,
      wanted_at = NULL, lease_owner = NULL, lease_until = NULL
    WHERE key = $3 AND fence = $4 AND lease_owner IS NOT NULL`,
  hasten: `UPDATE work SET due_at = $1 WHERE key IN (
      SELECT key FROM work WHERE due_at > $2 AND lease_owner IS NULL FOR UPDATE SKIP LOCKED)`,
  sweepOperations: `DELETE FROM operations WHERE id IN (
      SELECT id FROM operations WHERE running = 0 AND ended_at < $1 ORDER BY ended_at LIMIT $2
      FOR UPDATE SKIP LOCKED)`,
})

const atPositions = new Map<number, Statement>()

/**
 * Like `record`, and fails where one of so many feeds stands elsewhere than expected: no statement of its own is sent for
 * that. The server itself ends the transaction then, so a commit may be on its way before the answer.
 */
export function recordAtPositions(feeds: number): Statement {
  const known = atPositions.get(feeds)
  if (known !== undefined) return known
  // A feed that nothing was appended to has no row.
  const stands = Array.from(
    { length: feeds },
    (_, at) =>
      `coalesce((SELECT position FROM feeds WHERE name = $${11 + 2 * at}), 0) = $${12 + 2 * at}`,
  )
  const text = `${record} RETURNING 1 / CASE WHEN ${stands.join(' AND ')} THEN 1 ELSE 0 END`
  const made = { name: `recordAtPositions${feeds}`, text }
  atPositions.set(feeds, made)
  return made
}

export const transactions = {
  begin: 'BEGIN ISOLATION LEVEL READ COMMITTED',
  /** Every statement after it sees the state that the first one saw. */
  beginSnapshot: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
  commit: 'COMMIT',
  rollback: 'ROLLBACK',
} as const

/** Sent on a connection of its own. The channel is that of `notifyWork`. */
export const listen = 'LISTEN armature_work'

export const opening = {
  encoding: `SELECT current_setting('server_encoding'), current_setting('synchronous_commit')`,
  begin: 'BEGIN',
  /** Only one process migrates at a time. The number identifies this program's lock. */
  lock: 'SELECT pg_advisory_xact_lock(7305808869231583)',
  tables: [
    `CREATE TABLE IF NOT EXISTS store_migrations (
       area text COLLATE "C" NOT NULL, number bigint NOT NULL, PRIMARY KEY (area, number))`,
    `CREATE TABLE IF NOT EXISTS store_settings (
       name text COLLATE "C" NOT NULL PRIMARY KEY, value text COLLATE "C" NOT NULL)`,
  ],
  applied: 'SELECT area, number FROM store_migrations',
  apply: 'INSERT INTO store_migrations (area, number) VALUES ($1, $2)',
  settings: 'SELECT name, value FROM store_settings',
  remember: 'INSERT INTO store_settings (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING',
  commit: 'COMMIT',
} as const
