/**
 * Whatever is written, deleted, refused by the engine or interrupted by the death of a process: the engine ends at
 * the desired state, and no two workers ever work on one resource at once. On both stores.
 */

import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '#kernel/error.ts'
import { contractWords } from '#kernel/vendor.ts'
import { openPostgres } from '#stores/postgres/open.ts'
import { type Store, StoreUnavailable } from '#stores/store.ts'
import {
  findPostgres,
  howToGetPostgres,
  type PostgresServer,
  startPostgres,
} from '#stores/testing/postgres-server.ts'
import { fc } from '../../../tests/property.ts'
import { requireOrSkip } from '../../../tests/require.ts'
import { mortalStore } from '../testing/mortal-store.ts'
import {
  group,
  memoryStore,
  startPlane,
  type TestClock,
  type TestPlane,
  testClock,
} from '../testing/start.ts'
import { WatchedEngine } from '../testing/watched-engine.ts'

const shared: { server?: Promise<PostgresServer> } = {}
after(async () => (await shared.server)?.stop())

/** A new store for each use, or `undefined` if the test was skipped. */
type MakeStore = (clock: TestClock) => Promise<Store>

async function postgres(t: TestContext): Promise<MakeStore | undefined> {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return undefined
  shared.server ??= startPostgres({ fsync: false })
  const server = await shared.server
  return async (clock) =>
    openPostgres({
      url: await server.createDatabase(),
      poolSize: 8,
      migrations: [],
      words: contractWords,
      transactionRetriesMax: 8,
      clock,
    })
}

type Step =
  | { readonly kind: 'put'; readonly name: number; readonly parts: readonly string[] }
  | { readonly kind: 'delete'; readonly name: number }
  | { readonly kind: 'fail'; readonly calls: number }
  | { readonly kind: 'die'; readonly steps: number }
  | { readonly kind: 'pass'; readonly seconds: number }

const names = 3
const letters = ['a', 'b', 'c', 'd']

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('put' as const),
      name: fc.nat(names - 1),
      parts: fc.uniqueArray(fc.constantFrom(...letters), { maxLength: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('delete' as const), name: fc.nat(names - 1) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('fail' as const),
      calls: fc.integer({ min: 1, max: 4 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('die' as const), steps: fc.nat(60) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('pass' as const),
      seconds: fc.integer({ min: 1, max: 12 }),
    }),
  },
)

const leaseSeconds = 10
const path = (name: number): string => `${group}/providers/Vendor.Sample/widgets/w${name}`
const body = (parts: readonly string[]): object => ({ location: 'here', properties: { parts } })

/** The possible values of a name after all answers. `undefined` means absent. */
type Possible = Set<string | undefined>

async function play(inner: Store, clock: TestClock, steps: readonly Step[]): Promise<void> {
  const engine = new WatchedEngine()
  const possible: Possible[] = Array.from({ length: names }, () => new Set([undefined]))
  const limits = { leaseSeconds, backoffSecondsMax: 4 }
  let mortal = mortalStore(inner)
  let t = await startPlane({ store: mortal.store, engine, clock, limits })
  const revive = async (): Promise<void> => {
    // What the dead process still has in memory has no effect: its store no longer answers.
    mortal.dieAfter(0)
    await t[Symbol.asyncDispose]()
    mortal = mortalStore(inner)
    t = await startPlane({ store: mortal.store, engine, clock, limits })
  }
  for (const one of steps) {
    switch (one.kind) {
      case 'put':
      case 'delete': {
        const { name } = one
        const wanted = one.kind === 'put' ? JSON.stringify(one.parts) : undefined
        const verdict = await ask(t, one)
        if (verdict === 'done') possible[name] = new Set([wanted])
        // After a deletion that was not answered, or is running, it is open whether a write came later.
        if (verdict === 'unknown') possible[name]?.add(wanted)
        break
      }
      case 'fail':
        engine.failures = one.calls
        break
      case 'die':
        mortal.dieAfter(one.steps)
        break
      case 'pass':
        clock.advance(one.seconds)
        t.plane.reconciler.wake()
        await Promise.race([t.plane.reconciler.idle().catch(() => undefined), sleep(200)])
        break
      default:
        one satisfies never
    }
    if (mortal.isDead) await revive()
  }
  engine.failures = 0
  await revive()
  await reachRest(t, clock)

  assert.equal(engine.overlapMax <= 1, true, 'two worked on one resource at once')
  let alive = 0
  for (let name = 0; name < names; name++) {
    const found = await read(t, name)
    assert.ok(
      possible[name]?.has(found?.desired),
      `w${name}: ${JSON.stringify(found)} of ${JSON.stringify([...(possible[name] ?? [])])}`,
    )
    if (found === undefined) continue
    if (found.desired !== '[]') alive++
    assert.equal(found.state, 'Succeeded')
    assert.deepEqual(JSON.parse(found.made).sort(), JSON.parse(found.desired).sort())
  }
  // The engine has nothing that no resource wants.
  assert.equal(engine.parts.size, alive)
  const keys = await inner.list({ under: '/', limit: 100 })
  for (const { key } of keys) assert.equal(await inner.runningOperation(key), undefined, key)
  assert.equal(await inner.nextDue(), undefined)
  await t[Symbol.asyncDispose]()
}

