/**
 * Logical replication, piece by piece: replica identities, publication, slot with its snapshot, subscription.
 * Every step finds what an earlier try has left; nothing here decides when.
 */

import type { MigrationSpec } from '../engine.ts'
import { readTables, type SourceTable } from './catalog.ts'
import {
  codeOf,
  connectionWord,
  isTransient,
  quoteName,
  quoteText,
  runSecretly,
  type Session,
} from './connect.ts'
import { type DatabaseTask, nameOf, tell } from './database-task.ts'
import type { ReplacedIdentity, RowCounts } from './record.ts'

/** A transaction's view of the source that others can share while this is held. */
export interface Snapshot extends AsyncDisposable {
  readonly name: string
}

/**
 * A lock that is waited for holds up all that comes behind it: rather often than long. But a server ends its own vacuum of a table
 * for whoever has waited for its `deadlock_timeout`, a second where nobody has set it.
 */
const identityLock = '1200ms'
const identityAttemptsMax = 60
const identityPauseMilliseconds = 500
const noSuchTable = '42P01'
const lockNotAvailable = '55P03'

/**
 * An UPDATE on a published table without replica identity fails in the source's own application (facts A.7,
 * 1), so they get one before the publication. What is to be put back is written down first. One that another
 * migration has given is ours as well: who ends last puts it back.
 */
export async function setIdentities(task: DatabaseTask, source: Session): Promise<void> {
  const ofOthers = new Set(
    (
      await source.rows<{ oid: string }>(
        `SELECT DISTINCT r.prrelid::text AS oid FROM pg_catalog.pg_publication_rel r
         JOIN pg_catalog.pg_publication p ON p.oid = r.prpubid
         WHERE p.pubname LIKE 'mig\\_%' AND p.pubname <> $1`,
        [nameOf(task)],
      )
    ).map(({ oid }) => Number(oid)),
  )
  const tables = (await readTables(source)).filter(({ replicated }) => replicated)
  const lacking = tables.filter((table) => table.identityMissing)
  const shared = tables.filter(
    ({ identity, hasKey, oid }) => identity === 'f' && !hasKey && ofOthers.has(oid),
  )
  const known = new Set(task.record.identities.map(({ table }) => table))
  const replaced: readonly ReplacedIdentity[] = [
    ...lacking.map(({ name, identity }) => ({ table: name, previous: identity })),
    ...shared.map(({ name }) => ({ table: name, previous: 'd' })),
  ].filter(({ table }) => !known.has(table))
  if (replaced.length > 0) {
    task.record.identities = [...task.record.identities, ...replaced]
    task.save()
  }
  for (const { name } of lacking) await setIdentity(task, source, name)
}

async function setIdentity(task: DatabaseTask, source: Session, table: string): Promise<void> {
  await withShortLock(
    source,
    () => source.run(`ALTER TABLE ONLY ${table} REPLICA IDENTITY FULL`),
    () => {
      task.signal.throwIfAborted()
      tell(task, { message: `Waiting for a moment in which nobody uses ${table}.` })
    },
  )
}

/** Runs them in a transaction that asks for its locks often, and not for long. */
async function withShortLock(
  session: Session,
  statements: () => Promise<void>,
  onWait: () => void = () => undefined,
  attemptsMax = identityAttemptsMax,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await session.run(`BEGIN; SET LOCAL lock_timeout = '${identityLock}'`)
      await statements()
      await session.run('COMMIT')
      return
    } catch (error) {
      await session.run('ROLLBACK')
      if (codeOf(error) !== lockNotAvailable || attempt === attemptsMax) throw error
      onWait()
    }
    await new Promise((done) => setTimeout(done, identityPauseMilliseconds))
  }
}

/** The words of a server that does not let something be done, now or later; an event trigger of its own may forbid it. */
export function refusalOf(error: unknown): string | undefined {
  return codeOf(error) === undefined || isTransient(error) || !(error instanceof Error)
    ? undefined
    : error.message
}

