/**
 * Checks whether the target has room for a copy. SQL does not report the size of a server's disk, so the
 * registration may state it. The server reports the size of its databases and of its log.
 */

import { DatabaseEngineError } from '../engine.ts'
import type { Session } from './connect.ts'
import type { DatabaseTask } from './database-task.ts'

export function mebibytes(bytes: number): number {
  return Math.ceil(bytes / 2 ** 20)
}

/** The size on disk, with indexes, of those databases that the user may ask about. */
export async function sizeOfDatabases(
  session: Session,
  names: readonly string[] | 'all',
): Promise<number> {
  const size = await session.value(
    `SELECT coalesce(sum(pg_catalog.pg_database_size(datname)), 0) FROM pg_catalog.pg_database
     WHERE ($1::pg_catalog.text[] IS NULL OR datname = ANY ($1)) AND pg_catalog.has_database_privilege(datname, 'CONNECT')`,
    [names === 'all' ? null : names],
  )
  return Number(size)
}

/** The bytes that the server uses, with its log where the user may see it. */
export async function spaceTaken(server: Session): Promise<number> {
  const databases = await sizeOfDatabases(server, 'all')
  const may = await server.value(
    "SELECT pg_catalog.has_function_privilege('pg_catalog.pg_ls_waldir()', 'EXECUTE')",
  )
  if (may !== 'true') return databases
  const log = await server.value('SELECT coalesce(sum(size), 0) FROM pg_catalog.pg_ls_waldir()')
  return databases + Number(log)
}

/** The reason in words if `bytes` more do not fit into the registered storage of the target. */
export async function lackOfRoom(
  server: Session,
  storageBytes: number,
  bytes: number,
): Promise<string | undefined> {
  const taken = await spaceTaken(server)
  const free = storageBytes - taken
  return bytes <= free
    ? undefined
    : `The target is registered with ${mebibytes(storageBytes)} MiB of storage, of which ${mebibytes(taken)} are taken; ${mebibytes(bytes)} more are needed.`
}

/** Called before anything is created for the copy. */
export async function requireRoom(
  task: DatabaseTask,
  source: Session,
  server: Session,
): Promise<void> {
  const { targetStorageBytes } = task.spec
  if (targetStorageBytes === undefined) return
  const needed = await sizeOfDatabases(source, [task.name])
  const lacks = await lackOfRoom(server, targetStorageBytes, needed)
  if (lacks === undefined) return
  throw new DatabaseEngineError('refused', `${lacks} Give it more, and register it so.`)
}

/** Called during the copy. Checks whether the rest will fit. */
export async function roomWarning(
  task: DatabaseTask,
  server: Session,
): Promise<string | undefined> {
  const { targetStorageBytes } = task.spec
  if (targetStorageBytes === undefined) return undefined
  const { phase, bytesTotal, bytesCopied } = task.record.observed
  const left = phase === 'copying' ? Math.max(0, bytesTotal - bytesCopied) : 0
  return await lackOfRoom(server, targetStorageBytes, left)
}