async function ask(
  t: TestPlane,
  one: Extract<Step, { readonly name: number }>,
): Promise<'done' | 'refused' | 'unknown'> {
  try {
    if (one.kind === 'put') await t.call('PUT', path(one.name), body(one.parts))
    else await t.call('DELETE', path(one.name))
    return 'done'
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return 'refused'
    if (error instanceof StoreUnavailable) return 'unknown'
    throw error
  }
}

async function read(
  t: TestPlane,
  name: number,
): Promise<
  { readonly desired: string; readonly state: string; readonly made: string } | undefined
> {
  try {
    // The widget's own answer.
    const { properties } = (await t.call('GET', path(name))).body as {
      readonly properties: {
        readonly parts: readonly string[]
        readonly provisioningState: string
        readonly made: readonly string[]
      }
    }
    return {
      desired: JSON.stringify(properties.parts),
      state: properties.provisioningState,
      made: JSON.stringify(properties.made),
    }
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}

/** Leases of the dead expire, back-offs pass, and nothing is due any more. */
async function reachRest(t: TestPlane, clock: TestClock): Promise<void> {
  for (let count = 0; count < 40; count++) {
    await t.plane.reconciler.idle()
    if ((await t.store.nextDue()) === undefined) return
    if (t.store.dialect === 'postgres') await sleep(20)
    clock.advance(leaseSeconds + 1)
    t.plane.reconciler.wake()
  }
}

test('for any sequence of puts, deletes, failures and deaths the engine ends at the desired state', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const clock = testClock()
      await using store = await memoryStore()
      await play(store, clock, steps)
    }),
    { numRuns: process.env['ARMATURE_TEST_LONG'] === '1' ? 3000 : 150 },
  )
})

/** Two planes on one store: every step is done by one of them only, and none twice. */
async function share(store: Store, clock: TestClock): Promise<void> {
  const engine = new WatchedEngine()
  engine.gate = () => sleep(1)
  await using one = await startPlane({ store, engine, clock })
  await using two = await startPlane({ store, engine, clock })
  const planes = [one, two]
  const widgets = Array.from({ length: 12 }, (_, name) => name)
  await Promise.all(
    widgets.map((name) => planes[name % 2]?.call('PUT', path(name), body(['a', 'b', 'c']))),
  )
  for (let count = 0; count < 3; count++) {
    for (const t of planes) {
      t.plane.reconciler.wake()
      await t.plane.reconciler.idle()
    }
  }
  for (const name of widgets) assert.equal((await read(one, name))?.state, 'Succeeded')
  assert.equal(engine.overlapMax, 1)
  assert.equal(engine.journal.length, 36)
  assert.equal(new Set(engine.journal).size, 36, 'a step was done twice')
}

/** However many write the same: one operation, one generation. */
async function agree(store: Store, clock: TestClock, count: number): Promise<void> {
  await using one = await startPlane({ store, clock, reconcile: false })
  await using two = await startPlane({ store, clock, reconcile: false })
  const outcomes = await Promise.all(
    Array.from({ length: count }, (_, at) =>
      (at % 2 === 0 ? one : two).call('PUT', path(0), body(['a'])),
    ),
  )
  assert.equal(outcomes.filter(({ status }) => status === 201).length, 1)
  assert.equal(new Set(outcomes.map(({ operation }) => operation?.statusPath)).size, 1)
  assert.equal(new Set(outcomes.map(({ etag }) => etag)).size, 1)
  assert.equal((await store.get(path(0).toLowerCase()))?.generation, 1)
}

test('planes on one SQLite store share the work and agree', async () => {
  const clock = testClock()
  await using first = await memoryStore()
  await share(first, clock)
  await using second = await memoryStore()
  await agree(second, clock, 40)
})

test('replicas on one PostgreSQL share the work and agree', async (t) => {
  const make = await postgres(t)
  if (make === undefined) return
  const clock = testClock()
  await using first = await make(clock)
  await share(first, clock)
  await using second = await make(clock)
  await agree(second, clock, 16)
})
