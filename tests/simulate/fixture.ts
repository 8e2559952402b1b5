/**
 * A simulated installation: one server on SQLite, or two replicas on one PostgreSQL, and the ways to hurt it. It
 * can read the store without the servers.
 */

import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { clientCredentialsToken } from '#client/oauth.ts'
import { type PostgresServer, startPostgres } from '#stores/testing/postgres-server.ts'
import type { Random } from '../fuzz/random.ts'
import { Replica } from './server-process.ts'
import { type Snapshot, sessionsOf, snapshotOfPostgres, snapshotOfSqlite } from './snapshot.ts'

export type StoreKind = 'sqlite' | 'postgres'

/** Short, so that the work of a dead replica is taken over during the simulation. */
const leaseSeconds = 1
const answerSecondsMax = 30

export interface SimulationFixture extends AsyncDisposable {
  readonly replicas: readonly Replica[]
  readonly folder: string
  readonly ownerToken: string
  readonly subscriptionId: string
  /** A service principal without any right. */
  createReader(name: string): Promise<{ readonly principalId: string; readonly token: string }>
  snapshot(): Promise<Snapshot>
  /** Hurts something at random and returns a description. Killed processes stay down until `recover`. */
  hurt(random: Random): Promise<string>
  /** Starts what is down, sometimes kills it once more on the way up, and waits until all answer. */
  recover(random: Random): Promise<void>
  /** Keeps the folder, for whoever investigates a failure. */
  keep(): void
}

export async function createFixture(kind: StoreKind): Promise<SimulationFixture> {
  const folder = mkdtempSync(join(tmpdir(), 'armature-simulate-'))
  const postgres = kind === 'postgres' ? await startPostgres({ fsync: false }) : undefined
  try {
    return await open(folder, postgres)
  } catch (error) {
    await postgres?.stop()
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

async function open(
  folder: string,
  postgres: PostgresServer | undefined,
): Promise<SimulationFixture> {
  const store = await postgres?.createDatabase()
  const settings: Readonly<Record<string, string>> = {
    // Tokens name their issuer, and a replica's port changes with every start.
    ARMATURE_PUBLIC_URL: 'http://armature.test',
    ARMATURE_LOG_LEVEL: 'warn',
    ARMATURE_THROTTLE: 'false',
    ARMATURE_LIMIT_LEASE_SECONDS: String(leaseSeconds),
    ...(store === undefined
      ? {}
      : { ARMATURE_STORE: store, ARMATURE_KEY: randomBytes(32).toString('base64') }),
  }
  const names = postgres === undefined ? ['alone'] : ['left', 'right']
  const replicas = names.map((name) => {
    const home = join(folder, name)
    mkdirSync(home)
    return new Replica(name, home, settings)
  })
  // The first one creates the owner, and only its home has the credentials.
  for (const replica of replicas) await replica.start()
  const [first] = replicas
  const started = first?.started
  if (first === undefined || started === undefined)
    throw new Error('the first server did not start')
  const { clientId, clientSecret } = JSON.parse(
    readFileSync(join(first.home, 'owner.json'), 'utf8'),
  ) as { readonly clientId: string; readonly clientSecret: string }
  const { accessToken } = await clientCredentialsToken({ url: started.url, clientId, clientSecret })
  let isKept = false

  const kill = async (killed: readonly Replica[]): Promise<string> => {
    await Promise.all(killed.map((replica) => replica.kill()))
    return `killed ${killed.map(({ name }) => name).join(' and ')}`
  }
  return {
    replicas,
    folder,
    ownerToken: accessToken,
    subscriptionId: started.subscriptionId,
    createReader: (name) => createReader(started.url, accessToken, name),
    snapshot: () =>
      store === undefined
        ? Promise.resolve(snapshotOfSqlite(join(folder, 'alone', 'armature.db')))
        : snapshotOfPostgres(store),
    async hurt(random) {
      if (store === undefined) return kill(replicas)
      const dice = random.next()
      if (dice < 0.4) return kill([random.pick(replicas)])
      if (dice < 0.6) return kill(replicas)
      return crashPostgres(store, random)
    },
    async recover(random) {
      const down = replicas.filter((replica) => !replica.isAlive)
      for (const replica of down) {
        if (!random.chance(0.3)) continue
        const starting = replica.start()
        await sleep(random.below(700))
        await replica.kill()
        await starting
      }
      await Promise.all(down.map((replica) => replica.start()))
      await Promise.all(replicas.map(answers))
    },
    keep() {
      isKept = true
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(replicas.map((replica) => replica.kill()))
      await postgres?.stop()
      if (!isKept) rmSync(folder, { recursive: true, force: true })
    },
  }
}

/**
 * When one session is killed by SIGKILL, the server ends all others at once and recovers from its log, as after any
 * crash. The sessions are processes of the server that this fixture started.
 */
async function crashPostgres(store: string, random: Random): Promise<string> {
  const sessions = await sessionsOf(store)
  if (sessions.length === 0) return 'found no session of PostgreSQL to kill'
  process.kill(random.pick(sessions), 'SIGKILL')
  return 'crashed PostgreSQL'
}

async function answers(replica: Replica): Promise<void> {
  const until = Date.now() + answerSecondsMax * 1000
  for (;;) {
    if (!replica.isAlive) throw new Error(`${replica.name} has ended:\n${replica.words}`)
    const ready = await fetch(`${replica.started?.url}/readyz`, {
      signal: AbortSignal.timeout(5000),
    })
      .then((response) => response.status === 200)
      .catch(() => false)
    if (ready) return
    if (Date.now() > until) throw new Error(`${replica.name} did not recover:\n${replica.words}`)
    await sleep(50)
  }
}

async function createReader(
  url: string,
  ownerToken: string,
  name: string,
): Promise<{ readonly principalId: string; readonly token: string }> {
  const post = async (path: string, body: object): Promise<Readonly<Record<string, unknown>>> => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ownerToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`POST ${path} answered ${response.status} ${text}`)
    return JSON.parse(text) as Readonly<Record<string, unknown>>
  }
  const made = await post('/directory/servicePrincipals', { displayName: name })
  const clientId = String(made['clientId'])
  const clientSecret = String(made['clientSecret'])
  const { accessToken } = await clientCredentialsToken({ url, clientId, clientSecret })
  return { principalId: String(made['id']), token: accessToken }
}
