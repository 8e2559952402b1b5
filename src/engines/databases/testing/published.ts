/**
 * The databases of `ARMATURE_TEST_DATABASES`: a folder of published ones as SQL files, which is no part of this
 * repository. Each is given to a server by `psql`, as its publisher means it to be.
 */

import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { findClientPrograms } from '../postgres/find-client-programs.ts'
import type { TestServer } from './servers.ts'

const bytesMax = 256 * 1024 * 1024

/** Files by the names of the databases to make of them; undefined where the folder is not set. */
export function publishedDatabases(): ReadonlyMap<string, string> | undefined {
  const folder = process.env['ARMATURE_TEST_DATABASES']
  if (folder === undefined) return undefined
  const files = readdirSync(folder).filter((name) => name.endsWith('.sql'))
  return new Map(files.sort().map((name) => [name.slice(0, -'.sql'.length), join(folder, name)]))
}

function environment(server: TestServer, database: string): NodeJS.ProcessEnv {
  const { host, port, user } = server.address
  return {
    PGHOST: host,
    PGPORT: String(port),
    PGUSER: user,
    PGPASSWORD: server.password,
    PGDATABASE: database,
    LC_ALL: 'C',
  }
}

/** Whether a program stands in the folder of the client programs that migrations use. */
export async function hasClient(program: string): Promise<boolean> {
  const client = await findClientPrograms()
  return client !== undefined && existsSync(join(client.folder, program))
}

/** What the program writes. It stands in the folder of the client programs that migrations use. */
export async function runClient(
  program: string,
  args: readonly string[],
  at: {
    readonly server: TestServer
    readonly database: string
    readonly env?: NodeJS.ProcessEnv
    /** Statuses that it may end with. */
    readonly ends?: readonly number[]
  },
): Promise<string> {
  const client = await findClientPrograms()
  if (client === undefined) throw new Error('there are no client programs')
  const options = {
    env: { ...environment(at.server, at.database), ...at.env },
    maxBuffer: bytesMax,
  }
  return await new Promise((done, failed) => {
    execFile(join(client.folder, program), [...args], options, (error, stdout) => {
      if (error === null || at.ends?.includes(Number(error.code)) === true) done(stdout)
      else failed(error)
    })
  })
}

/** What the server lacks (an extension) is passed over: the rest is a database all the same. */
export async function loadPublished(
  server: TestServer,
  database: string,
  file: string,
): Promise<void> {
  await runClient('psql', ['--quiet', '--no-psqlrc', '--file', file], { server, database })
}

/** Structure and rows as the servers' own program writes them, in an order of ours; for versions that it reads. */
export async function dumpedText(server: TestServer, database: string): Promise<readonly string[]> {
  const text = await runClient('pg_dump', ['--inserts', '--quote-all-identifiers'], {
    server,
    database,
  })
  return text
    .split('\n')
    .filter((line) => line !== '' && !/^(?:--|\\(?:un)?restrict)/.test(line))
    .sort()
}
