/**
 * The end of the online phase: keeps writers out, lets the last changes through, brings over what replication
 * does not carry, compares, and takes everything down. Every step can be repeated; until the subscription is
 * dropped a failure leads back to the source, after that only forward.
 */

import { DatabaseEngineError } from '../engine.ts'
import { copySequences, readTables } from './catalog.ts'
import { quoteName, quoteText, type Session } from './connect.ts'
import { relayCopy } from './copy-relay.ts'
import { columnList } from './copy-tables.ts'
import {
  type DatabaseTask,
  enter,
  nameOf,
  openSource,
  openTarget,
  openTargetServer,
  tell,
} from './database-task.ts'
import { copyLargeObjects } from './large-objects.ts'
import { objectNames, sessionName } from './names.ts'
import { count } from './replicate.ts'
import { dropPublication, dropSlot, dropSubscription, restoreIdentities } from './replication.ts'
import { finishTargetDatabase } from './target-database.ts'
import { fingerprintOf, verifyDatabase } from './verify.ts'

/** Waits up to this long for the target to be close before writers are kept out. */
const closeMilliseconds = 30_000
const closeBytes = 1024n * 1024n
const drainMilliseconds = 600_000
const pollMilliseconds = 10
const endTriesMax = 500

export async function cutOver(task: DatabaseTask): Promise<void> {
  await using source = await openSource(task)
  await using server = await openTargetServer(task)
  enter(task, 'cutting-over', 'Waiting for the target to come close.')
  if (!task.record.pastReturn) {
    await using target = await openTarget(task)
    await comeClose(task, source)
    const fencedAt = task.clock.now()
    await fence(task, source)
    task.onBoundary('fenced')
    tell(task, { message: 'Letting the last changes through.' })
    await drain(task, source)
    task.onBoundary('drained')
    await count(task, source, target)
    await bringOver(task, source, target)
    await Promise.all([verifyReplicated(task), refreshViews(target)])
    task.record.pastReturn = true
    task.save()
    task.onBoundary('past-return')
    await takeDown(task, source, server)
    tell(task, { pauseMilliseconds: task.clock.now() - fencedAt })
  } else {
    await takeDown(task, source, server)
  }
  tell(task, {
    counters: { ...task.record.observed.counters, latencySeconds: undefined },
    bytesBehind: undefined,
    walHeldBytes: undefined,
  })
}

async function comeClose(task: DatabaseTask, source: Session): Promise<void> {
  for (let waited = 0; waited < closeMilliseconds; waited += pollMilliseconds) {
    task.signal.throwIfAborted()
    const behind = await source.value(
      `SELECT (pg_catalog.pg_current_wal_lsn() - confirmed_flush_lsn)::bigint
       FROM pg_catalog.pg_replication_slots WHERE slot_name = $1`,
      [nameOf(task)],
    )
    if (behind !== undefined && BigInt(behind) < closeBytes) return
    await new Promise((done) => setTimeout(done, pollMilliseconds))
  }
}

const othersQuery = `FROM pg_catalog.pg_stat_activity
  WHERE datname = pg_catalog.current_database() AND backend_type = 'client backend'
    AND application_name NOT LIKE $1 AND application_name <> $2 AND backend_start < $3::timestamptz`

/** New sessions are read-only and old ones are ended. What the setting was is written down first. */
async function fence(task: DatabaseTask, source: Session): Promise<void> {
  if (task.spec.fence === 'none') return
  if (task.record.fence === undefined) {
    task.record.fence = { previous: (await readOnlySetting(source)) ?? null }
    task.save()
  }
  await source.run(`ALTER DATABASE ${quoteName(task.name)} SET default_transaction_read_only TO on`)
  // Sessions that began later know the setting; those before may be in the middle of a commit, so their end
  // is waited for.
  const since = await source.value('SELECT pg_catalog.clock_timestamp()::text')
  for (let tries = 0; tries < endTriesMax; tries++) {
    const ended = await source.rows(`SELECT pg_catalog.pg_terminate_backend(pid) ${othersQuery}`, [
      objectNames(task.migration),
      sessionName(task.migration),
      since,
    ])
    if (ended.length === 0) return
    await new Promise((done) => setTimeout(done, pollMilliseconds))
  }
  throw new DatabaseEngineError('busy', 'Sessions that write to the source do not end.')
}

/** The setting of the database itself, not of a role in it. */
async function readOnlySetting(source: Session): Promise<string | undefined> {
  return source.value(
    `SELECT pg_catalog.split_part(c, '=', 2) FROM pg_catalog.pg_db_role_setting s
     JOIN pg_catalog.pg_database d ON d.oid = s.setdatabase, pg_catalog.unnest(s.setconfig) c
     WHERE d.datname = pg_catalog.current_database() AND s.setrole = 0
       AND c LIKE 'default\\_transaction\\_read\\_only=%'`,
  )
}

