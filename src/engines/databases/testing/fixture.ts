/** Two servers, an engine, and ways to wait for what a migration does. Nothing here is timed: waits are for states. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openWay } from '#outbound/testing/ways.ts'
import type {
  Credentials,
  DatabaseEngine,
  MigrationSpec,
  ObservedDatabase,
  ObservedMigration,
} from '../engine.ts'
import { connect, quoteName, type Session } from '../postgres/connect.ts'
import { createPostgresEngine } from '../postgres/postgres-engine.ts'
import { type Major, startServer, type TestServer } from './servers.ts'
import { oddRoles, unusualObjects } from './unusual-objects.ts'

/** The long suite waits for whole databases, on a machine that may do much else. */
const looksMax = 12_000
const lookMilliseconds = 50

export interface MigrationFixture extends AsyncDisposable {
  readonly source: TestServer
  readonly target: TestServer
  readonly credentials: Credentials
  readonly folder: string
  /** As another process would open it. */
  open(haltAt?: string): DatabaseEngine
  spec(databases: readonly string[], more?: Partial<MigrationSpec>): MigrationSpec
  session(side: 'source' | 'target', database: string): Promise<Session>
  /** A database of the source made by these statements. */
  make(database: string, statements: readonly string[], side?: 'source' | 'target'): Promise<void>
  makeOdd(database: string): Promise<void>
  /** Looks until `wanted` says yes; fails with what was seen last. */
  until(
    engine: DatabaseEngine,
    migration: string,
    wanted: (observed: ObservedMigration) => boolean,
  ): Promise<ObservedMigration>
}

export async function openMigrationFixture(
  sourceMajor: Major,
  targetMajor: Major,
  settings: Readonly<Record<string, string>> = {},
): Promise<MigrationFixture> {
  await using starting = new AsyncDisposableStack()
  const source = starting.use(await startServer(sourceMajor, settings))
  const target = starting.use(await startServer(targetMajor))
  const folder = mkdtempSync(join(tmpdir(), 'armature-migrations-'))
  starting.defer(() => rmSync(folder, { recursive: true, force: true }))
  const opened = starting.move()
  let rolesMade = false
  const session = (side: 'source' | 'target', database: string): Promise<Session> => {
    const { address, password } = side === 'source' ? source : target
    return connect({ address, password, outbound: openWay }, { database, applicationName: 'test' })
  }
  const make: MigrationFixture['make'] = async (database, statements, side = 'source') => {
    await using server = await session(side, 'postgres')
    await server.run(`CREATE DATABASE ${quoteName(database)}`)
    await using inside = await session(side, database)
    await inside.run('SET search_path TO public')
    for (const statement of statements) await inside.run(statement)
  }
  return {
    source,
    target,
    credentials: { sourcePassword: source.password, targetPassword: target.password },
    folder,
    open: (haltAt) =>
      createPostgresEngine({
        clock: { now: () => Date.now() },
        outbound: openWay,
        folder,
        ...(haltAt === undefined ? {} : { haltAt }),
      }),
    spec: (databases, more = {}) => ({
      mode: 'offline',
      source: source.address,
      target: target.address,
      databases,
      overwrite: false,
      roles: true,
      setUpReplication: true,
      fence: 'cutover',
      verify: 'checksums',
      analyze: false,
      tablesAtOnce: 2,
      databasesAtOnce: 1,
      ...more,
    }),
    session,
    make,
    makeOdd: async (database) => {
      if (!rolesMade) {
        await using server = await session('source', 'postgres')
        for (const statement of oddRoles) await server.run(statement)
        rolesMade = true
      }
      await make(database, unusualObjects(database))
    },
    until: async (engine, migration, wanted) => {
      let seen: ObservedMigration | undefined
      for (let looks = 0; looks < looksMax; looks++) {
        seen = await engine.observe(migration)
        if (wanted(seen)) return seen
        await new Promise((done) => setTimeout(done, lookMilliseconds))
      }
      throw new Error(`the wanted state did not come; the last seen was ${JSON.stringify(seen)}`)
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

/** Runs it until changes flow; fails with its last word where it ends before. */
export async function startReplicating(
  fixture: MigrationFixture,
  engine: DatabaseEngine,
  migration: string,
  spec: MigrationSpec,
  credentials: Credentials = fixture.credentials,
): Promise<void> {
  await engine.run(migration, spec, credentials)
  const seen = await fixture.until(
    engine,
    migration,
    (one) => isEnded(one) || inPhase('replicating')(one),
  )
  if (!inPhase('replicating')(seen)) throw new Error(`it ended: ${only(seen).message}`)
}

/** The only database of a migration with one. */
export function only(observed: ObservedMigration): ObservedDatabase {
  const [database] = observed.databases
  if (database === undefined) throw new Error('nothing is observed yet')
  return database
}

export const inPhase =
  (phase: ObservedDatabase['phase']) =>
  (observed: ObservedMigration): boolean =>
    observed.databases.length > 0 && observed.databases.every((one) => one.phase === phase)

export const isEnded = ({ worker }: ObservedMigration): boolean => worker === 'ended'
