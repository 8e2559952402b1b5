/**
 * Logical replication, piece by piece: replica identities, publication, slot with its snapshot, subscription.
 * Every step finds what an earlier try has left; nothing here decides when.
 */

import type { MigrationSpec } from '../engine.ts'
import { readTables, type SourceTable } from './catalog.ts'
import { quoteName, quoteText, type Session } from './connect.ts'
import { type DatabaseTask, nameOf } from './database-task.ts'
import type { ReplacedIdentity, RowCounts } from './record.ts'

/** A transaction's view of the source that others can share while this is held. */
export interface Snapshot extends AsyncDisposable {
  readonly name: string
}

/**
 * An UPDATE on a published table without replica identity fails in the source's own application (facts A.7,
 * 1), so they get one before the publication. What is to be put back is written down first.
 */
export async function setIdentities(task: DatabaseTask, source: Session): Promise<void> {
  const lacking = (await readTables(source)).filter(
    (table) => table.identityMissing && !table.unlogged,
  )
  const known = new Set(task.record.identities.map(({ table }) => table))
  const replaced: readonly ReplacedIdentity[] = lacking
    .filter(({ name }) => !known.has(name))
    .map(({ name, identity }) => ({ table: name, previous: identity }))
  if (replaced.length === 0) return
  task.record.identities = [...task.record.identities, ...replaced]
  task.save()
  for (const { table } of replaced) {
    task.signal.throwIfAborted()
    await source.run(`ALTER TABLE ONLY ${table} REPLICA IDENTITY FULL`)
  }
}

/** Puts back what `setIdentities` changed, on whichever side. A table that is gone is fine. */
export async function restoreIdentities(
  session: Session,
  identities: readonly ReplacedIdentity[],
): Promise<void> {
  for (const { table, previous } of identities) {
    const is = await session.value(
      'SELECT relreplident FROM pg_catalog.pg_class WHERE oid = pg_catalog.to_regclass($1)',
      [table],
    )
    if (is !== 'f') continue
    await session.run(
      `ALTER TABLE ONLY ${table} REPLICA IDENTITY ${previous === 'n' ? 'NOTHING' : 'DEFAULT'}`,
    )
  }
}

/** Unlogged tables have no changes to publish; partitions are published one by one. */
export async function createPublication(
  task: DatabaseTask,
  source: Session,
  tables: readonly SourceTable[],
): Promise<void> {
  const name = quoteName(nameOf(task))
  const published = tables.filter(({ unlogged }) => !unlogged).map((table) => `ONLY ${table.name}`)
  const list = published.length === 0 ? '' : ` FOR TABLE ${published.join(', ')}`
  await source.run(`DROP PUBLICATION IF EXISTS ${name}`)
  await source.run(`CREATE PUBLICATION ${name}${list}`)
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

export async function exportSnapshot(session: Session): Promise<Snapshot> {
  await session.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  const name = await session.value('SELECT pg_catalog.pg_export_snapshot()')
  if (name === undefined) throw new Error('the server exported no snapshot')
  return { name, [Symbol.asyncDispose]: async () => session[Symbol.asyncDispose]() }
}

const locksAtOnce = 500

/** Keeps the tables as the snapshot knows them: no ALTER, no TRUNCATE until the session ends. */
export async function lockTables(
  session: Session,
  snapshot: string,
  tables: readonly SourceTable[],
): Promise<void> {
  await session.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  await session.run(`SET TRANSACTION SNAPSHOT ${quoteText(snapshot)}`)
  for (let at = 0; at < tables.length; at += locksAtOnce) {
    const names = tables.slice(at, at + locksAtOnce).map(({ name }) => `ONLY ${name}`)
    await session.run(`LOCK TABLE ${names.join(', ')} IN ACCESS SHARE MODE`)
  }
}

/** As the target server connects to the source; kept in its catalog until the subscription is dropped. */
function connectionText(spec: MigrationSpec, database: string, password: string): string {
  const { host, port } = spec.sourceFromTarget ?? spec.source
  const value = (text: string): string =>
    `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  return [
    `host=${value(host)}`,
    `port=${port}`,
    `user=${value(spec.source.user)}`,
    `password=${value(password)}`,
    `dbname=${value(database)}`,
    `sslmode=${spec.source.sslMode}`,
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
  ]
  const connection = connectionText(task.spec, task.name, task.credentials.sourcePassword)
  await target.run(
    `CREATE SUBSCRIPTION ${quoteName(name)} CONNECTION ${quoteText(connection)}
     PUBLICATION ${quoteName(name)} WITH (${options.join(', ')})`,
  )
}

export async function enableSubscription(task: DatabaseTask, target: Session): Promise<void> {
  await target.run(`ALTER SUBSCRIPTION ${quoteName(nameOf(task))} ENABLE`)
}

/** The subscription alone; the slot is the source's side of it. Absent is fine. */
export async function dropSubscription(target: Session, name: string): Promise<void> {
  const there = await target.value(
    `SELECT 1 FROM pg_catalog.pg_subscription s JOIN pg_catalog.pg_database d ON d.oid = s.subdbid
     WHERE d.datname = pg_catalog.current_database() AND s.subname = $1`,
    [name],
  )
  if (there === undefined) return
  await target.run(`ALTER SUBSCRIPTION ${quoteName(name)} DISABLE`)
  await target.run(`ALTER SUBSCRIPTION ${quoteName(name)} SET (slot_name = NONE)`)
  await target.run(`DROP SUBSCRIPTION ${quoteName(name)}`)
}

const releaseTriesMax = 100
const releaseMilliseconds = 50

/** Ends whoever reads from the slot, then drops it. Absent is fine. */
export async function dropSlot(source: Session, name: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    const [slot] = await source.rows<{ pid: number | null }>(
      'SELECT active_pid AS pid FROM pg_catalog.pg_replication_slots WHERE slot_name = $1',
      [name],
    )
    if (slot === undefined) return
    if (slot.pid === null || tries === releaseTriesMax) {
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
