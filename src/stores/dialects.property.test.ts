/** SQLite and PostgreSQL answer alike: random sequences of calls on both, compared call by call. */

import assert from 'node:assert/strict'
import { after, test } from 'node:test'

import { fc } from '../../tests/property.ts'

import { requireOrSkip } from '../../tests/require.ts'
import { contractMigration, contractOptions, contractRow } from './contract/setting.ts'
import { openPostgres } from './postgres/open.ts'
import { openSqlite } from './sqlite/open.ts'
import { type Claim, type SqlValue, type Store, StoreConflict, type Tx } from './store.ts'
import {
  findPostgres,
  howToGetPostgres,
  type PostgresServer,
  startPostgres,
} from './testing/postgres-server.ts'

/** A call as data, so that both stores get the same and a failing sequence can be read. */
type Call =
  | {
      readonly kind: 'insert' | 'update'
      readonly key: string
      readonly unique: string | null
      readonly etag: string
      readonly next: string
    }
  | { readonly kind: 'remove'; readonly key: string; readonly etag: string }
  | {
      readonly kind: 'operation'
      readonly id: string
      readonly key: string
      readonly running: boolean
    }
  | { readonly kind: 'schedule'; readonly key: string; readonly at: number }
  | { readonly kind: 'unschedule' | 'get' | 'lock'; readonly key: string }
  | { readonly kind: 'follow'; readonly feed: string; readonly key: string }
  | {
      readonly kind: 'list'
      readonly under: string
      readonly after: string | null
      readonly limit: number
    }
  | {
      readonly kind: 'part'
      readonly id: string
      readonly label: string | null
      readonly amount: number
    }
  | { readonly kind: 'refuse' }

type Step =
  | { readonly kind: 'transaction'; readonly calls: readonly Call[] }
  | { readonly kind: 'claim'; readonly at: number; readonly lease: number; readonly limit: number }
  | { readonly kind: 'renew' | 'assert'; readonly which: number }
  | {
      readonly kind: 'release'
      readonly which: number
      readonly at: number
      readonly failed: boolean
    }
  | { readonly kind: 'sweep'; readonly before: number; readonly limit: number }

const keyOf = fc.constantFrom(
  '/a',
  '/a/b',
  '/a/b/c',
  '/a-b',
  '/a0',
  '/b',
  '/é',
  '/\u{FF5E}',
  '/\u{1F600}',
)
const etagOf = fc.constantFrom('e1', 'e2')
const timeOf = fc.integer({ min: 0, max: 50 })
const smallOf = fc.integer({ min: 0, max: 4 })

const callOf: fc.Arbitrary<Call> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('insert' as const, 'update' as const),
    key: keyOf,
    unique: fc.constantFrom(null, null, 'u1', 'u2'),
    etag: etagOf,
    next: etagOf,
  }),
  fc.record({ kind: fc.constant('remove' as const), key: keyOf, etag: etagOf }),
  fc.record({
    kind: fc.constant('operation' as const),
    id: fc.constantFrom('o1', 'o2', 'o3'),
    key: keyOf,
    running: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('schedule' as const), key: keyOf, at: timeOf }),
  fc.record({
    kind: fc.constantFrom('unschedule' as const, 'get' as const, 'lock' as const),
    key: keyOf,
  }),
  fc.record({ kind: fc.constant('follow' as const), feed: fc.constantFrom('f', 'g'), key: keyOf }),
  fc.record({
    kind: fc.constant('list' as const),
    under: fc.oneof(keyOf, fc.constant('/')),
    after: fc.option(keyOf),
    limit: smallOf,
  }),
  fc.record({
    kind: fc.constant('part' as const),
    id: fc.constantFrom('p1', 'p2'),
    label: fc.constantFrom(null, 'x', 'y'),
    amount: fc.maxSafeInteger(),
  }),
  fc.record({ kind: fc.constant('refuse' as const) }),
)

const stepOf: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('transaction' as const),
      calls: fc.array(callOf, { minLength: 1, maxLength: 5 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('claim' as const),
      at: timeOf,
      // A long lease: PostgreSQL measures leases by its own clock, which goes on while these steps move the test's
      // clock.
      lease: fc.constant(3600),
      limit: smallOf,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('renew' as const, 'assert' as const),
      which: smallOf,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('release' as const),
      which: smallOf,
      at: timeOf,
      failed: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('sweep' as const), before: timeOf, limit: smallOf }),
  },
)