const replacedIdentities = `SELECT t AS name FROM pg_catalog.unnest($1::pg_catalog.text[]) t
  JOIN pg_catalog.pg_class c ON c.oid = pg_catalog.to_regclass(t)
  WHERE c.relreplident = 'f' AND NOT EXISTS (
    SELECT FROM pg_catalog.pg_publication_rel r JOIN pg_catalog.pg_publication p ON p.oid = r.prpubid
    WHERE r.prrelid = c.oid AND p.pubname LIKE 'mig\\_%')`

async function stillReplaced(
  session: Session,
  tables: readonly string[],
): Promise<readonly string[]> {
  if (tables.length === 0) return []
  const rows = await session.rows<{ name: string }>(replacedIdentities, [tables])
  return rows.map(({ name }) => name)
}

async function putBack(
  session: Session,
  tables: readonly string[],
  previous: ReadonlyMap<string, string>,
): Promise<void> {
  const statements = tables.map((table) => {
    const identity = previous.get(table) === 'n' ? 'NOTHING' : 'DEFAULT'
    return `ALTER TABLE ONLY ${table} REPLICA IDENTITY ${identity}`
  })
  if (statements.length > 0) await session.run(statements.join('; '))
}

/**
 * Puts back what `setIdentities` changed, on whichever side. A table that is gone is fine; one that is published
 * still, by another migration, keeps what that needs. Several `together` where nobody else waits for them. With `onWait` a
 * table in use is waited for without end. Where the server refuses one, the others are done: returns what was refused, in words.
 */
export async function restoreIdentities(
  session: Session,
  identities: readonly ReplacedIdentity[],
  {
    together = 1,
    onWait,
  }: { readonly together?: number; readonly onWait?: (tables: string) => void } = {},
): Promise<readonly string[]> {
  const refused: string[] = []
  const previous = new Map(identities.map((one) => [one.table, one.previous]))
  const tables = [...previous.keys()]
  for (let at = 0; at < tables.length; at += together) {
    const some = await stillReplaced(session, tables.slice(at, at + together))
    if (some.length === 0) continue
    // Whoever publishes it waits for this lock, and looks at the identity after.
    const restore = async (): Promise<void> => {
      await session.run(
        `LOCK TABLE ${some.map((table) => `ONLY ${table}`).join(', ')} IN ACCESS EXCLUSIVE MODE`,
      )
      await putBack(session, await stillReplaced(session, some), previous)
    }
    try {
      const wait = onWait && (() => onWait(some.join(', ')))
      await withShortLock(session, restore, wait, onWait && Infinity)
    } catch (error) {
      const words = refusalOf(error)
      if (words === undefined) throw error
      if (some.length > 1) {
        const each = identities.filter(({ table }) => some.includes(table))
        refused.push(...(await restoreIdentities(session, each, onWait && { onWait })))
      } else if (codeOf(error) !== noSuchTable) refused.push(`${some.join(', ')} (${words})`)
    }
  }
  return refused
}

/** Puts back at once, and without waiting, what `restoreIdentities` would one by one; nothing where somebody uses one of them. */
export async function restoreUnused(
  session: Session,
  identities: readonly ReplacedIdentity[],
): Promise<void> {
  const previous = new Map(identities.map((one) => [one.table, one.previous]))
  const tables = await stillReplaced(session, [...previous.keys()])
  if (tables.length === 0) return
  try {
    await session.run(
      `BEGIN; LOCK TABLE ${tables.map((table) => `ONLY ${table}`).join(', ')} IN ACCESS EXCLUSIVE MODE NOWAIT`,
    )
    await putBack(session, await stillReplaced(session, tables), previous)
    await session.run('COMMIT')
  } catch (error) {
    if (codeOf(error) !== lockNotAvailable && refusalOf(error) === undefined) throw error
    await session.run('ROLLBACK')
  }
}

/** What a server refused to put back. */
export function identitiesInWords(
  side: 'source' | 'target',
  refused: readonly string[],
): readonly string[] {
  return refused.map((table) => `the replica identity of the ${side}'s ${table}, which stays FULL`)
}

