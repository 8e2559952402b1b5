/**
 * Whether a source can replicate logically, and the settings that let it. Written settings wait for a restart
 * that only the server's operator can give.
 */

import { shortWords } from '#kernel/short-words.ts'
import type { ReplicationReadiness } from '../engine.ts'
import { connect, type ReachableServer, type Session, translate } from './connect.ts'

/** One slot and one sender for each database at a time, and room for what is there. */
const spare = 10

interface ServerSetting {
  readonly name: string
  readonly value: string
  readonly pending: boolean
  readonly file: string | null
}

const settingsQuery = `
SELECT s.name, s.setting AS value, s.pending_restart AS pending,
  (SELECT f.setting FROM pg_catalog.pg_file_settings f WHERE f.name = s.name
   ORDER BY f.seqno DESC LIMIT 1) AS file
FROM pg_catalog.pg_settings s
WHERE s.name IN ('wal_level', 'max_replication_slots', 'max_wal_senders')`

/** Without the right to read the files, what is pending cannot be seen. */
const plainQuery = settingsQuery.replace(/\(SELECT f[\s\S]*LIMIT 1\)/, 'NULL::text')

/** Of a value, which goes into the records of a migration for each of its databases. */
const shownCharactersMax = 100

/** Facts 8.5. */
const numbers: Readonly<Record<string, number>> = {
  max_replication_slots: 603105,
  max_wal_senders: 603106,
  wal_level: 603107,
}

interface ReplicationSettings {
  readonly wrong: readonly string[]
  /** Names and the values they need. */
  readonly wanted: Readonly<Record<string, string>>
  /** All that is wrong is written already and waits for a restart. */
  readonly written: boolean
}

export async function replicationSettings(
  source: Session,
  databases: number,
): Promise<ReplicationSettings> {
  const superuser = await source.value(
    'SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user',
  )
  const rows = await source.rows<ServerSetting>(superuser === 'true' ? settingsQuery : plainQuery)
  const used = Number(
    await source.value('SELECT pg_catalog.count(*) FROM pg_catalog.pg_replication_slots'),
  )
  const senders = Number(
    await source.value('SELECT pg_catalog.count(*) FROM pg_catalog.pg_stat_replication'),
  )
  const wrong: string[] = []
  const wanted: Record<string, string> = {}
  let written = true
  const need: Readonly<Record<string, number>> = {
    max_replication_slots: used + databases,
    max_wal_senders: senders + databases,
  }
  for (const { name, value, file } of rows) {
    // A server may answer with others, or with as many as it likes.
    if (!Object.hasOwn(numbers, name) || Object.hasOwn(wanted, name)) continue
    const least = need[name]
    const fits = (text: string): boolean =>
      least === undefined ? text === 'logical' : Number(text) >= least
    if (fits(value)) continue
    wanted[name] = least === undefined ? 'logical' : String(least + spare)
    wrong.push(
      `${numbers[name]}: ${name} is ${shortWords(String(value), shownCharactersMax)} and must be ${least === undefined ? 'logical' : `at least ${least}`}`,
    )
    written = written && file !== null && fits(file)
  }
  return { wrong, wanted, written }
}

export async function setUpReplication(source: ReachableServer): Promise<ReplicationReadiness> {
  try {
    await using session = await connect(source, {
      database: source.address.database ?? 'postgres',
      applicationName: 'armature set-up',
    })
    const before = await replicationSettings(session, 1)
    if (before.wrong.length === 0) return { kind: 'ready' }
    if (!before.written) {
      for (const [name, value] of Object.entries(before.wanted)) {
        await session.run(`ALTER SYSTEM SET ${name} TO ${value}`)
      }
      await session.run('SELECT pg_catalog.pg_reload_conf()')
    }
    return { kind: 'restart-needed', reasons: before.wrong }
  } catch (error) {
    throw translate(error, source)
  }
}
