/**
 * kill -9, cancellation, and both, at every call of the ledger for every kind of target, on both stores: a reader
 * finds one round and never a mixture, a record says which, nothing is counted twice, and the next run continues.
 */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import {
  type BlobServer,
  hasAzurite,
  howToGetAzurite,
  startAzurite,
} from '#engines/copy/testing/azurite.ts'
import { realClock } from '#plane/testing/provider-context.ts'
import {
  findPostgres,
  howToGetPostgres,
  type PostgresServer,
  startPostgres,
} from '#stores/testing/postgres-server.ts'
import { isLong, someOf } from '../../../tests/long.ts'
import { requireOrSkip } from '../../../tests/require.ts'
import { openRuns } from './domain/store/runs.ts'
import { type Cut, cutEngine } from './testing/cut.ts'
import type { Dying } from './testing/dying-server.ts'
import {
  type Around,
  declareFour,
  itemsEach,
  seenRounds,
  targets,
  writeRound,
} from './testing/four-targets.ts'
import { consumer, type Sharing, startSharing, taken } from './testing/start.ts'
import { openStoreAt, type StoreAddress, sealKey } from './testing/stores.ts'

let servers: Promise<{ readonly postgres: PostgresServer; readonly blobs: BlobServer }> | undefined
after(async () => {
  const running = await servers
  await running?.postgres[Symbol.asyncDispose]()
  await running?.blobs[Symbol.asyncDispose]()
})

type Calls = Readonly<Record<Cut['target'], readonly Cut['call'][]>>

const callsOf: Readonly<Record<StoreAddress['kind'], Calls>> = {
  sqlite: {
    folder: ['todo', 'commit', 'publishing', 'published'],
    // Within one service, which copies them during publishing.
    blobs: ['todo', 'publishing', 'done', 'commit', 'holds', 'published'],
    postgres: ['publishing', 'published'],
    duckdb: ['publishing', 'published'],
  },
  // The kind of target makes no difference to the store: here are those that the other one lacks.
  postgres: {
    folder: [],
    // From another service: staged, then committed.
    blobs: ['todo', 'commit', 'publishing', 'done', 'holds', 'published'],
    postgres: ['publishing', 'published'],
    duckdb: [],
  },
}

/** Every moment between two calls once; also after each call, with enough time. */
const cutsOn = (kind: StoreAddress['kind']): readonly Cut[] =>
  targets.flatMap((target) =>
    callsOf[kind][target].flatMap((call): readonly Cut[] => {
      const both = call === 'published' || isLong
      const before: Cut = { target, call, when: 'before' }
      return both ? [before, { target, call, when: 'after' }] : [before]
    }),
  )

/** Whether the interrupted data set has begun to change its target. */
function hasBegun(kind: StoreAddress['kind'], { target, call, when }: Cut): boolean {
  const calls = callsOf[kind][target]
  const begins = calls.indexOf('publishing')
  const at = calls.indexOf(call)
  return at > begins || (at === begins && when === 'after')
}

interface Fixture extends AsyncDisposable {
  readonly around: Around
  readonly address: StoreAddress
  round: number
  /** The round that each target shows. */
  shown: Readonly<Record<string, number>>
  open(options?: Partial<Parameters<typeof startSharing>[0]>): Promise<Sharing>
}

async function world(
  t: Parameters<typeof requireOrSkip>[0],
  kind: StoreAddress['kind'],
): Promise<Fixture | undefined> {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return undefined
  if (!requireOrSkip(t, hasAzurite(), howToGetAzurite)) return undefined
  servers ??= Promise.all([startPostgres({ fsync: false }), startAzurite()]).then(
    ([postgres, blobs]) => ({ postgres, blobs }),
  )
  const { postgres, blobs } = await servers
  const root = mkdtempSync(join(tmpdir(), 'armature-phases-'))
  const address: StoreAddress =
    kind === 'sqlite'
      ? { kind, path: join(root, 'store.db') }
      : { kind, url: await postgres.createDatabase() }
  const around: Around = {
    root,
    endpoint: blobs.endpoint,
    isOneService: kind === 'sqlite',
    containers: { source: `given-${randomUUID()}`, target: `taken-${randomUUID()}` },
    from: await postgres.createDatabase(),
    to: await postgres.createDatabase(),
  }
  const made: Fixture = {
    around,
    address,
    round: 1,
    shown: Object.fromEntries(targets.map((one) => [one, 1])),
    async open(options = {}) {
      const store = await openStoreAt(address)
      const sharing = await startSharing({ ...options, sealKey, store, root })
      return {
        ...sharing,
        async [Symbol.asyncDispose]() {
          await sharing[Symbol.asyncDispose]()
          await store[Symbol.asyncDispose]()
        },
      }
    },
    async [Symbol.asyncDispose]() {
      rmSync(root, { recursive: true, force: true })
    },
  }
  await using sharing = await made.open()
  await declareFour(sharing, around)
  await writeRound(sharing, around, 1)
  await succeeded(sharing, await sharing.synchronize())
  await seen(made)
  return made
}

async function succeeded(sharing: Sharing, id: string): Promise<void> {
  const run = await sharing.ended(id)
  assert.equal(run.status, 'Succeeded', JSON.stringify(await sharing.details(id)))
}

/** Each target shows one whole round. */
async function seen({ around, shown }: Fixture): Promise<void> {
  for (const target of targets) {
    const rounds = await seenRounds(around, target)
    assert.deepEqual(rounds, Array(itemsEach).fill(shown[target]), target)
  }
}