/** Partitions are published one by one. */
export async function createPublication(
  task: DatabaseTask,
  source: Session,
  tables: readonly SourceTable[],
): Promise<void> {
  const name = quoteName(nameOf(task))
  const published = tables
    .filter(({ replicated }) => replicated)
    .map((table) => `ONLY ${table.name}`)
  const list = published.length === 0 ? '' : ` FOR TABLE ${published.join(', ')}`
  await withShortLock(
    source,
    () => source.run(`DROP PUBLICATION IF EXISTS ${name}; CREATE PUBLICATION ${name}${list}`),
    () => {
      task.signal.throwIfAborted()
      tell(task, { message: 'Waiting for a moment in which nobody alters a table.' })
    },
  )
}

/** Those of `tables` that the publication has not. */
export async function unpublished(
  task: DatabaseTask,
  source: Session,
  tables: readonly string[],
): Promise<readonly string[]> {
  const rows = await source.rows<{ schema: string; name: string }>(
    'SELECT schemaname::text AS schema, tablename::text AS name FROM pg_catalog.pg_publication_tables WHERE pubname = $1',
    [nameOf(task)],
  )
  const published = new Set(
    rows.map(({ schema, name }) => `${quoteName(schema)}.${quoteName(name)}`),
  )
  return tables.filter((table) => !published.has(table))
}

/** Puts tables into the publication, or takes them out. One at a time: no lock is held while another is waited for. */
export async function publish(
  task: DatabaseTask,
  source: Session,
  tables: readonly string[],
  how: 'ADD' | 'DROP',
): Promise<void> {
  const outside = await unpublished(task, source, tables)
  for (const table of tables.filter((one) => outside.includes(one) === (how === 'ADD'))) {
    const statement = `ALTER PUBLICATION ${quoteName(nameOf(task))} ${how} TABLE ONLY ${table}`
    await withShortLock(
      source,
      () => source.run(statement),
      () => task.signal.throwIfAborted(),
    )
  }
}

/** The slot keeps the source's log from here on; its snapshot shows the source as of exactly here. */
export async function createSlot(task: DatabaseTask, session: Session): Promise<Snapshot> {
  const answer = await session.rows<{ snapshot_name: string }>(
    // The older form of the option is understood by all versions.
    `CREATE_REPLICATION_SLOT ${quoteName(nameOf(task))} LOGICAL pgoutput EXPORT_SNAPSHOT`,
  )
  const [row] = answer
  if (row === undefined) throw new Error('the server made a slot and exported no snapshot')
  return {
    name: row.snapshot_name,
    [Symbol.asyncDispose]: async () => session[Symbol.asyncDispose](),
  }
}

/** Of all databases, since a slot waits for them all: the oldest few that are open for so long, in words. */
export async function openTransactions(source: Session, seconds = 0): Promise<string> {
  const text = await source.value(
    `SELECT pg_catalog.string_agg(what, ', ') FROM (
       SELECT pg_catalog.format('session %s of %s since %s', pid, usename, xact_start) AS what,
         xact_start AS since
       FROM pg_catalog.pg_stat_activity WHERE backend_xid IS NOT NULL
         AND xact_start <= pg_catalog.now() - $1 * interval '1 s'
       UNION ALL
       SELECT pg_catalog.format('prepared ''%s'' since %s', gid, prepared), prepared
       FROM pg_catalog.pg_prepared_xacts WHERE prepared <= pg_catalog.now() - $1 * interval '1 s'
       ORDER BY since LIMIT 3) oldest`,
    [seconds],
  )
  return text ?? ''
}

export async function exportSnapshot(session: Session): Promise<Snapshot> {
  await session.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  const name = await session.value('SELECT pg_catalog.pg_export_snapshot()')
  if (name === undefined) throw new Error('the server exported no snapshot')
  return { name, [Symbol.asyncDispose]: async () => session[Symbol.asyncDispose]() }
}

const connectSeconds = 10

/** As the target server connects to the source; kept in its catalog until the subscription is dropped. */
export function connectionText(spec: MigrationSpec, database: string, password: string): string {
  const { host, port } = spec.sourceFromTarget ?? spec.source
  return [
    `host=${connectionWord(host)}`,
    `port=${port}`,
    `user=${connectionWord(spec.source.user)}`,
    `password=${connectionWord(password)}`,
    `dbname=${connectionWord(database)}`,
    `sslmode=${spec.source.sslMode}`,
    ...(spec.authoritiesAtTarget === undefined || !spec.source.sslMode.startsWith('verify')
      ? []
      : [`sslrootcert=${connectionWord(spec.authoritiesAtTarget)}`]),
    `connect_timeout=${connectSeconds}`,
  ].join(' ')
}

