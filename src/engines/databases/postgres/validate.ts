/**
 * Would this migration work? Asks both servers and every database, and restores the structure of each into a scratch
 * database. What is wrong comes back as findings that say what to do (facts A.6).
 */

import type { Clock } from '#kernel/ports.ts'
import { DatabaseEngineError, type MigrationSpec, type ValidationReport } from '../engine.ts'
import { connect, type Means, majorOf, type ReachableServer, type Session } from './connect.ts'
import { maintenanceDatabase, sourceAccess, targetAccess } from './database-task.ts'
import { mayEndSessions } from './fence.ts'
import type { ClientPrograms } from './find-client-programs.ts'
import { createFindings, type Findings, listed, worst } from './findings.ts'
import { lackOfRoom, mebibytes, sizeOfDatabases } from './room.ts'
import { isSameServer, sameServer } from './same-server.ts'
import { replicationSettings } from './set-up-replication.ts'
import { hindranceOfTarget } from './target-reaches-source.ts'
import { validateDatabase } from './validate-database.ts'

export interface Validation {
  readonly spec: MigrationSpec
  readonly credentials: Means
  readonly clock: Clock
  readonly programs: ClientPrograms | undefined
  /** For what stands on the disk meanwhile. */
  readonly folder: string
  readonly signal: AbortSignal
  /** The migration goes on by itself where nothing is found, and runs at the target what the trial would. */
  readonly isFollowed: boolean
}

const applicationName = 'armature validate'
/** Generated columns are read from a catalog column that older versions lack. */
const sourceMajorMin = 12
/** `DROP DATABASE … WITH (FORCE)`. */
const targetMajorMin = 13

export async function validateMigration(validation: Validation): Promise<ValidationReport> {
  const { spec, credentials, clock, signal } = validation
  const startedAt = clock.now()
  const findings = createFindings()
  await using sessions = new AsyncDisposableStack()
  const end = (): void => void sessions.disposeAsync()
  signal.addEventListener('abort', end, { once: true })
  sessions.defer(() => signal.removeEventListener('abort', end))
  const from = sourceAccess(spec, credentials)
  const to = targetAccess(spec, credentials)
  const source = await reach('Source', from, findings, sessions)
  const target = await reach('Target', to, findings, sessions)
  const databases: ValidationReport['databases'][number][] = []
  if (source !== undefined && target !== undefined) {
    await checkServers({ validation, source, target, findings })
    for (const name of spec.databases) {
      signal.throwIfAborted()
      const databaseStartedAt = clock.now()
      const isSound = !findings.all().some(({ state }) => state === 'Failed')
      const found = await validateDatabase({
        validation,
        name,
        from,
        source,
        target,
        applicationName,
        restoresStructure: isSound,
      })
      databases.push({
        name,
        startedAt: databaseStartedAt,
        endedAt: clock.now(),
        findings: found,
      })
    }
  }
  const server = findings.all()
  return {
    state: worst(
      [server, ...databases.map((one) => one.findings)].flat().map(({ state }) => state),
    ),
    startedAt,
    endedAt: clock.now(),
    server,
    databases,
  }
}

async function reach(
  side: 'Source' | 'Target',
  access: ReachableServer,
  findings: Findings,
  sessions: AsyncDisposableStack,
): Promise<Session | undefined> {
  const type = `${side}Connection`
  findings.check(type)
  try {
    const session = await connect(access, {
      database: maintenanceDatabase(access),
      applicationName,
    })
    if (!session.encrypted) {
      findings.add(
        type,
        'Warning',
        `The connection to the ${side.toLowerCase()} is not encrypted: turn on TLS there, or demand it with the TLS mode Require.`,
      )
    }
    return sessions.use(session)
  } catch (error) {
    if (!(error instanceof DatabaseEngineError)) throw error
    const number = error.number === undefined ? '' : `${error.number}: `
    findings.add(type, 'Failed', `${number}${error.message}`)
    return undefined
  }
}

interface Servers {
  readonly validation: Validation
  readonly source: Session
  readonly target: Session
  readonly findings: Findings
}

