/**
 * The schema, by the servers' own client programs: dumped once in the snapshot, restored in two parts around
 * the data. Carries no rows.
 */

import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { getCACertificates } from 'node:tls'
import { runProgram } from './client-programs.ts'
import { connectionWord, majorOf, type ReachableServer, type Session } from './connect.ts'
import { type DatabaseTask, nameOf, sourceAccess, targetAccess } from './database-task.ts'

function dumpFile(task: DatabaseTask): string {
  return join(task.folder, `schema-${task.index}.dump`)
}

/** Client programs take authorities from a file only; where none are told, they trust those that we do. */
function certificateFile(task: DatabaseTask, access: ReachableServer, side: string) {
  const { rootCertificates = getCACertificates().join('\n'), sslMode } = access.address
  if (!sslMode.startsWith('verify')) return undefined
  const file = join(task.folder, `${side}-authorities.pem`)
  writeFileSync(file, rootCertificates, { mode: 0o600 })
  return file
}

/**
 * Tablespaces are the operator's and stay out; publications and subscriptions are of the source's own
 * replication, which a copy must not join.
 */
export async function dumpSchema(task: DatabaseTask, snapshot: string): Promise<void> {
  const server = sourceAccess(task.spec, task.credentials)
  await runProgram({
    programs: task.programs,
    name: 'pg_dump',
    args: [
      '--format=custom',
      '--compress=0',
      '--section=pre-data',
      '--section=post-data',
      '--no-publications',
      '--no-subscriptions',
      '--no-tablespaces',
      // A newer version may know more keywords: system_user, from 16.
      '--quote-all-identifiers',
      '--lock-wait-timeout=20s',
      `--snapshot=${snapshot}`,
    ],
    server,
    database: task.name,
    applicationName: nameOf(task),
    rootCertificateFile: certificateFile(task, server, 'source'),
    outputFile: dumpFile(task),
    signal: task.signal,
  })
}

export async function restoreSchema(
  task: DatabaseTask,
  section: 'pre-data' | 'post-data',
): Promise<void> {
  const server = targetAccess(task.spec, task.credentials)
  const ownership = task.record.owners ? [] : ['--no-owner', '--no-privileges']
  const parallel =
    section === 'post-data' && task.spec.tablesAtOnce > 1
      ? [`--jobs=${task.spec.tablesAtOnce}`]
      : []
  await runProgram({
    programs: task.programs,
    name: 'pg_restore',
    args: [
      `--section=${section}`,
      '--exit-on-error',
      '--no-tablespaces',
      ...ownership,
      ...parallel,
      // Any other form may be taken for an address, or for several words.
      `--dbname=dbname=${connectionWord(task.name)}`,
      dumpFile(task),
    ],
    server,
    database: task.name,
    applicationName: nameOf(task),
    rootCertificateFile: certificateFile(task, server, 'target'),
    signal: task.signal,
  })
}

export function dropDump(task: DatabaseTask): void {
  rmSync(dumpFile(task), { force: true })
}

/**
 * Roles that own or may use something in the source database and are missing at the target; and those that own
 * something there which the target's user may not give away to them.
 */
export async function missingRoles(source: Session, target: Session): Promise<readonly string[]> {
  const used = await source.rows<{ name: string; owns: boolean }>(`
    SELECT pg_catalog.pg_get_userbyid(s.refobjid) AS name, pg_catalog.bool_or(s.deptype = 'o') AS owns
    FROM pg_catalog.pg_shdepend s
    JOIN pg_catalog.pg_database d ON d.datname = pg_catalog.current_database()
    WHERE s.refclassid = 'pg_catalog.pg_authid'::regclass
      AND (s.dbid = d.oid OR (s.dbid = 0 AND s.objid = d.oid))
    GROUP BY 1
    UNION
    SELECT pg_catalog.pg_get_userbyid(c.relowner), true FROM pg_catalog.pg_class c
    WHERE c.relowner = 10 AND c.oid >= 16384`)
  const may = (await majorOf(target)) >= 16 ? 'SET' : 'MEMBER'
  const there = await target.rows<{ name: string; may: boolean }>(
    `SELECT rolname AS name, pg_catalog.pg_has_role(current_user, oid, '${may}') AS may
     FROM pg_catalog.pg_roles`,
  )
  const known = new Map(there.map((role) => [role.name, role.may]))
  return used
    .filter(({ name, owns }) => known.get(name) !== true && (owns || !known.has(name)))
    .map(({ name }) => name)
}