/** Made without being enabled: counting starts in between. */
export async function createSubscription(
  task: DatabaseTask,
  target: Session,
  major: number,
): Promise<void> {
  const name = nameOf(task)
  const options = [
    'create_slot = false',
    `slot_name = ${quoteText(name)}`,
    'copy_data = false',
    'enabled = false',
    ...(major >= 14 ? ['streaming = on'] : []),
    ...(major >= 15 ? ['disable_on_error = true'] : []),
    // As the tables' owners, the default since 16, it would be stopped by row security that is forced on these.
    ...(major >= 16 && (await forcesRowSecurity(target)) ? ['run_as_owner = true'] : []),
  ]
  const connection = connectionText(task.spec, task.name, task.credentials.sourcePassword)
  await runSecretly(
    target,
    `CREATE SUBSCRIPTION ${quoteName(name)} CONNECTION ${quoteText(connection)}
     PUBLICATION ${quoteName(name)} WITH (${options.join(', ')})`,
  )
}

async function forcesRowSecurity(target: Session): Promise<boolean> {
  const forced = await target.value(
    'SELECT 1 FROM pg_catalog.pg_class WHERE relrowsecurity AND relforcerowsecurity LIMIT 1',
  )
  return forced !== undefined
}

/** The source's address and password as they are now, for a subscription that is there. */
export async function renewConnection(task: DatabaseTask, target: Session): Promise<void> {
  const name = nameOf(task)
  if (!(await hasSubscription(target, name))) return
  const connection = connectionText(task.spec, task.name, task.credentials.sourcePassword)
  const text = `ALTER SUBSCRIPTION ${quoteName(name)} CONNECTION ${quoteText(connection)}`
  await runSecretly(target, text)
}

const alterAttemptsMax = 20

/** Another session of ours may alter it at the same moment, and the target's own worker when a change fails: then once more. */
async function alterSubscription(
  task: DatabaseTask,
  target: Session,
  how: 'ENABLE' | 'DISABLE',
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await target.run(`ALTER SUBSCRIPTION ${quoteName(nameOf(task))} ${how}`)
      return
    } catch (error) {
      const isRaced = error instanceof Error && /tuple concurrently updated/.test(error.message)
      if (!isRaced || attempt === alterAttemptsMax) throw error
    }
    await new Promise((done) => setTimeout(done, releaseMilliseconds))
  }
}

export async function enableSubscription(task: DatabaseTask, target: Session): Promise<void> {
  await alterSubscription(task, target, 'ENABLE')
}

/** Ends the target's worker, which goes on from where it was with what it knows of tables read anew. */
async function restartSubscription(task: DatabaseTask, target: Session): Promise<void> {
  await alterSubscription(task, target, 'DISABLE')
  for (let look = 0; look < releaseAttemptsMax; look++) {
    const working = await target.value(
      `SELECT 1 FROM pg_catalog.pg_stat_subscription WHERE subname = $1 AND pid IS NOT NULL`,
      [nameOf(task)],
    )
    if (working === undefined) break
    await new Promise((done) => setTimeout(done, releaseMilliseconds))
  }
  await alterSubscription(task, target, 'ENABLE')
}

/** Has the target ask which tables are published. Those that are new to it are copied by its own workers where it is said. */
export async function refreshSubscription(
  task: DatabaseTask,
  target: Session,
  copy: boolean,
): Promise<void> {
  const name = quoteName(nameOf(task))
  await alterSubscription(task, target, 'ENABLE')
  await target.run(`ALTER SUBSCRIPTION ${name} REFRESH PUBLICATION WITH (copy_data = ${copy})`)
  if (!copy) await restartSubscription(task, target)
}

/** How many tables the target is still copying by itself. */
export async function tablesUnderWay(task: DatabaseTask, target: Session): Promise<number> {
  const count = await target.value(
    `SELECT pg_catalog.count(*) FROM pg_catalog.pg_subscription_rel r
     JOIN pg_catalog.pg_subscription s ON s.oid = r.srsubid WHERE s.subname = $1 AND r.srsubstate <> 'r'`,
    [nameOf(task)],
  )
  return Number(count ?? 0)
}

