/**
 * Armature on SQLite, on PostgreSQL, and twice on one PostgreSQL, filled alike and started as a user starts them.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { startPostgres } from '../../src/stores/testing/postgres-server.ts'
import { type Access, armatureAt, commandOf, homeOf, makeHome } from '../contestants/armature.ts'
import type { Child } from '../harness/child.ts'
import { makePlace } from '../harness/place.ts'
import type { Processors } from '../harness/processors.ts'
import { startServer } from '../harness/start-server.ts'
import type { Place } from '../scenario.ts'

interface Replica {
  readonly place: Place
  readonly child: Child
}

export interface Standing extends AsyncDisposable {
  readonly access: Access
  /** The second replica is called only in the case of two replicas. */
  readonly replicas: readonly Replica[]
  /** The process of the database, if it has one of its own. */
  readonly databasePid?: number
}

interface Setting {
  readonly dataFolder: string
  readonly processors: Processors
  readonly count: number
}

export async function openOnSqlite({ dataFolder, processors, count }: Setting): Promise<Standing> {
  const place = await makePlace(dataFolder, 'on-sqlite')
  const access = await makeHome(place, count)
  const child = await start(place, access, processors)
  return { access, replicas: [{ place, child }], [Symbol.asyncDispose]: () => child.stop() }
}

export async function openOnPostgres({
  dataFolder,
  processors,
  count,
}: Setting): Promise<Standing> {
  await using stack = new AsyncDisposableStack()
  const server = stack.use(await processors.onAll(() => startPostgres()))
  const url = await server.createDatabase()
  const first = await makePlace(dataFolder, 'on-postgresql')
  const second = await makePlace(dataFolder, 'on-postgresql-too')
  const access = await makeHome(first, count, url)
  const databasePid = await prepare(url)
  const shared = { ARMATURE_STORE: url, ARMATURE_PUBLIC_URL: first.origin }
  const key = readFileSync(join(homeOf(first.folder), 'installation.key'), 'utf8').trim()
  const replicas: Replica[] = []
  for (const [place, more] of [
    [first, {}],
    [second, { ARMATURE_KEY: key }],
  ] as const) {
    const child = await start(place, access, processors, { ...shared, ...more })
    replicas.push({ place, child: stack.use(child) })
  }
  const opened = stack.move()
  return { access, replicas, databasePid, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

async function start(
  place: Place,
  access: Access,
  processors: Processors,
  more: Readonly<Record<string, string>> = {},
): Promise<Child> {
  const command = commandOf(place)
  const contestant = {
    ...armatureAt(access),
    command: () => ({ ...command, environment: { ...command.environment, ...more } }),
  }
  return (await startServer(contestant, place, processors)).child
}

/** Fresh statistics, and the process that is the parent of all others of the server. */
async function prepare(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('VACUUM ANALYZE')
    const { rows } = await client.query("SELECT pg_read_file('postmaster.pid') AS text")
    return Number(String(rows[0]?.text).split('\n')[0])
  } finally {
    await client.end()
  }
}