/** Puts the setting back as it was. Nothing to put back is fine. */
export async function unfence(task: DatabaseTask, source: Session): Promise<void> {
  const { fence: set } = task.record
  if (set === undefined) return
  const database = quoteName(task.name)
  await source.run(
    set.previous === null
      ? `ALTER DATABASE ${database} RESET default_transaction_read_only`
      : `ALTER DATABASE ${database} SET default_transaction_read_only TO ${quoteText(set.previous)}`,
  )
}

/** Returns when the target has confirmed all that was written before. */
async function drain(task: DatabaseTask, source: Session): Promise<void> {
  // A commit of our own puts everything before it on the source's disk, from where it is sent.
  await source.run(
    `SET synchronous_commit = on; SELECT pg_catalog.pg_logical_emit_message(true, 'migration', ${quoteText(task.migration)})`,
  )
  const until = await source.value('SELECT pg_catalog.pg_current_wal_flush_lsn()::text')
  const started = task.clock.now()
  for (;;) {
    task.signal.throwIfAborted()
    const state = await source.value(
      `SELECT (confirmed_flush_lsn >= $2::pg_lsn)::text FROM pg_catalog.pg_replication_slots
       WHERE slot_name = $1`,
      [nameOf(task), until],
    )
    if (state === 'true') return
    if (state === undefined || task.clock.now() - started > drainMilliseconds) {
      throw new DatabaseEngineError(
        'refused',
        state === undefined
          ? 'The replication slot is gone, so the last changes cannot come over.'
          : 'The target did not take the last changes in ten minutes.',
      )
    }
    await new Promise((done) => setTimeout(done, pollMilliseconds))
  }
}

/** Sequences, large objects and unlogged tables go through no replication (facts A.7, 5). */
async function bringOver(task: DatabaseTask, source: Session, target: Session): Promise<void> {
  await copySequences(source, target)
  await copyLargeObjects(source, target, {
    owners: task.record.owners,
    compare: true,
    signal: task.signal,
    onBytes: () => undefined,
  })
  const unlogged = (await readTables(source)).filter((table) => table.unlogged)
  for (const table of unlogged) {
    const query = `SELECT ${fingerprintOf('checksums')} FROM ONLY ${table.name} t`
    const [here, there] = await Promise.all([source.rows(query), target.rows(query)])
    if (JSON.stringify(here) === JSON.stringify(there)) continue
    const columns = columnList(table)
    const encoding = quoteText((await source.value('SHOW server_encoding')) ?? 'UTF8')
    await target.run(
      `BEGIN; SET LOCAL session_replication_role = replica; DELETE FROM ONLY ${table.name}`,
    )
    await relayCopy({
      source,
      target,
      copyOut: `COPY ${table.name}${columns} TO STDOUT (ENCODING ${encoding})`,
      copyIn: `COPY ${table.name}${columns} FROM STDIN (ENCODING ${encoding})`,
      onBytes: () => undefined,
    })
    await target.run('COMMIT')
  }
}

async function verifyReplicated(task: DatabaseTask): Promise<void> {
  const compared = await verifyDatabase(task, task.spec.verify)
  tell(task, { verified: { how: task.spec.verify, ...compared } })
}

/** In the order of their dependence; only those that hold data at all. */
async function refreshViews(target: Session): Promise<void> {
  const views = await target.rows<{ name: string }>(`
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
    SELECT pg_catalog.format('%I.%I', n.nspname, c.relname) AS name
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    JOIN depth ON depth.view = c.oid
    WHERE c.relkind = 'm' AND c.relispopulated
    GROUP BY 1 ORDER BY max(depth.level)`)
  for (const { name } of views) await target.run(`REFRESH MATERIALIZED VIEW ${name}`)
}

/** Target first, so that nobody uses the slot; the fence last, when nothing refers to the source any more. */
async function takeDown(task: DatabaseTask, source: Session, server: Session): Promise<void> {
  await using target = await openTarget(task)
  const name = nameOf(task)
  await dropSubscription(target, name)
  task.onBoundary('subscription-dropped')
  await dropSlot(source, name)
  task.onBoundary('slot-dropped')
  await dropPublication(source, name)
  await restoreIdentities(source, task.record.identities)
  await restoreIdentities(target, task.record.identities)
  await finishTargetDatabase(task, source, server)
  task.onBoundary('finished')
  if (task.spec.fence !== 'stay') await unfence(task, source)
}
