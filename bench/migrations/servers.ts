/** Two real servers of one version on loopback for the comparison, and the queries for them. */

import { connect, type Session } from '../../src/engines/databases/postgres/connect.ts'
import { startServer, type TestServer } from '../../src/engines/databases/testing/servers.ts'
import { openWay } from '../../src/outbound/testing/ways.ts'

export interface Pair extends AsyncDisposable {
  readonly source: TestServer
  readonly target: TestServer
}

/** Settings of a server that is about to be filled. All tools profit alike. */
const settings: Readonly<Record<string, string>> = {
  fsync: 'on',
  shared_buffers: '512MB',
  max_wal_size: '8GB',
  maintenance_work_mem: '128MB',
  autovacuum: 'off',
}

export async function startPair(): Promise<Pair> {
  await using starting = new AsyncDisposableStack()
  const source = starting.use(await startServer(15, settings))
  const target = starting.use(await startServer(15, settings))
  const both = starting.move()
  return { source, target, [Symbol.asyncDispose]: () => both.disposeAsync() }
}

function open(server: TestServer, database: string): Promise<Session> {
  const { address, password } = server
  return connect({ address, password, outbound: openWay }, { database, applicationName: 'bench' })
}

/** With the settings of the database, which the engine's own sessions ignore. */
export async function openAsApplication(server: TestServer, database: string): Promise<Session> {
  const session = await open(server, database)
  await session.run('RESET default_transaction_read_only')
  return session
}

export async function run(
  server: TestServer,
  database: string,
  statements: readonly string[],
): Promise<void> {
  await using session = await open(server, database)
  for (const statement of statements) await session.run(statement)
}

/** Rows and checksums of all tables, and the numbers of indexes and constraints, as one text. */
export async function contentOf(server: TestServer, database: string): Promise<string> {
  await using session = await open(server, database)
  const tables = await session.rows<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname = 'public' ORDER BY 1`,
  )
  const found: string[] = []
  for (const { name } of tables) {
    const sum = await session.value(
      `SELECT count(*) || ':' || coalesce(sum(hashtextextended(t::text, 0)::numeric), 0) FROM ${name} t`,
    )
    found.push(`${name}=${sum}`)
  }
  const objects = await session.value(
    "SELECT (SELECT count(*) FROM pg_indexes WHERE schemaname = 'public') || '/' || (SELECT count(*) FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n')",
  )
  return `${found.join(';')};${objects}`
}
