/**
 * Armature on SQLite, on PostgreSQL, and twice on one PostgreSQL, filled alike and started as a user starts them.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { startPostgres } from '../../src/stores/testing/postgres-server.ts'
import { type Access, armatureAt, commandOf, homeOf, makeHome } from '../contestants/armature.ts'
import { DeploymentClient } from '../deployments/client.ts'
import type { Child } from '../harness/child.ts'
import { makePlace } from '../harness/place.ts'
import type { Processors } from '../harness/processors.ts'
import { startServer } from '../harness/start-server.ts'
import type { Requests } from '../load/job.ts'
import type { Place } from '../scenario.ts'
import { count, type LoadCase, requestsAt, seedLists } from './cases.ts'

interface Replica {
  readonly place: Place
  readonly child: Child
  readonly deployments: DeploymentClient
}

export interface Standing extends AsyncDisposable {
  readonly requests: Readonly<Record<LoadCase, Requests>>
  /** The second replica is called only in the case of two replicas. */
  readonly replicas: readonly Replica[]
  /** The process of the database, if it has one of its own. */
  readonly databasePid?: number
}

interface Setting {
  readonly dataFolder: string
  readonly processors: Processors
}

export async function openOnSqlite({ dataFolder, processors }: Setting): Promise<Standing> {
  await using stack = new AsyncDisposableStack()
  const place = await makePlace(dataFolder, 'on-sqlite')
  const access = await fill(place)
  const replica = await start(place, access, processors)
  stack.use(replica.child)
  await replica.deployments.putService()
  const requests = await requestsAt(place, access)
  const opened = stack.move()
  return { requests, replicas: [replica], [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

export async function openOnPostgres({ dataFolder, processors }: Setting): Promise<Standing> {
  await using stack = new AsyncDisposableStack()
  const server = stack.use(await processors.onAll(() => startPostgres()))
  const url = await server.createDatabase()
  const first = await makePlace(dataFolder, 'on-postgresql')
  const second = await makePlace(dataFolder, 'on-postgresql-too')
  const access = await fill(first, url)
  const databasePid = await prepare(url)
  const shared = { ARMATURE_STORE: url, ARMATURE_PUBLIC_URL: first.origin }
  const key = readFileSync(join(homeOf(first.folder), 'installation.key'), 'utf8').trim()
  const replicas: Replica[] = []
  for (const [place, more] of [
    [first, {}],
    [second, { ARMATURE_KEY: key }],
  ] as const) {
    const replica = await start(place, access, processors, { ...shared, ...more })
    stack.use(replica.child)
    replicas.push(replica)
  }
  await replicas[0]?.deployments.putService()
  const requests = await requestsAt(first, access)
  const opened = stack.move()
  return { requests, replicas, databasePid, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

/** The home, with all rows but those that a started server makes. */
async function fill(place: Place, store?: string): Promise<Access> {
  const access = await makeHome(place, count, store)
  await seedLists(store ?? join(homeOf(place.folder), 'armature.db'), access)
  return access
}

async function start(
  place: Place,
  access: Access,
  processors: Processors,
  more: Readonly<Record<string, string>> = {},
): Promise<Replica> {
  const command = commandOf(place)
  const contestant = {
    ...armatureAt(access),
    command: () => ({ ...command, environment: { ...command.environment, ...more } }),
  }
  const { child } = await startServer(contestant, place, processors)
  return { place, child, deployments: new DeploymentClient(place, access) }
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