/** A record says what its target shows, and the numbers are those of one copy. */
async function recordsHold(
  made: Fixture,
  sharing: Sharing,
  id: string,
): Promise<Readonly<Record<string, string>>> {
  const statuses: Record<string, string> = {}
  for (const detail of await sharing.details(id)) {
    const isDone = detail.status === 'Succeeded'
    statuses[detail.name] = detail.status
    if (isDone) {
      made.shown = { ...made.shown, [detail.name]: made.round }
      const copied = detail.filesWritten + detail.rowsCopied
      assert.equal(copied, itemsEach, JSON.stringify(detail))
      assert.equal(detail.filesRead + detail.rowsRead, itemsEach)
    }
  }
  await seen(made)
  return statuses
}

/** The next run continues from there, and nothing unfinished is left. */
async function goesOn(made: Fixture, sharing: Sharing): Promise<void> {
  await writeRound(sharing, made.around, ++made.round)
  await succeeded(sharing, await sharing.synchronize())
  made.shown = Object.fromEntries(targets.map((one) => [one, made.round]))
  await seen(made)
  for (const stages of ['taker/.armature', 'databases/.armature']) {
    const left = readdirSync(join(made.around.root, stages)).filter((name) => name !== 'spill')
    assert.deepEqual(left, [], stages)
  }
}

async function dies(dying: Dying): Promise<void> {
  const script = join(import.meta.dirname, 'testing/dying-server.ts')
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', script, JSON.stringify(dying)],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  )
  const [code, signal] = await new Promise<[number | null, string | null]>((done) =>
    child.once('exit', (...how) => done(how)),
  )
  assert.equal(signal, 'SIGKILL', `it was to die at ${JSON.stringify(dying.cut)}, and left ${code}`)
}

/** A run whose process has died. */
async function leftBehind(address: StoreAddress, then?: 'and cancel it'): Promise<string> {
  await using store = await openStoreAt(address)
  const [row] = await store.sql.all('select run_id from share_active')
  const id = String(row?.['run_id'])
  if (then !== undefined) {
    await openRuns(store.sql, realClock).cancel(id, 'Cancelled by the consumer.')
  }
  return id
}

/** Leases of the dead process end a minute early. */
const laterClock = { now: () => realClock.now() + 60_000 }

for (const kind of ['sqlite', 'postgres'] as const) {
  // Each world costs two runs of all targets. So the ordinary suite kills on PostgreSQL, kills and cancels on SQLite, and cancels
  // on PostgreSQL.
  const onPostgres: typeof test | undefined = isLong || kind === 'postgres' ? test : undefined
  const onSqlite: typeof test | undefined = isLong || kind === 'sqlite' ? test : undefined
  onPostgres?.(`killed at every phase: taken up again and counted once (${kind})`, async (t) => {
    await using made = await world(t, kind)
    if (made === undefined) return
    const { around, address } = made
    // Processes take their time to start.
    for (const cut of someOf(cutsOn(kind), 9)) {
      await t.test(`${cut.target}, ${cut.when} ${cut.call}`, async () => {
        {
          await using sharing = await made.open()
          await writeRound(sharing, around, ++made.round)
        }
        await dies({ store: address, root: around.root, cut, mode: 'FullSync' })
        const id = await leftBehind(address)
        await using sharing = await made.open({ clock: laterClock })
        await succeeded(sharing, id)
        await recordsHold(made, sharing, id)
      })
    }
    await using sharing = await made.open({ clock: laterClock })
    await goesOn(made, sharing)
  })

  onSqlite?.(
    `killed at every phase and then cancelled: what had begun is finished, the rest is as it was (${kind})`,
    async (t) => {
      await using made = await world(t, kind)
      if (made === undefined) return
      const { around, address } = made
      for (const cut of someOf(cutsOn(kind), 9, 7)) {
        await t.test(`${cut.target}, ${cut.when} ${cut.call}`, async () => {
          {
            await using sharing = await made.open()
            await writeRound(sharing, around, ++made.round)
          }
          await dies({ store: address, root: around.root, cut, mode: 'FullSync' })
          const id = await leftBehind(address, 'and cancel it')
          await using sharing = await made.open({ clock: laterClock })
          const ended = await sharing.ended(id)
          assert.equal(ended.status, 'Cancelled')
          const statuses = await recordsHold(made, sharing, id)
          assert.equal(statuses[cut.target], hasBegun(kind, cut) ? 'Succeeded' : 'Cancelled')
        })
      }
      await using sharing = await made.open({ clock: laterClock })
      await goesOn(made, sharing)
    },
  )

  onPostgres?.(
    `cancelled at every phase: what had begun is finished, the rest is as it was (${kind})`,
    async (t) => {
      await using made = await world(t, kind)
      if (made === undefined) return
      for (const cut of someOf(cutsOn(kind), 6, 1)) {
        await t.test(`${cut.target}, ${cut.when} ${cut.call}`, async () => {
          const cancelled = Promise.withResolvers<string>()
          const engine = cutEngine(cut, async (signal) => {
            const path = `${taken}/cancelSynchronization`
            const synchronizationId = await cancelled.promise
            const { status } = await sharing.call('POST', path, { synchronizationId }, consumer)
            assert.equal(status, 202)
            if (!signal.aborted) {
              await new Promise((heard) => signal.addEventListener('abort', heard, { once: true }))
            }
          })
          await using sharing = await made.open({ engine })
          await writeRound(sharing, made.around, ++made.round)
          const id = await sharing.synchronize()
          cancelled.resolve(id)
          const ended = await sharing.ended(id)
          assert.equal(ended.status, 'Cancelled')
          const statuses = await recordsHold(made, sharing, id)
          // Once it has asked to publish, it continues.
          const begun = hasBegun(kind, cut) || cut.call === 'publishing'
          assert.equal(statuses[cut.target], begun ? 'Succeeded' : 'Cancelled')
        })
      }
      await using sharing = await made.open()
      await goesOn(made, sharing)
    },
  )
}
