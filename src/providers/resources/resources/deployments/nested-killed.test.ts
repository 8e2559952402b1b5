/**
 * A process that dies, or is told to cancel, at any moment of deployments nested three deep: the store is
 * consistent, the next process continues, and a cancel reaches every level. Steps are calls of the store, so every
 * moment occurs.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { defaultLimits } from '#kernel/limits.ts'
import { isTerminalState } from '#kernel/operation.ts'
import type { Clock } from '#kernel/ports.ts'
import { contractWords } from '#kernel/vendor.ts'
import { readRow } from '#plane/document.ts'
import { mortalStore } from '#plane/testing/mortal-store.ts'
import { memoryStore } from '#plane/testing/start.ts'
import { openPostgres } from '#stores/postgres/open.ts'
import type { Store } from '#stores/store.ts'
import { findPostgres, howToGetPostgres, startPostgres } from '#stores/testing/postgres-server.ts'
import { isLong } from '../../../../../tests/long.ts'
import { requireOrSkip } from '../../../../../tests/require.ts'
import { TemplateThreads } from '../../domain/evaluation/template-threads.ts'
import { openSeal } from '../../testing/killed.ts'
import { group, type Started, startDeployments, templateFor } from '../../testing/start.ts'

const root = `${group}/providers/Vendor.Resources/deployments/root`
const names = ['after-0', 'after-1', 'before-0', 'before-1', 'deepest']
/** The clock of the process that continues: the leases of the dead one have expired. */
const laterClock: Clock = { now: () => Date.now() + 10 * 60_000 }
const roundsMax = 5_000
/** On PostgreSQL leases end by the clock of the database, which nobody moves. */
const leasesEnd = 'UPDATE work SET lease_until = 0 WHERE lease_owner IS NOT NULL'

/** Each round has its own hour, so that the previous one has not used up the allowance for templates. */
let hours = 0
const threads = new TemplateThreads({ now: () => Date.now() + hours * 3_600_000 })

const vault = (name: string, dependsOn: readonly string[] = []): object => ({
  type: 'Vendor.Secrets/vaults',
  apiVersion: '2026-01-01',
  name,
  location: 'local',
  dependsOn,
})

function nest(depth: number): object {
  if (depth === 2) return templateFor([vault('deepest')])
  const name = `nested-${depth}`
  const nested = {
    type: 'Vendor.Resources/deployments',
    apiVersion: '2025-03-01',
    name,
    dependsOn: [`before-${depth}`],
    properties: {
      mode: 'Incremental',
      expressionEvaluationOptions: { scope: 'inner' },
      template: nest(depth + 1),
    },
  }
  return templateFor([vault(`before-${depth}`), nested, vault(`after-${depth}`, [name])])
}

const body = { properties: { mode: 'Incremental', template: nest(0) } }

async function statesIn(started: Started): Promise<Map<string, string>> {
  const query = { type: 'Resources/deployments', under: '/', limit: 10 }
  const rows = await started.plane.reader.list(query)
  return new Map(rows.map(({ id, state }) => [id.text.slice(id.text.lastIndexOf('/') + 1), state]))
}

async function vaultsIn(started: Started): Promise<readonly string[]> {
  const rows = await started.plane.reader.list({ type: 'Secrets/vaults', under: '/', limit: 10 })
  return rows.map(({ id }) => id.text.slice(id.text.lastIndexOf('/') + 1)).sort()
}

/** Whether the process died before its deployment ended. */
async function dieAfter(inner: Store, steps: number): Promise<boolean> {
  const mortal = mortalStore(inner)
  await using started = await startDeployments({ store: mortal.store, seal: openSeal, threads })
  await started.call('PUT', root, body)
  mortal.dieAfter(steps)
  for (let round = 0; round < roundsMax; round++) {
    const row = await inner.get(root.toLowerCase())
    if (mortal.isDead) return true
    if (row !== undefined && readRow(row).state === 'Succeeded') return false
    await pause(2)
  }
  throw new Error('it neither died nor ended')
}

async function goesOn(store: Store, isCanceled: boolean): Promise<void> {
  const clock = laterClock
  await using next = await startDeployments({ store, seal: openSeal, clock, threads, asleep: true })
  const before = await vaultsIn(next)
  const wasOver = isTerminalState((await statesIn(next)).get('root') ?? '')
  if (isCanceled && !wasOver) await next.call('POST', `${root}/cancel`)
  next.plane.reconciler.start()
  await next.settle()
  const states = await statesIn(next)
  if (isCanceled && !wasOver) {
    assert.equal(states.get('root'), 'Canceled')
    for (const [name, state] of states) assert.match(state, /Canceled|Succeeded/, name)
    assert.deepEqual(await vaultsIn(next), before, 'something was made after the cancel')
    return
  }
  assert.deepEqual([...states.values()], ['Succeeded', 'Succeeded', 'Succeeded'])
  assert.deepEqual(await vaultsIn(next), names)
}

interface Matrix {
  /** A store for the process that dies; `reopen` gives the same one to the process that continues. */
  open(): Promise<Store>
  reopen(store: Store): Promise<Store>
  /** After each round: a server has few connections. */
  close(): Promise<void>
  readonly isCanceled: boolean
  /** Absent: only the first one. */
  readonly every: number | undefined
  readonly first: number
}

async function dieEverywhere(matrix: Matrix): Promise<number> {
  const { open, reopen, close, isCanceled, every, first } = matrix
  for (let steps = first; ; steps += every ?? 0) {
    const store = await open()
    hours++
    const isDead = await dieAfter(store, steps)
    await goesOn(await reopen(store), isCanceled)
    await close()
    if (!isDead || every === undefined) return steps
  }
}

for (const isCanceled of [false, true]) {
  const what = isCanceled ? 'canceled' : 'killed'
  test(`${what} at every step of nests three deep`, async (t) => {
    const every = isLong ? 1 : isCanceled ? 11 : 97
    const steps = await dieEverywhere({
      open: () => memoryStore(),
      reopen: async (store) => store,
      close: async () => undefined,
      isCanceled,
      every,
      first: isCanceled ? 40 : 0,
    })
    t.diagnostic(`${steps} steps`)
    assert.ok(steps > every, 'it ended before it could be killed')
  })

  test(`${what} in nests three deep, on PostgreSQL`, async (t) => {
    if (!isLong && !isCanceled) {
      t.skip('one of the two in the ordinary suite')
      return
    }
    if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
    await using server = await startPostgres({ fsync: false })
    let url = ''
    let stores = new AsyncDisposableStack()
    // The store uses its own clock when it gives out what another process held.
    const openAt = async (clock: Clock): Promise<Store> =>
      stores.use(
        await openPostgres({
          url,
          poolSize: 4,
          clock,
          migrations: [],
          words: contractWords,
          transactionRetriesMax: defaultLimits.transactionRetriesMax,
        }),
      )
    const steps = await dieEverywhere({
      async open() {
        url = await server.createDatabase()
        return openAt(Date)
      },
      async reopen(store) {
        await store.sql.transact((tx) => tx.run(leasesEnd))
        return openAt(laterClock)
      },
      async close() {
        await stores.disposeAsync()
        stores = new AsyncDisposableStack()
      },
      isCanceled,
      every: isLong ? 1 : undefined,
      first: isLong ? 0 : 130,
    })
    t.diagnostic(`${steps} steps`)
  })
}