async function checkServers(servers: Servers): Promise<void> {
  const { source, target, findings } = servers
  findings.check('Servers')
  if (await isSameServer(source, target)) findings.add('Servers', 'Failed', sameServer)
  await checkVersions(servers)
  await checkTargetRights(servers)
  await checkTargetRoom(servers)
  if (servers.validation.spec.mode === 'online') {
    await checkReplicationSettings(servers)
    await checkSubscriptionRights(servers)
    await checkFence(servers)
    await checkReach(servers)
  }
}

async function checkVersions({ validation, source, target, findings }: Servers): Promise<void> {
  const [older, newer] = [await majorOf(source), await majorOf(target)]
  findings.check('ServerVersion')
  if (newer < older) {
    findings.add(
      'ServerVersion',
      'Failed',
      `603400: the target is of version ${newer} and the source of version ${older}: take a target of version ${older} or later.`,
    )
  }
  if (older < sourceMajorMin || newer < targetMajorMin) {
    findings.add(
      'ServerVersion',
      'Failed',
      `603400: sources from version ${sourceMajorMin} and targets from version ${targetMajorMin} are served; these are ${older} and ${newer}.`,
    )
  }
  findings.check('ClientPrograms')
  const clientMajor = validation.programs?.major
  if (clientMajor === undefined) {
    findings.add(
      'ClientPrograms',
      'Failed',
      'pg_dump and pg_restore were not found where the control plane runs: its operator must install them, or set their folder.',
    )
  } else if (clientMajor < older) {
    findings.add(
      'ClientPrograms',
      'Failed',
      `The client programs found are of version ${clientMajor} and cannot read a source of version ${older}: the control plane's operator must install those of version ${older} or later.`,
    )
  }
}

async function checkTargetRights({ target, findings }: Servers): Promise<void> {
  findings.check('TargetPrivileges')
  const may = await target.value(
    'SELECT rolsuper OR rolcreatedb FROM pg_catalog.pg_roles WHERE rolname = current_user',
  )
  if (may !== 'true') {
    findings.add(
      'TargetPrivileges',
      'Failed',
      "603110: the target's user may not create databases: grant it CREATEDB.",
    )
  }
}

/** How much space a server has cannot be asked in SQL; whoever registers it may say it. */
async function checkTargetRoom({ validation, source, target, findings }: Servers): Promise<void> {
  findings.check('TargetSpace')
  const { databases, targetStorageBytes } = validation.spec
  const bytes = await sizeOfDatabases(source, databases)
  const lacks =
    targetStorageBytes === undefined
      ? undefined
      : await lackOfRoom(target, targetStorageBytes, bytes)
  if (lacks !== undefined) {
    findings.add('TargetSpace', 'Failed', `${lacks} Give it more, and register it so.`)
    return
  }
  findings.add(
    'TargetSpace',
    'Succeeded',
    `The databases hold ${mebibytes(bytes)} MiB at the source; the target needs about that, and its log of changes while it is filled.${targetStorageBytes === undefined ? ' Whether it has that is not judged: it is registered without storage.storageSizeGB.' : ''}`,
  )
}

