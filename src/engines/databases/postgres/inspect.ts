/** Reads a server's facts. Changes nothing. */

import type { ServerFacts } from '../engine.ts'
import { connect, type ReachableServer, translate } from './connect.ts'

interface FactsRow {
  readonly version: string
  readonly number: string
  readonly superuser: boolean
  readonly started: string
  readonly buffers: string
  readonly connections: string
  readonly wal: string
}

const factsQuery = `
SELECT pg_catalog.current_setting('server_version') AS version,
  pg_catalog.current_setting('server_version_num') AS number,
  (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user) AS superuser,
  (extract(epoch FROM pg_catalog.pg_postmaster_start_time()) * 1000)::bigint::text AS started,
  pg_catalog.pg_size_bytes(pg_catalog.current_setting('shared_buffers'))::text AS buffers,
  pg_catalog.current_setting('max_connections') AS connections,
  pg_catalog.current_setting('wal_level') AS wal`

export const databasesQuery = `
SELECT d.datname AS name, pg_catalog.pg_get_userbyid(d.datdba) AS owner,
  pg_catalog.pg_encoding_to_char(d.encoding) AS encoding, d.datcollate AS collation,
  CASE WHEN pg_catalog.has_database_privilege(d.oid, 'CONNECT')
    THEN pg_catalog.pg_database_size(d.oid) ELSE 0 END::text AS size
FROM pg_catalog.pg_database d WHERE NOT d.datistemplate AND d.datallowconn ORDER BY d.datname`

/** What a server may say of its version: `15.18`, `18beta1`. It is stored and shown. */
const versionForm = /^[\w.~+-]{1,40}(?= |$)/

/** A server may say anything. */
function numberOf(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 0) throw unreadable()
  return value
}

const unreadable = (): Error => new Error('what the server says of itself cannot be read')

function versionOf(text: string): string {
  const [version] = versionForm.exec(text) ?? []
  if (version === undefined) throw unreadable()
  return version
}

export async function inspectServer(server: ReachableServer): Promise<ServerFacts> {
  try {
    await using session = await connect(server, {
      database: server.address.database ?? 'postgres',
      applicationName: 'armature inspect',
    })
    const [facts] = await session.rows<FactsRow>(factsQuery)
    if (facts === undefined) throw new Error('the server told nothing of itself')
    const databases = (
      await session.rows<{
        name: string
        owner: string
        encoding: string
        collation: string
        size: string
      }>(databasesQuery)
    ).map(({ size, ...database }) => ({ ...database, sizeBytes: numberOf(size) }))
    return {
      version: versionOf(facts.version),
      major: Math.floor(numberOf(facts.number) / 10_000),
      encrypted: session.encrypted,
      superuser: facts.superuser,
      startedAt: numberOf(facts.started),
      sharedBuffersBytes: numberOf(facts.buffers),
      connectionsMax: numberOf(facts.connections),
      walLevel: facts.wal,
      dataBytes: databases.reduce((sum, { sizeBytes }) => numberOf(String(sum + sizeBytes)), 0),
      databases,
    }
  } catch (error) {
    throw translate(error, server)
  }
}
