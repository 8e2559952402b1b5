/** What consents a migration needs of its user, looked up on both servers. Changes nothing. */

import { shortWords } from '#kernel/short-words.ts'
import type { MigrationSpec, ReplicationReadiness, Survey } from '../engine.ts'
import { readTables } from './catalog.ts'
import { connect, type Means, type Session, translate } from './connect.ts'
import { maintenanceDatabase, sourceAccess, targetAccess } from './database-task.ts'
import { databasesQuery } from './inspect.ts'
import { sessionName } from './names.ts'
import { replicationSettings } from './set-up-replication.ts'
import { stateOfTarget } from './target-database.ts'

const tablesNamedMax = 10
/** A qualified name of PostgreSQL, quoted. A server may give longer ones. */
const nameCharactersMax = 260

export async function surveyServers(
  migration: string,
  spec: MigrationSpec,
  credentials: Means,
): Promise<Survey> {
  const applicationName = sessionName(migration)
  const from = sourceAccess(spec, credentials)
  try {
    await using source = await connect(from, {
      database: maintenanceDatabase(from),
      applicationName,
    })
    const names = (await source.rows<{ name: string }>(databasesQuery)).map(({ name }) => name)
    const present = spec.databases.filter((name) => names.includes(name))
    const replication = await readinessOf(spec, source, present, (database) =>
      connect(from, { database, applicationName }),
    )
    return {
      targetDatabases: await targetDatabases(migration, spec, credentials),
      missing: spec.databases.filter((name) => !names.includes(name)),
      replication,
    }
  } catch (error) {
    throw translate(error, from)
  }
}

async function targetDatabases(
  migration: string,
  spec: MigrationSpec,
  credentials: Means,
): Promise<Survey['targetDatabases']> {
  const to = targetAccess(spec, credentials)
  await using target = await connect(to, {
    database: maintenanceDatabase(to),
    applicationName: sessionName(migration),
  })
  const found: { name: string; made: boolean }[] = []
  for (const name of spec.databases) {
    const state = await stateOfTarget(target, migration, name)
    if (state !== 'absent') found.push({ name, made: state === 'made' })
  }
  return found
}

async function readinessOf(
  spec: MigrationSpec,
  source: Session,
  databases: readonly string[],
  open: (database: string) => Promise<Session>,
): Promise<ReplicationReadiness> {
  if (spec.mode === 'offline') return { kind: 'ready' }
  const settings = await replicationSettings(source, spec.databases.length)
  if (settings.wrong.length > 0) {
    return { kind: settings.written ? 'restart-needed' : 'consent-needed', reasons: settings.wrong }
  }
  if (spec.setUpReplication) return { kind: 'ready' }
  const reasons: string[] = []
  for (const database of databases) {
    await using session = await open(database)
    const lacking = (await readTables(session)).filter(
      ({ identityMissing, replicated }) => identityMissing && replicated,
    )
    if (lacking.length === 0) continue
    const named = lacking
      .slice(0, tablesNamedMax)
      .map(({ name }) => shortWords(name, nameCharactersMax))
    reasons.push(
      `${lacking.length} tables of '${database}' have no replica identity: ${named.join(', ')}`,
    )
  }
  return reasons.length === 0 ? { kind: 'ready' } : { kind: 'consent-needed', reasons }
}