async function hasSubscription(target: Session, name: string): Promise<boolean> {
  const there = await target.value(
    `SELECT 1 FROM pg_catalog.pg_subscription s JOIN pg_catalog.pg_database d ON d.oid = s.subdbid
     WHERE d.datname = pg_catalog.current_database() AND s.subname = $1`,
    [name],
  )
  return there !== undefined
}

/** The subscription alone; the slot is the source's side of it. Absent is fine. */
export async function dropSubscription(target: Session, name: string): Promise<void> {
  if (!(await hasSubscription(target, name))) return
  // Without a slot it may be dropped in a transaction: one commit in the pause of a cutover.
  const subscription = `SUBSCRIPTION ${quoteName(name)}`
  await target.run(
    `ALTER ${subscription} DISABLE; ALTER ${subscription} SET (slot_name = NONE); DROP ${subscription}`,
  )
}

/**
 * A place in the source's log: when the target has confirmed it, it has all that was committed before. A commit of
 * our own puts that on the source's disk, from where it is sent.
 */
export async function markLog(task: DatabaseTask, source: Session): Promise<string> {
  await source.run(
    `SET synchronous_commit = on; SELECT pg_catalog.pg_logical_emit_message(true, 'migration', ${quoteText(task.migration)})`,
  )
  return (await source.value('SELECT pg_catalog.pg_current_wal_flush_lsn()::text')) ?? '0/0'
}

const releaseAttemptsMax = 100
const releaseMilliseconds = 50

/** Ends whoever reads from the slot, then drops it. Absent is fine. */
export async function dropSlot(source: Session, name: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const [slot] = await source.rows<{ pid: number | null }>(
      'SELECT active_pid AS pid FROM pg_catalog.pg_replication_slots WHERE slot_name = $1',
      [name],
    )
    if (slot === undefined) return
    if (slot.pid === null || attempt === releaseAttemptsMax) {
      await source.rows('SELECT pg_catalog.pg_drop_replication_slot($1)', [name])
      return
    }
    await source.rows('SELECT pg_catalog.pg_terminate_backend($1)', [slot.pid])
    await new Promise((done) => setTimeout(done, releaseMilliseconds))
  }
}

export async function dropPublication(source: Session, name: string): Promise<void> {
  await source.run(`DROP PUBLICATION IF EXISTS ${quoteName(name)}`)
}

const countColumns = `coalesce(sum(n_tup_ins), 0)::text AS inserts,
  coalesce(sum(n_tup_upd), 0)::text AS updates, coalesce(sum(n_tup_del), 0)::text AS deletes`

interface CountRow {
  readonly inserts: string
  readonly updates: string
  readonly deletes: string
}

const toCounts = (row: CountRow | undefined): RowCounts => ({
  inserts: Number(row?.inserts ?? 0),
  updates: Number(row?.updates ?? 0),
  deletes: Number(row?.deletes ?? 0),
})

/** Changed rows of published tables since the server began to count; rolled-back ones too. */
export async function sourceCounts(source: Session, publication: string): Promise<RowCounts> {
  const [row] = await source.rows<CountRow>(
    `SELECT ${countColumns} FROM pg_catalog.pg_stat_user_tables s WHERE s.relid IN (
       SELECT r.prrelid FROM pg_catalog.pg_publication_rel r
       JOIN pg_catalog.pg_publication p ON p.oid = r.prpubid WHERE p.pubname = $1)`,
    [publication],
  )
  return toCounts(row)
}

/** Changed rows of the subscription's tables. */
export async function targetCounts(target: Session, subscription: string): Promise<RowCounts> {
  const [row] = await target.rows<CountRow>(
    `SELECT ${countColumns} FROM pg_catalog.pg_stat_user_tables s WHERE s.relid IN (
       SELECT r.srrelid FROM pg_catalog.pg_subscription_rel r
       JOIN pg_catalog.pg_subscription p ON p.oid = r.srsubid WHERE p.subname = $1)`,
    [subscription],
  )
  return toCounts(row)
}
