/** Share subscriptions with many runs, and data sets with many files: no step is as large as all of them. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CopyEngine } from '#engines/copy/engine.ts'
import { type SqlTx, type Store, StoreUnavailable } from '#stores/store.ts'
import { findPostgres, howToGetPostgres, startPostgres } from '#stores/testing/postgres-server.ts'
import { requireOrSkip } from '../../../tests/require.ts'
import { until } from '../../../tests/until.ts'
import { consumer, type Sharing, sharingStore, startSharing, taken } from './testing/start.ts'
import { openStoreAt } from './testing/stores.ts'

interface Step {
  readonly text: string
  readonly changed: number
}

/** Notes what each statement of a transaction changed. */
function noting(store: Store, note: (step: Step) => void): void {
  const { transact } = store.sql
  store.sql.transact = (work, mode) =>
    transact((tx) => {
      const run = tx.run.bind(tx)
      tx.run = async (text, ...values) => {
        const changed = await run(text, ...values)
        note({ text, changed })
        return changed
      }
      return work(tx)
    }, mode)
}

const countOf = async (store: Store, table: string): Promise<number> =>
  Number((await store.sql.all(`select count(*) as n from ${table}`))[0]?.['n'])

/** Runs of the subscription that have ended, with as many data sets each. */
async function addRuns(tx: SqlTx, runs: number, dataSets: number): Promise<void> {
  const upTo = 'with recursive n (at) as (select 1 union all select at + 1 from n where at < ?)'
  await tx.run(
    `insert into share_runs (id, subscription_key, share_key, mode, status, started_at, ended_at, cancelled,
        planned, lease_until, fence)
      ${upTo} select 'run-' || at, ?, 'share', 'FullSync', 'Succeeded', at, at, 0, 1, 0, 0 from n`,
    runs,
    taken.toLowerCase(),
  )
  await tx.run(
    `insert into share_details (run_id, place, mapping_key, data_set_key, data_set_id, data_set_type, name, status,
        files_read, files_written, rows_read, rows_copied, size_read, size_written, live_rows_read,
        live_rows_copied, live_size_read, live_size_written)
      ${upTo} select share_runs.id, at, 'm', 's', 'i', 'Container', 'n', 'Succeeded', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        from n, share_runs`,
    dataSets,
  )
}

async function deletedInSteps(store: Store): Promise<void> {
  await using started = await startSharing({ store })
  await started.prepare()
  await store.sql.transact((tx) => addRuns(tx, 20, 120))
  let removed = 0
  let most = 0
  let isAway = true
  noting(store, ({ text, changed }) => {
    if (!text.startsWith('delete from share_details')) return
    most = Math.max(most, changed)
    removed += changed
    if (removed < 1000 || !isAway) return
    isAway = false
    throw new StoreUnavailable('away', 'later')
  })
  await started.call('DELETE', taken, undefined, consumer)
  await until(async () => (await countOf(store, 'share_grants')) === 0)
  await until(async () => (await countOf(store, 'share_runs')) === 0)
  await started.settle()
  assert.equal(await countOf(store, 'share_details'), 0)
  assert.equal(isAway, false)
  assert.ok(most <= 500, `${most} rows in one statement`)
}

test('a share subscription is deleted some rows at a time, also where the store is away in between', async (t) => {
  await using memory = await sharingStore()
  await deletedInSteps(memory)
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using server = await startPostgres({ fsync: false })
  await using store = await openStoreAt({ kind: 'postgres', url: await server.createDatabase() })
  await deletedInSteps(store)
})

/** Does something after each transaction that removed rows of runs or of grants. */
function afterRemovals(store: Store, then: (transact: Store['sql']['transact']) => Promise<void>) {
  const { transact } = store.sql
  store.sql.transact = async (work, mode) => {
    let hasRemoved = false
    const result = await transact((tx) => {
      const run = tx.run.bind(tx)
      tx.run = (text, ...values) => {
        hasRemoved ||= /^delete from share_(details|runs|grants)/.test(text)
        return run(text, ...values)
      }
      return work(tx)
    }, mode)
    if (hasRemoved) await then(transact)
    return result
  }
}

const gone = (started: Sharing) =>
  until(async () => {
    const rows = await started.store.sql.all(
      'select key from resources where key = ?',
      taken.toLowerCase(),
    )
    return rows.length === 0
  })

test('a deletion that goes on late leaves alone what was made under the name meanwhile', async () => {
  const store = await sharingStore()
  await using started = await startSharing({ store })
  await started.prepare()
  await store.sql.transact((tx) => addRuns(tx, 20, 120))
  let isMadeAnew = false
  afterRemovals(store, async (transact) => {
    if (isMadeAnew) return
    isMadeAnew = true
    await transact(async (tx) => {
      await tx.run('delete from share_details')
      await tx.run('delete from share_runs')
      await tx.run("update share_grants set id = 'another'")
      await addRuns(tx, 3, 2)
    })
  })
  await started.call('DELETE', taken, undefined, consumer)
  await gone(started)
  assert.equal(isMadeAnew, true)
  assert.equal(await countOf(store, 'share_grants'), 1)
  assert.equal(await countOf(store, 'share_runs'), 3)
  assert.equal(await countOf(store, 'share_details'), 6)
})

test('the grant of a share subscription goes with the last of its runs, so that none begins between', async () => {
  const store = await sharingStore()
  await using started = await startSharing({ store })
  await started.prepare()
  await store.sql.transact((tx) => addRuns(tx, 6, 120))
  const left: number[] = []
  afterRemovals(store, async (transact) => {
    const runs = await countOf(store, 'share_runs')
    if ((await countOf(store, 'share_grants')) === 0) left.push(runs)
    else if (runs === 0) await transact((tx) => addRuns(tx, 1, 1))
  })
  await started.call('DELETE', taken, undefined, consumer)
  await gone(started)
  assert.deepEqual(left, [0])
})

test('rows of earlier copies are removed without a walk through those that are kept', async () => {
  const store = await sharingStore()
  const files = Array.from({ length: 3000 }, (_, at) => `f${at}`)
  const engine: CopyEngine = {
    open: () => ({
      async copy(_task, journal) {
        const done = files.map((key) => ({ key, etag: '1', size: 1, digest: 'd' }))
        await journal.commit({ done, counted: {}, underway: {} })
        await journal.publishing()
        await journal.published({ replaces: true })
      },
      async [Symbol.asyncDispose]() {},
    }),
  }
  await using started = await startSharing({ store, engine })
  await started.prepare()
  const dataSetId = await started.share('all', 'Container', { containerName: 'data' })
  await started.map('all', 'Container', { dataSetId, containerName: 'got' })
  const removals: Step[] = []
  noting(store, (step) => {
    if (step.text.startsWith('delete from share_items')) removals.push(step)
  })
  for (const _ of [1, 2, 3]) await started.ended(await started.synchronize())
  assert.equal(await countOf(store, 'share_items'), files.length)
  assert.equal(
    removals.reduce((sum, { changed }) => sum + changed, 0),
    2 * files.length,
  )
  for (const text of new Set(removals.map((one) => one.text))) {
    const values = text
      .split('?')
      .slice(1)
      .map(() => null)
    const plan = await store.sql.transact((tx) => tx.all(`explain query plan ${text}`, ...values))
    for (const { detail } of plan.filter((one) => /share_items/.test(String(one['detail'])))) {
      assert.match(String(detail), /token=\? AND stage=\?/)
    }
  }
})
