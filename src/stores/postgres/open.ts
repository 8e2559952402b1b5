/**
 * Opens a PostgreSQL database as a store: brings its schema up to date under a lock, then connects a pool.
 * Refuses a database that a newer version made, or that cannot keep the port's promises.
 */

import type { Client, ClientConfig } from 'pg'

import type { Clock } from '#kernel/ports.ts'

import { assertWords, pendingMigrations, wordSettings } from '../migrate.ts'
import { type Store, type StoreOptions, StoreUnavailable } from '../store.ts'
import { translate } from './failure.ts'
import { createGatheredSocket } from './gathered-socket.ts'
import { Listener } from './listener.ts'
import { coreMigrations } from './migrations/core.ts'
import { type Cells, cellTypes } from './session.ts'
import { opening } from './statements.ts'
import { PostgresStore } from './store.ts'

interface PostgresOptions extends StoreOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string
  /** Connections of this process for reads and transactions; one more listens for work. */
  readonly poolSize: number
  /** The clock for due times. Leases use the database's clock. */
  readonly clock: Clock
  /** How long an answer is waited for before its connection is closed. */
  readonly answerMilliseconds?: number
}

const connectMilliseconds = 5000
/** A bound for statements, waits for locks, and idle transactions, so that none blocks others for longer. */
const statementMilliseconds = 30_000
const lockMilliseconds = 10_000
const idleInTransactionMilliseconds = 15_000
const idleMilliseconds = 30_000
/** Longer than the server lets a statement take, so that only connections whose packets are lost reach it. */
const answerMillisecondsDefault = 45_000

/** Throws `StoreUnavailable`: `later` when the server does not answer, `never` when an operator must act. */
export async function openPostgres(options: PostgresOptions): Promise<Store> {
  // Loaded here so that an installation on SQLite never pays for the driver.
  const { default: pg } = await import('pg')
  const shared: ClientConfig = {
    connectionString: options.url,
    application_name: 'armature',
    connectionTimeoutMillis: connectMilliseconds,
    keepAlive: true,
    types: cellTypes,
  }
  const durability = await prepare(new pg.Client(shared), options)
  const pool = new pg.Pool({
    ...shared,
    ...durability,
    // Statements that a transaction sends at once share one round trip.
    pipeline: true,
    stream: createGatheredSocket,
    max: options.poolSize,
    idleTimeoutMillis: idleMilliseconds,
    query_timeout: options.answerMilliseconds ?? answerMillisecondsDefault,
    statement_timeout: statementMilliseconds,
    lock_timeout: lockMilliseconds,
    idle_in_transaction_session_timeout: idleInTransactionMilliseconds,
  })
  // A connection that breaks tells those who wait on it; without a listener it would end the process too.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))
  return new PostgresStore({
    pool,
    listener: new Listener(() => new pg.Client(shared)),
    clock: options.clock,
    triesMax: Math.max(1, options.transactionRetriesMax),
    jitter: jitterOf(process.pid),
  })
}

/** Differs between processes and calls. It is no secret, so a simple generator is enough. */
function jitterOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** What the pool's connections need so that an answered write is durable. */
async function prepare(client: Client, options: StoreOptions): Promise<ClientConfig> {
  client.on('error', () => undefined)
  try {
    await client.connect()
    const [settings] = await rows(client, opening.encoding)
    if (settings?.[0] !== 'UTF8') {
      throw new StoreUnavailable(
        `The database's encoding is ${settings?.[0]}; a store needs UTF8.`,
        'never',
      )
    }
    await migrate(client, options)
    // Only a server told to answer before it has written is overruled; stricter settings stay.
    return settings[1] === 'off' ? { options: '-c synchronous_commit=on' } : {}
  } catch (error) {
    throw translate(error)
  } finally {
    // The connection error itself is already being thrown.
    await client.end().catch(() => undefined)
  }
}

async function migrate(client: Client, options: StoreOptions): Promise<void> {
  // One transaction, so a connection that breaks before the commit changes nothing.
  await client.query(opening.begin)
  await client.query(opening.lock)
  for (const table of opening.tables) await client.query(table)
  const applied = (await rows(client, opening.applied)).map(([area, number]) => ({
    area: String(area),
    number: Number(number),
  }))
  for (const migration of pendingMigrations([...coreMigrations, ...options.migrations], applied)) {
    for (const text of migration.postgres) await client.query(text)
    await client.query(opening.apply, [migration.area, migration.number])
  }
  if (applied.length === 0) {
    // Stored only at creation: a store that lost a word must not take today's setting.
    for (const setting of wordSettings(options.words)) {
      await client.query(opening.remember, [...setting])
    }
  }
  const remembered = (await rows(client, opening.settings)).map(
    ([name, value]) => [String(name), String(value)] as const,
  )
  assertWords(options.words, new Map(remembered))
  await client.query(opening.commit)
}

async function rows(client: Client, text: string): Promise<readonly Cells[]> {
  return (await client.query({ text, rowMode: 'array' })).rows
}