async function makeCall(tx: Tx, call: Call): Promise<unknown> {
  switch (call.kind) {
    case 'insert':
      return tx.insert(contractRow(call.key, { uniqueKey: call.unique, etag: call.next }))
    case 'update':
      return tx.update(
        contractRow(call.key, { uniqueKey: call.unique, etag: call.next }),
        call.etag,
      )
    case 'remove':
      return tx.remove(call.key, call.etag)
    case 'operation':
      return tx.putOperation({
        id: call.id,
        resourceKey: call.key,
        document: '{}',
        running: call.running,
        endedAt: call.running ? null : 20,
      })
    case 'schedule':
      return tx.schedule(call.key, call.at)
    case 'unschedule':
      return tx.unschedule(call.key)
    case 'get':
      return [await tx.get(call.key), await tx.runningOperation(call.key)]
    case 'lock':
      return tx.lock(call.key, 'change')
    case 'follow':
      return tx.follow(call.feed, call.key)
    case 'list': {
      const query = { under: call.under, limit: call.limit }
      const list = await tx.list(call.after === null ? query : { ...query, after: call.after })
      return [list, await tx.count(query)]
    }
    case 'part':
      return undefined
    case 'refuse':
      throw new Error('refused')
  }
}

function valuesOf(call: Call): readonly SqlValue[] | undefined {
  return call.kind === 'part' ? [call.id, call.amount, call.label] : undefined
}

/** One store during the steps. Fences differ between the dialects, so claims are named by their order. */
class Walk {
  readonly #store: Store
  readonly #claims: Claim[] = []

  constructor(store: Store) {
    this.#store = store
  }

  async take(step: Step): Promise<unknown> {
    const store = this.#store
    switch (step.kind) {
      case 'transaction': {
        const parts = step.calls
          .flatMap((call) => [valuesOf(call) ?? []])
          .filter((of) => of.length > 0)
        const insert = 'INSERT INTO parts (id, amount, label) VALUES (?, ?, ?)'
        return [
          await outcome(
            store.transact(async (tx) => {
              const answers: unknown[] = []
              for (const call of step.calls) answers.push(await makeCall(tx, call))
              return answers
            }),
          ),
          await outcome(
            store.sql.transact(async (tx) => {
              for (const values of parts) await tx.run(insert, ...values)
              return tx.all('SELECT id, amount, label FROM parts ORDER BY id')
            }),
          ),
        ]
      }
      case 'claim': {
        const claims = await store.claimDue('owner', step.at, step.lease, step.limit)
        this.#claims.unshift(...claims)
        return claims.map(({ key, attempt }) => ({ key, attempt }))
      }
      case 'renew':
      case 'assert': {
        const claim = this.#claims[step.which]
        if (claim === undefined) return undefined
        if (step.kind === 'renew') return store.renew(claim, 0, 3600)
        return outcome(store.transact((tx) => tx.assertClaim(claim)))
      }
      case 'release': {
        const claim = this.#claims[step.which]
        if (claim !== undefined) await store.release(claim, step.at, step.failed)
        return undefined
      }
      case 'sweep':
        return store.sweepOperations(step.before, step.limit)
    }
  }

  /** Everything that can be seen from outside. */
  async state(): Promise<unknown> {
    const store = this.#store
    return {
      rows: await store.list({ under: '/', limit: 100 }),
      feeds: [await store.feed('f').since(0, 100), await store.feed('g').since(0, 100)],
      operations: await Promise.all(['o1', 'o2', 'o3'].map((id) => store.operation(id))),
      work: await store.sql.all(
        'SELECT key, due_at, wanted_at, lease_owner, attempt FROM work ORDER BY key',
      ),
    }
  }
}

async function outcome(answer: Promise<unknown>): Promise<unknown> {
  const [settled] = await Promise.allSettled([answer])
  if (settled.status === 'fulfilled') return settled.value
  const { reason } = settled
  if (reason instanceof StoreConflict) return { conflict: reason.unique ?? 'race' }
  if (reason instanceof Error && reason.message === 'refused') return 'refused'
  throw reason
}

const empty = ['resources', 'operations', 'events', 'work', 'feeds', 'feed_entries', 'parts']

async function clear(store: Store): Promise<void> {
  await store.sql.transact(async (tx) => {
    for (const table of empty) await tx.run(`DELETE FROM ${table}`)
  })
}

const shared: { server?: PostgresServer } = {}
after(() => shared.server?.stop())

test('any sequence of calls has the same answers from both', async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  shared.server = await startPostgres({ fsync: false })
  // Few tries, since a single caller loses no race.
  const options = { ...contractOptions, migrations: [contractMigration], transactionRetriesMax: 2 }
  const url = await shared.server.createDatabase()
  await using postgres = await openPostgres({ url, poolSize: 2, clock: Date, ...options })
  await fc.assert(
    fc.asyncProperty(fc.array(stepOf, { maxLength: 25 }), async (steps) => {
      await using sqlite = await openSqlite({ path: ':memory:', ...options })
      await clear(postgres)
      const [left, right] = [new Walk(sqlite), new Walk(postgres)]
      for (const step of steps) {
        assert.deepEqual(await left.take(step), await right.take(step))
      }
      assert.deepEqual(await left.state(), await right.state())
    }),
    { numRuns: 80 },
  )
})
