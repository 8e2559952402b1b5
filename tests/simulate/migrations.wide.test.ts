/**
 * kill -9 of the server in every state of a migration, and of its worker at random moments, while an application
 * writes. Afterwards the databases are the same, and nothing of the migration is left on either server.
 */

import assert from 'node:assert/strict'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Session } from '#engines/databases/postgres/connect.ts'
import { startLoad } from '#engines/databases/testing/load.ts'
import {
  findServer,
  howToGetServers,
  startServer,
  type TestServer,
} from '#engines/databases/testing/servers.ts'
import { openWay } from '#outbound/testing/ways.ts'
import { findPostgres, howToGetPostgres, startPostgres } from '#stores/testing/postgres-server.ts'
import { freshHome, type Installation, startInstallation } from '../e2e/installation.ts'
import { isLong, someOf } from '../long.ts'
import { requireOrSkip } from '../require.ts'

const seed = Number(process.env['ARMATURE_SIMULATE_SEED'] ?? (isLong ? Date.now() % 1_000_000 : 1))
const looksMax = 1500
const version = 'api-version=2025-08-01'

/** A small generator: the same seed gives the same choices. */
function random(from: number): () => number {
  let state = from >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

interface Fixture {
  readonly source: TestServer
  readonly target: TestServer
  readonly home: string
  readonly next: () => number
  readonly store: string | undefined
  server: Installation
  /** The states in which it was killed. */
  readonly kills: Set<string>
  workerKills: number
}

function open(server: TestServer, database: string): Promise<Session> {
  const { address, password } = server
  return connect(
    { address, password, outbound: openWay },
    { database, applicationName: 'simulate' },
  )
}

async function restart(fixture: Fixture): Promise<void> {
  await fixture.server.kill()
  fixture.server = await start(fixture)
}

function start({ home, store }: Pick<Fixture, 'home' | 'store'>): Promise<Installation> {
  return startInstallation({
    home,
    ...(store === undefined ? {} : { store }),
    // Leases of a killed process end sooner.
    environment: { ARMATURE_LIMIT_LEASE_SECONDS: '2' },
  })
}

/** Kills the worker of the only running migration. False if there is none. */
function killWorker(home: string): boolean {
  const folder = join(home, 'migrations')
  try {
    for (const name of readdirSync(folder)) {
      const { pid } = JSON.parse(readFileSync(join(folder, name, 'worker.json'), 'utf8')) as {
        readonly pid: number
      }
      process.kill(pid, 'SIGKILL')
      return true
    }
  } catch {
    // It has not begun, or has ended: then there is none to kill.
  }
  return false
}

function path(fixture: Fixture, name: string): string {
  const group = `/subscriptions/${fixture.server.subscriptionId}/resourceGroups/rg`
  return `${group}/providers/Vendor.DBforPostgreSQL/flexibleServers/target${name}?${version}`
}

interface Seen {
  readonly state: string
  readonly subState: string
  readonly error: string
}

async function statusOf(fixture: Fixture, name: string): Promise<Seen> {
  const answer = await fixture.server.request('GET', path(fixture, `/migrations/${name}`))
  assert.equal(answer.status, 200, answer.text)
  const status = 'properties.currentStatus'
  return {
    state: String(answer.at(`${status}.state`)),
    subState: String(answer.at(`${status}.currentSubStateDetails.currentSubState`)),
    error: String(answer.at(`${status}.error`) ?? ''),
  }
}

/**
 * Follows a migration to its end, kills the server in each state in which none was killed yet (in the long suite in each
 * state of each migration), and performs the actions that it waits for.
 */
async function follow(
  fixture: Fixture,
  name: string,
  answers: Readonly<Record<string, object>>,
): Promise<Seen> {
  for (let looks = 0; looks < looksMax; looks++) {
    const seen = await statusOf(fixture, name)
    const at = isLong ? `${name} ${seen.subState}` : seen.subState
    if (seen.subState === 'Completed') return seen
    if (!fixture.kills.has(at)) {
      fixture.kills.add(at)
      if (fixture.next() < 0.5 && killWorker(fixture.home)) fixture.workerKills++
      await restart(fixture)
      continue
    }
    const answer = seen.state === 'WaitingForUserAction' ? answers[seen.subState] : undefined
    if (answer !== undefined) {
      const patched = await fixture.server.request('PATCH', path(fixture, `/migrations/${name}`), {
        body: { properties: answer },
      })
      assert.ok([200, 409].includes(patched.status), patched.text)
      // Right after the request: the order is stored, and perhaps nobody has read it yet.
      if (fixture.next() < 0.5) await restart(fixture)
    }
    await sleep(20 + fixture.next() * 150)
  }
  throw new Error(`seed ${seed}: the migration never ended`)
}

async function make(server: TestServer, database: string): Promise<void> {
  {
    await using maintenance = await open(server, 'postgres')
    await maintenance.run(`CREATE DATABASE ${database}`)
  }
  await using inside = await open(server, database)
  await inside.run(`
    CREATE TABLE public.note (id serial PRIMARY KEY, t text);
    CREATE TABLE public.no_key (a int);
    INSERT INTO public.note (t) SELECT repeat('x', 200) || i FROM generate_series(1, 30000) i;
    INSERT INTO public.no_key SELECT i FROM generate_series(1, 100) i`)
}

async function contentOf(server: TestServer, database: string): Promise<string> {
  await using inside = await open(server, database)
  const text = await inside.value(
    `SELECT (SELECT count(*) || ' ' || md5(string_agg(n::text, ',' ORDER BY id)) FROM public.note n)
      || (SELECT md5(string_agg(a::text, ',' ORDER BY a)) FROM public.no_key)`,
  )
  return String(text)
}

/** Slots, publications, subscriptions, settings of databases, sessions and incomplete databases on a server. */
async function tracesAt(server: TestServer): Promise<readonly string[]> {
  await using maintenance = await open(server, 'postgres')
  const rows = await maintenance.rows<{ name: string }>(`
    SELECT 'slot ' || slot_name AS name FROM pg_replication_slots
    UNION ALL SELECT 'setting ' || d.datname FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase
    UNION ALL SELECT 'subscription ' || subname FROM pg_subscription
    UNION ALL SELECT 'database ' || datname FROM pg_database WHERE datname ~ 'armature'
    UNION ALL SELECT 'session ' || application_name FROM pg_stat_activity WHERE application_name ~ 'armature|migrat'`)
  const found = rows.map(({ name }) => name)
  for (const database of ['online', 'called']) {
    const there = await maintenance.value('SELECT 1 FROM pg_database WHERE datname = $1', [
      database,
    ])
    if (there === undefined) continue
    await using inside = await open(server, database)
    const publications = await inside.rows<{ name: string }>(
      `SELECT 'publication ' || pubname AS name FROM pg_publication
       UNION ALL SELECT 'identity ' || oid::regclass FROM pg_class
         WHERE relkind = 'r' AND relreplident <> 'd' AND relnamespace = 'public'::regnamespace`,
    )
    found.push(...publications.map(({ name }) => name))
  }
  return found
}

/** Sessions end a moment after their process. */
async function assertClean(fixture: Fixture, kept: readonly string[]): Promise<void> {
  let left: readonly string[] = []
  for (let looks = 0; looks < 100; looks++) {
    left = [...(await tracesAt(fixture.source)), ...(await tracesAt(fixture.target))]
    if (left.join() === kept.join()) return
    await sleep(50)
  }
  assert.deepEqual(left, kept, `seed ${seed}`)
}

for (const kind of someOf(['SQLite', 'PostgreSQL'] as const, 2)) {
  test(`${kind}: killed in every state, a migration ends well (seed ${seed})`, {
    timeout: 600_000,
  }, async (t) => {
    if (!requireOrSkip(t, findServer(15) !== undefined, howToGetServers)) return
    if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
    await using stack = new AsyncDisposableStack()
    const home = freshHome()
    stack.defer(() => rmSync(home, { recursive: true, force: true }))
    const source = stack.use(await startServer(15))
    const target = stack.use(await startServer(15))
    const store =
      kind === 'SQLite'
        ? undefined
        : await stack.use(await startPostgres({ fsync: false })).createDatabase()
    const fixture: Fixture = {
      source,
      target,
      home,
      store,
      next: random(seed),
      kills: new Set(),
      workerKills: 0,
      server: await start({ home, store }),
    }
    stack.defer(() => fixture.server[Symbol.asyncDispose]())
    await fixture.server.request('PUT', path(fixture, ''), {
      body: {
        location: 'here',
        properties: {
          fullyQualifiedDomainName: '127.0.0.1',
          port: target.address.port,
          administratorLogin: 'postgres',
          administratorLoginPassword: target.password,
        },
      },
    })
    const health = `${path(fixture, '').split('?')[0]}/providers/Vendor.ResourceHealth`
    const current = `${health}/availabilityStatuses/current?api-version=2025-05-01`
    for (let looks = 0; ; looks++) {
      const answer = await fixture.server.request('GET', current)
      if (answer.at('properties.availabilityState') === 'Available') break
      assert.ok(looks < 100, answer.text)
      await sleep(50)
    }
    const put = async (name: string): Promise<void> => {
      await make(source, name)
      const made = await fixture.server.request('PUT', path(fixture, `/migrations/${name}`), {
        body: {
          location: 'here',
          properties: {
            sourceType: 'OnPremises',
            sourceDbServerResourceId: `127.0.0.1:${source.address.port}@postgres`,
            migrationMode: 'Online',
            migrationOption: 'ValidateAndMigrate',
            dbsToMigrate: [name],
            startDataMigration: 'False',
            setupLogicalReplicationOnSourceDbIfNeeded: 'False',
            secretParameters: {
              adminCredentials: {
                sourceServerPassword: source.password,
                targetServerPassword: target.password,
              },
            },
          },
        },
      })
      assert.equal(made.status, 201, made.text)
    }
    const consents = {
      WaitingForLogicalReplicationSetupRequestOnSourceDB: {
        setupLogicalReplicationOnSourceDbIfNeeded: 'True',
      },
      WaitingForDataMigrationScheduling: { startDataMigration: 'True' },
    }

    await put('online')
    const load = startLoad(source, 'online', {
      perSecond: 50,
      endsWhenShutOut: true,
      statements: [
        "INSERT INTO public.note (t) VALUES ('late ' || clock_timestamp())",
        "UPDATE public.note SET t = t || '+' WHERE id = 1 + (random() * 1000)::int",
        'UPDATE public.no_key SET a = a + 1000 WHERE a = (random() * 100)::int',
      ],
    })
    stack.defer(() => load.stop())
    const done = await follow(fixture, 'online', {
      ...consents,
      WaitingForCutoverTrigger: { triggerCutover: 'True' },
    })
    assert.equal(done.state, 'Succeeded', `seed ${seed}: ${done.error}`)
    await load.stop()
    assert.ok(load.committed() > 0)
    // The fence stays, so writes that were confirmed to the application are on both sides.
    assert.equal(await contentOf(target, 'online'), await contentOf(source, 'online'))
    await assertClean(fixture, ['setting online'])

    await put('called')
    const called = await follow(fixture, 'called', {
      ...consents,
      WaitingForCutoverTrigger: { cancel: 'True' },
    })
    assert.equal(called.state, 'Canceled', `seed ${seed}: ${called.error}`)
    assert.equal(await contentOf(target, 'called'), await contentOf(source, 'called'))
    await assertClean(fixture, ['setting online'])
    const states = [...fixture.kills].map((one) => one.split(' ').at(-1))
    for (const one of ['WaitingForDataMigrationScheduling', 'WaitingForCutoverTrigger']) {
      assert.ok(states.includes(one), `seed ${seed}: never killed at ${one}`)
    }
    t.diagnostic(`killed at ${[...fixture.kills].join(', ')}; workers ${fixture.workerKills}`)
  })
}