async function checkReplicationSettings({ validation, source, target, findings }: Servers) {
  findings.check('LogicalReplication')
  const settings = await replicationSettings(source, validation.spec.databases.length)
  for (const wrong of settings.wrong) {
    findings.add(
      'LogicalReplication',
      // A caller may still ask for consent to mend it; a server that only waits for a restart too.
      'Warning',
      `${wrong}, at the source: change the setting and restart the server${settings.written ? ' (it is written already)' : ''}.`,
    )
  }
  const may = await source.value(
    'SELECT rolsuper OR rolreplication FROM pg_catalog.pg_roles WHERE rolname = current_user',
  )
  if (may !== 'true') {
    findings.add(
      'LogicalReplication',
      'Failed',
      "603104: the source's user may not replicate: ALTER ROLE … REPLICATION.",
    )
  }
  const origins =
    (await majorOf(target)) >= 18 ? 'max_active_replication_origins' : 'max_replication_slots'
  const taken = Number(
    await target.value('SELECT pg_catalog.count(*) FROM pg_catalog.pg_replication_origin'),
  )
  for (const [setting, used] of [
    ['max_logical_replication_workers', 0],
    [origins, taken],
  ] as const) {
    const needed = used + validation.spec.databases.length
    const places = Number(await target.value(`SHOW ${setting}`))
    const at = `At the target, ${setting} is ${places}`
    if (places < needed) {
      findings.add('LogicalReplication', 'Failed', `${at} and must be at least ${needed}.`)
    } else if (places === needed) {
      findings.add(
        'LogicalReplication',
        'Warning',
        `${at}: catching up with tables that are made meanwhile takes one more.`,
      )
    }
  }
  const kept = await source.value('SHOW max_slot_wal_keep_size')
  findings.check('WalRetention')
  if (kept === '-1') {
    findings.add(
      'WalRetention',
      'Warning',
      "While the target is away the source keeps its log without bound (max_slot_wal_keep_size is -1): watch the source's disk, or set a bound.",
    )
  }
}

async function checkReach({ validation, target, findings }: Servers): Promise<void> {
  // What failed so far would fail here again, in the words of the target.
  if (findings.all().some(({ state }) => state === 'Failed')) return
  const { spec, credentials } = validation
  findings.check('TargetReachesSource')
  const { sourcePassword } = credentials
  const database = maintenanceDatabase(sourceAccess(spec, credentials))
  const hindrance = await hindranceOfTarget({ spec, database, sourcePassword, target })
  if (hindrance === undefined) return
  findings.add('TargetReachesSource', 'Failed', `${hindrance.number}: ${hindrance.message}`)
}

/** The fence is the database's own setting: what a role says for itself is stronger. */
async function checkFence({ validation, source, findings }: Servers): Promise<void> {
  const { fence, databases } = validation.spec
  if (fence === 'none') return
  findings.check('Fence')
  if ((await source.value(`SELECT ${mayEndSessions}`)) !== 'true') {
    findings.add(
      'Fence',
      'Warning',
      "The cutover ends all sessions at the source, and the source's user may end its own alone: grant it pg_signal_backend and pg_read_all_stats, or the cutover waits until nobody else is there.",
    )
  }
  const writers = await source.rows<{ name: string }>(
    `SELECT DISTINCT pg_catalog.quote_ident(r.rolname) AS name
     FROM pg_catalog.pg_db_role_setting s JOIN pg_catalog.pg_roles r ON r.oid = s.setrole,
       pg_catalog.unnest(s.setconfig) c
     WHERE c ~ '^default_transaction_read_only=(off|false|no|0)' AND (s.setdatabase = 0
       OR s.setdatabase IN (SELECT oid FROM pg_catalog.pg_database WHERE datname = ANY ($1)))`,
    [databases],
  )
  if (writers.length === 0) return
  findings.add(
    'Fence',
    'Warning',
    `Roles with a setting of their own for default_transaction_read_only can write after the cutover: ${listed(writers.map(({ name }) => name))}. Reset it before, or keep them out.`,
  )
}

async function checkSubscriptionRights({ target, findings }: Servers): Promise<void> {
  findings.check('SubscriptionPrivileges')
  const superuser = await target.value(
    'SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user',
  )
  if (superuser === 'true') return
  const major = await majorOf(target)
  if (major < 16) {
    findings.add(
      'SubscriptionPrivileges',
      'Failed',
      `Before version 16 only a superuser may subscribe, and the target is of version ${major}: take its superuser, a later version, or an offline migration.`,
    )
    return
  }
  const may = await target.value(
    "SELECT pg_catalog.pg_has_role(current_user, 'pg_create_subscription', 'USAGE')",
  )
  if (may !== 'true') {
    findings.add(
      'SubscriptionPrivileges',
      'Failed',
      "The target's user may not subscribe: GRANT pg_create_subscription to it.",
    )
  }
}
