/** Registered servers and migrations on a real plane, store and engine, between two real PostgreSQL servers. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseEngine, Fence } from '#engines/databases/engine.ts'
import { connect, type Session } from '#engines/databases/postgres/connect.ts'
import { createPostgresEngine } from '#engines/databases/postgres/postgres-engine.ts'
import { type Major, startServer, type TestServer } from '#engines/databases/testing/servers.ts'
import { ApiError } from '#kernel/error.ts'
import { defaultLimits } from '#kernel/limits.ts'
import { type Clock, silentLog } from '#kernel/ports.ts'
import type { Principal } from '#kernel/principal.ts'
import { contractWords } from '#kernel/vendor.ts'
import { openWay } from '#outbound/testing/ways.ts'
import type { AccessRequest } from '#plane/access.ts'
import { createPlane, type RunningPlane } from '#plane/create-plane.ts'
import type { Method } from '#plane/plane.ts'
import { ask } from '#plane/testing/ask.ts'
import { realClock, realIds, testProviderContext } from '#plane/testing/provider-context.ts'
import { owner, realTimers } from '#plane/testing/start.ts'
import { openSqlite } from '#stores/sqlite/open.ts'
import type { Store } from '#stores/store.ts'
import { healthMigrations } from '../../resource-health/domain/migrations.ts'
import { healthSignals } from '../../resource-health/provider.ts'
import { resourcesProvider } from '../../resources/provider.ts'
import type { MigrationSettings } from '../dependencies.ts'
import { postgresProvider } from '../provider.ts'

export const group = '/subscriptions/11111111-2222-4333-8444-555555555555/resourceGroups/rg'
export const servers = `${group}/providers/Vendor.DBforPostgreSQL/flexibleServers`
export const target = `${servers}/target`

export interface Wire {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely here, and only here.
  readonly body: any
  readonly etag: string | undefined
  readonly operation: string | undefined
  readonly nextToken: string | undefined
}

export interface MigrationFixture extends AsyncDisposable {
  readonly plane: RunningPlane
  readonly store: Store
  readonly engine: DatabaseEngine
  readonly settings: MigrationSettings
  readonly source: TestServer
  readonly target: TestServer
  call(method: Method, path: string, body?: unknown, options?: CallOptions): Promise<Wire>
  /** The server `target` is registered and ready. */
  register(path?: string, server?: TestServer, more?: object): Promise<Wire>
  /** The body of an offline migration of these databases, without validation. */
  body(databases: readonly string[], more?: object): object
  put(name: string, databases: readonly string[], more?: object): Promise<Wire>
  patch(name: string, properties: object): Promise<Wire>
  /** Looks until the migration is as wanted. It fails with the last status seen. */
  until(name: string, wanted: (status: Status) => boolean): Promise<Status>
  session(side: 'source' | 'target', database: string): Promise<Session>
  /** Makes a database of two tables with rows at that side. */
  make(database: string, side?: 'source' | 'target'): Promise<void>
  /** A value that is equal for equal content. Undefined if there is no such database. */
  contentOf(side: 'source' | 'target', database: string): Promise<string | undefined>
  /**
   * Slots, publications of every database, and read-only settings: everything that a migration may leave at a
   * source.
   */
  tracesAtSource(): Promise<readonly string[]>
}

export interface CallOptions {
  readonly as?: Principal
  readonly ifMatch?: string
}

/** The parts of `currentStatus` as it is shown. */
export interface Status {
  readonly state: string
  readonly error: string | undefined
  readonly subState: string
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  readonly databases: Readonly<Record<string, any>>
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  readonly validation: any
}

interface FixtureOptions {
  readonly source?: Major
  readonly target?: Major
  /** The settings of the source server. */
  readonly settings?: Readonly<Record<string, string>>
  readonly store?: Store
  readonly fence?: Fence
  readonly atOnceMax?: number
  readonly clock?: Clock
  readonly allows?: (question: AccessRequest) => boolean
  /** A boundary at which workers kill themselves. It is asked at each start of a worker. */
  readonly engine?: (folder: string) => DatabaseEngine
}

/** The types on a plane that has not been started. */
export function createMigrationPlane(given: {
  readonly store: Store
  readonly engine: DatabaseEngine
  readonly settings: MigrationSettings
  readonly allows: (question: AccessRequest) => boolean
  readonly clock?: Clock
}): RunningPlane {
  const { store, engine, settings, allows, clock = realClock } = given
  return createPlane({
    providers: (services) => {
      const context = { ...testProviderContext(store, services), clock }
      return [
        resourcesProvider({ tenantId: owner.tenantId, ...services }),
        postgresProvider({ ...context, engine, settings, signals: healthSignals(context) }),
      ]
    },
    store,
    access: { allows },
    words: contractWords,
    clock,
    ids: realIds,
    log: silentLog,
    limits: defaultLimits,
    tokenKeys: () => [new Uint8Array(32)],
    scopes: 'implicit',
    timers: realTimers,
  })
}

export async function openMigrationStore(): Promise<Store> {
  return await openSqlite({
    path: ':memory:',
    migrations: healthMigrations,
    words: contractWords,
    transactionRetriesMax: defaultLimits.transactionRetriesMax,
  })
}

const looksMax = 2_400
const lookMilliseconds = 50

export async function openMigrationFixture(
  options: FixtureOptions = {},
): Promise<MigrationFixture> {
  await using starting = new AsyncDisposableStack()
  const source = starting.use(await startServer(options.source ?? 15, options.settings))
  const targetServer = starting.use(await startServer(options.target ?? 15))
  const folder = mkdtempSync(join(tmpdir(), 'armature-migrations-'))
  starting.defer(() => rmSync(folder, { recursive: true, force: true }))
  const store = options.store ?? starting.use(await openMigrationStore())
  const engine = starting.use(
    options.engine?.(folder) ??
      createPostgresEngine({ clock: realClock, folder, outbound: openWay }),
  )
  const settings: MigrationSettings = {
    fence: options.fence ?? 'cutover',
    verify: 'counts',
    atOnceMax: options.atOnceMax ?? 32,
    tablesAtOnce: 2,
    databasesAtOnce: 2,
    serverAddresses: new Map([['mapped', targetServer.address]]),
    // Simulates containers: targets reach the source by another name.
    sourcesFromTargets: new Map([
      [`127.0.0.1:${source.address.port}`, { host: 'localhost', port: source.address.port }],
    ]),
  }
  const allows = options.allows ?? (() => true)
  const plane = starting.use(
    createMigrationPlane({ store, engine, settings, allows, clock: options.clock ?? realClock }),
  )
  plane.start()
  const opened = starting.move()

  const call: MigrationFixture['call'] = async (
    method,
    path,
    body,
    { as = owner, ifMatch } = {},
  ) => {
    const version = path.split('?')[0] === group ? '2021-04-01' : '2025-08-01'
    const outcome = await ask(plane, method, path, body, { as, version, ifMatch })
    return {
      status: outcome.status,
      body: outcome.body === undefined ? undefined : JSON.parse(JSON.stringify(outcome.body)),
      etag: outcome.etag,
      operation: outcome.operation?.statusPath,
      nextToken: outcome.nextToken,
    }
  }
  const at = (name: string): string => `${target}/migrations/${name}`
  const session: MigrationFixture['session'] = (side, database) => {
    const { address, password } = side === 'source' ? source : targetServer
    return connect({ address, password, outbound: openWay }, { database, applicationName: 'test' })
  }
  const bodyOf: MigrationFixture['body'] = (databases, more = {}) => ({
    location: 'here',
    properties: {
      sourceType: 'OnPremises',
      sourceDbServerResourceId: `127.0.0.1:${source.address.port}@${source.address.user}`,
      migrationOption: 'Migrate',
      dbsToMigrate: databases,
      secretParameters: {
        adminCredentials: {
          sourceServerPassword: source.password,
          targetServerPassword: targetServer.password,
        },
      },
      ...more,
    },
  })
  return {
    plane,
    store,
    engine,
    settings,
    source,
    target: targetServer,
    call,
    session,
    body: bodyOf,
    async register(path = target, server = targetServer, more = {}) {
      await call('PUT', path, {
        location: 'here',
        properties: {
          fullyQualifiedDomainName: server.address.host,
          port: server.address.port,
          administratorLogin: server.address.user,
          administratorLoginPassword: server.password,
          ...more,
        },
      })
      for (let looks = 0; looks < looksMax; looks++) {
        const found = await call('GET', path)
        const { provisioningState } = found.body.properties
        if (provisioningState === 'Succeeded' || provisioningState === 'Failed') return found
        await new Promise((done) => setTimeout(done, lookMilliseconds))
      }
      throw new Error('the server never came to rest')
    },
    put: (name, databases, more = {}) => call('PUT', at(name), bodyOf(databases, more)),
    patch: (name, properties) => call('PATCH', at(name), { properties }),
    async until(name, wanted) {
      let seen: Status | undefined
      for (let looks = 0; looks < looksMax; looks++) {
        seen = statusOf(await call('GET', at(name)))
        if (wanted(seen)) return seen
        await new Promise((done) => setTimeout(done, lookMilliseconds))
      }
      throw new Error(`the wanted state did not come; the last was ${JSON.stringify(seen)}`)
    },
    async make(database, side = 'source') {
      await using server = await session(side, 'postgres')
      await server.run(`CREATE DATABASE "${database}"`)
      await using inside = await session(side, database)
      await inside.run(`
        CREATE TABLE public.parent (id int PRIMARY KEY, t text);
        CREATE TABLE public.child (id serial PRIMARY KEY, parent int REFERENCES public.parent, n numeric);
        INSERT INTO public.parent SELECT i, 'row ' || i FROM generate_series(1, 500) i;
        INSERT INTO public.child (parent, n) SELECT i, i / 7.0 FROM generate_series(1, 500) i`)
    },
    async contentOf(side, database) {
      await using server = await session(side, 'postgres')
      const there = await server.value('SELECT 1 FROM pg_database WHERE datname = $1', [database])
      if (there === undefined) return undefined
      await using inside = await session(side, database)
      return await inside.value(
        `SELECT (SELECT md5(string_agg(p::text, ',' ORDER BY id)) FROM public.parent p)
           || (SELECT coalesce(md5(string_agg(c::text, ',' ORDER BY id)), '') FROM public.child c)`,
      )
    },
    async tracesAtSource() {
      await using server = await session('source', 'postgres')
      const slots = await server.rows<{ name: string }>(
        'SELECT slot_name AS name FROM pg_replication_slots',
      )
      const settings = await server.rows<{ name: string }>(
        `SELECT d.datname AS name FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase`,
      )
      const traces = [
        ...slots.map(({ name }) => `slot ${name}`),
        ...settings.map(({ name }) => `setting of ${name}`),
      ]
      const databases = await server.rows<{ name: string }>(
        'SELECT datname AS name FROM pg_database WHERE datallowconn AND NOT datistemplate',
      )
      for (const { name } of databases) {
        await using inside = await session('source', name)
        const found = await inside.rows<{ name: string }>(
          'SELECT pubname AS name FROM pg_publication',
        )
        traces.push(...found.map((one) => `publication ${one.name} in ${name}`))
      }
      return traces
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

export function statusOf({ body }: Pick<Wire, 'body'>): Status {
  const { state, error, currentSubStateDetails } = body.properties.currentStatus
  return {
    state,
    error,
    subState: currentSubStateDetails.currentSubState,
    databases: currentSubStateDetails.dbDetails ?? {},
    validation: currentSubStateDetails.validationDetails,
  }
}

export const isSettled = ({ state }: Status): boolean =>
  ['Succeeded', 'Failed', 'Canceled', 'ValidationFailed'].includes(state)

export const waitsFor =
  (subState: string) =>
  (status: Status): boolean =>
    status.state === 'WaitingForUserAction' && status.subState === subState

/** Expects that the plane refuses the work with this code. */
export async function refused(work: Promise<unknown>, code: string, status: number, text = /./) {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof ApiError, String(error))
    assert.equal(error.code, code, error.message)
    assert.equal(error.status, status)
    assert.match(error.message, text)
    return true
  })
}
