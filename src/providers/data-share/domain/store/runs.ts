/**
 * Stored runs: one row for each synchronization, and one for each of its data sets. The holder of a run's lease
 * works on it. Every write names the fence, so that a lost lease cannot write.
 */

import type { Clock } from '#kernel/ports.ts'
import type { Sql, SqlTx, SqlValue } from '#stores/store.ts'
import { moveOn, type TriggerRow } from '../trigger-store.ts'
import { nextToClaim, type PlaceSizes } from './places.ts'
import {
  type Detail,
  type DetailStatus,
  type GrantRow,
  type Run,
  type RunStatus,
  runs as runsTable,
  toDetail,
} from './tables.ts'

export interface PlannedDetail
  extends Pick<
    Detail,
    'place' | 'mappingKey' | 'dataSetKey' | 'dataSetId' | 'dataSetType' | 'name'
  > {}

/** Another worker has the run: the write must not happen. */
export class LeaseLost extends Error {
  constructor() {
    super('the lease of the run was lost')
    this.name = 'LeaseLost'
  }
}

export const leaseSeconds = 30
/** What one transaction changes of them: each data set is in more than a dozen indexes. */
const detailsAtOnce = 500
const runsAtOnce = 100
export const active = "status in ('Accepted', 'InProgress')"

/** The rows of a run's data sets. */
interface RunDetails {
  plan(run: Run, details: readonly PlannedDetail[], isLast: boolean): Promise<void>
  /** Those that have not ended, in order. */
  open(runId: string, after: number, limit: number): Promise<readonly Detail[]>
  beginDetail(run: Run, place: number): Promise<void>
  endDetail(run: Run, place: number, status: DetailStatus, message: string | null): Promise<void>
  tally(runId: string): Promise<Readonly<Record<string, number>>>
}

export interface Runs extends RunDetails {
  /**
   * Returns what is in the way, if anything, and then writes no run: the id of the running one, or the revocation. A trigger
   * that begins it is moved on with it; it is in the way if it was moved before.
   */
  begin(
    run: Pick<Run, 'id' | 'subscriptionKey' | 'shareKey' | 'mode'>,
    trigger?: TriggerRow,
  ): Promise<'revoked' | 'moved' | { readonly running: string } | undefined>
  find(id: string): Promise<Run | undefined>
  activeOf(subscriptionKey: string): Promise<Run | undefined>
  /** Asks the worker to stop; a run without a worker is ended by the next one that claims it. */
  cancel(id: string, message: string): Promise<void>
  /** Claims runs whose lease is free, in the order of `places.ts`. */
  claim(owner: string, limit: number, sizes: PlaceSizes): Promise<readonly Run[]>
  /** Whether another run would be claimed if this one gave up its place. */
  isInTheWay(owner: string, run: Run, sizes: PlaceSizes): Promise<boolean>
  /** Frees the lease, behind all that wait and gave up their place less often. Returns how often it did. */
  giveUp(run: Run): Promise<number>
  /** Extends the lease and returns whether to stop. Throws `LeaseLost`. */
  renew(run: Run): Promise<{ readonly cancelled: boolean }>
  /** Frees the leases of a process that is gone, for a store with one process at a time. */
  freeAll(): Promise<void>
  end(run: Run, status: RunStatus, message: string | null): Promise<void>
  /**
   * Removes the subscription's runs, some at a time, and its grant with the last of them: as long as that is there, an
   * erasure that was cut off is repeated. Removes nothing where the subscription has another grant by now.
   */
  removeWith(grant: Pick<GrantRow, 'id' | 'subscriptionKey'>): Promise<void>
  /** Called in the transaction of a worker's write. Throws `LeaseLost`. */
  assert(tx: SqlTx, run: Run): Promise<void>
}

export function openRuns(sql: Sql, clock: Clock): Runs {
  const leaseEnd = (): number => clock.now() + leaseSeconds * 1000
  const assert = (tx: SqlTx, run: Run): Promise<void> => prolong(tx, run, leaseEnd())
  const runs = async (text: string, ...values: readonly SqlValue[]): Promise<readonly Run[]> =>
    (await sql.all(text, ...values)).map(runsTable.row)
  return {
    assert,
    ...openDetails(sql, clock, assert),
    begin: (run, trigger) =>
      sql.transact(async (tx) => {
        const now = clock.now()
        if (trigger !== undefined && !(await moveOn(tx, trigger, now))) return 'moved'
        return beginRun(tx, run, now)
      }),
    find: async (id) => (await runs('select * from share_runs where id = ?', id))[0],
    activeOf: async (key) =>
      (
        await runs(
          'select r.* from share_runs r join share_active a on a.run_id = r.id where a.subscription_key = ?',
          key,
        )
      )[0],
    async cancel(id, message) {
      await sql.transact((tx) =>
        tx.run(
          `update share_runs set cancelled = 1, message = ? where id = ? and ${active}`,
          message,
          id,
        ),
      )
    },
    claim: (owner, limit, sizes) =>
      sql.transact(async (tx) => {
        const held = await heldBy(tx, owner, clock.now())
        const claimed: Run[] = []
        while (claimed.length < limit) {
          const next = await nextToClaim(tx, held, sizes, { now: clock.now() })
          if (next === undefined) break
          const taken = await tx.run(
            `update share_runs set lease_owner = ?, lease_until = ?, fence = fence + 1, status = 'InProgress'
              where id = ? and fence = ? and ${active}`,
            owner,
            leaseEnd(),
            next.id,
            next.fence,
          )
          // Another worker took it just now; the rest waits for the next time.
          if (taken === 0) break
          const [now] = await tx.all('select * from share_runs where id = ?', next.id)
          if (now === undefined) break
          const run = runsTable.row(now)
          claimed.push(run)
          held.push(run.subscriptionKey)
        }
        return claimed
      }),
    isInTheWay: (owner, run, sizes) =>
      sql.transact(async (tx) => {
        const held = await heldBy(tx, owner, clock.now())
        const others = held.filter((key) => key !== run.subscriptionKey)
        const next = await nextToClaim(tx, others, sizes, { now: clock.now(), also: run.id })
        return next !== undefined && next.id !== run.id
      }),
    giveUp: (run) =>
      sql.transact(async (tx) => {
        await assert(tx, run)
        await tx.run(
          'update share_runs set lease_until = 0, turns_lost = turns_lost + 1 where id = ?',
          run.id,
        )
        const [row] = await tx.all('select turns_lost from share_runs where id = ?', run.id)
        return Number(row?.['turns_lost'])
      }),
    renew: (run) =>
      sql.transact(async (tx) => {
        await assert(tx, run)
        const [row] = await tx.all('select cancelled from share_runs where id = ?', run.id)
        return { cancelled: Number(row?.['cancelled']) === 1 }
      }),
    async freeAll() {
      await sql.transact((tx) => tx.run(`update share_runs set lease_until = 0 where ${active}`))
    },
    async end(run, status, message) {
      const endSome = (): Promise<number> =>
        sql.transact(async (tx) => {
          await assert(tx, run)
          return tx.run(
            `update share_details set status = ?, message = coalesce(message, ?), ended_at = ?
              where run_id = ? and place in (select place from share_details
                where run_id = ? and status in ('Queued', 'InProgress') limit ?)`,
            ...[status, status === 'Failed' ? message : null, clock.now()],
            ...[run.id, run.id, detailsAtOnce],
          )
        })
      let ended = status === 'Succeeded' ? 0 : detailsAtOnce
      while (ended === detailsAtOnce) ended = await endSome()
      await sql.transact(async (tx) => {
        await assert(tx, run)
        await tx.run(
          'update share_runs set status = ?, message = coalesce(message, ?), ended_at = ? where id = ?',
          status,
          message,
          clock.now(),
          run.id,
        )
        await tx.run('delete from share_active where run_id = ?', run.id)
      })
    },
    async removeWith(grant) {
      for (let isMore = true; isMore; ) isMore = await sql.transact((tx) => removeSome(tx, grant))
    },
  }
}

/** The subscriptions whose runs this worker has. A subscription has one run at a time. */
async function heldBy(tx: SqlTx, owner: string, now: number): Promise<string[]> {
  const rows = await tx.all(
    `select subscription_key from share_runs where id in (select run_id from share_active)
      and lease_owner = ? and lease_until >= ?`,
    owner,
    now,
  )
  return rows.map((row) => String(row['subscription_key']))
}

async function prolong(tx: SqlTx, run: Run, until: number): Promise<void> {
  const held = await tx.run(
    `update share_runs set lease_until = ? where id = ? and fence = ? and ${active}`,
    until,
    run.id,
    run.fence,
  )
  if (held === 0) throw new LeaseLost()
}

function openDetails(sql: Sql, clock: Clock, assert: Runs['assert']): RunDetails {
  return {
    async plan(run, details, isLast) {
      await sql.transact(async (tx) => {
        await assert(tx, run)
        for (const one of details) {
          await tx.run(
            `insert into share_details (run_id, place, mapping_key, data_set_key, data_set_id, data_set_type, name,
                status, files_read, files_written, rows_read, rows_copied, size_read, size_written,
                live_rows_read, live_rows_copied, live_size_read, live_size_written)
              values (?, ?, ?, ?, ?, ?, ?, 'Queued', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) on conflict do nothing`,
            run.id,
            one.place,
            one.mappingKey,
            one.dataSetKey,
            one.dataSetId,
            one.dataSetType,
            one.name,
          )
        }
        if (isLast) await tx.run('update share_runs set planned = 1 where id = ?', run.id)
      })
    },
    async open(runId, after, limit) {
      const rows = await sql.all(
        `select * from share_details where run_id = ? and place > ? and status in ('Queued', 'InProgress')
          order by place limit ?`,
        runId,
        after,
        limit,
      )
      return rows.map(toDetail)
    },
    async beginDetail(run, place) {
      await sql.transact(async (tx) => {
        await assert(tx, run)
        await tx.run(
          `update share_details set status = 'InProgress', started_at = coalesce(started_at, ?)
            where run_id = ? and place = ?`,
          clock.now(),
          run.id,
          place,
        )
      })
    },
    async endDetail(run, place, status, message) {
      await sql.transact(async (tx) => {
        await assert(tx, run)
        await tx.run(
          `update share_details set status = ?, message = ?, ended_at = ?, live_rows_read = 0, live_rows_copied = 0,
              live_size_read = 0, live_size_written = 0 where run_id = ? and place = ?`,
          status,
          message,
          clock.now(),
          run.id,
          place,
        )
      })
    },
    async tally(runId) {
      const rows = await sql.all(
        'select status, count(*) as n from share_details where run_id = ? group by status',
        runId,
      )
      return Object.fromEntries(rows.map((row) => [String(row['status']), Number(row['n'])]))
    },
  }
}

/** False when there is nothing left to do. */
async function removeSome(
  tx: SqlTx,
  { id: grantId, subscriptionKey }: Parameters<Runs['removeWith']>[0],
): Promise<boolean> {
  // A run that begins at this moment waits here and then finds no grant, or is seen below.
  const mine = await tx.run(
    'update share_grants set status = status where id = ? and subscription_key = ?',
    grantId,
    subscriptionKey,
  )
  if (mine === 0) return false
  const runs = await tx.all(
    'select id from share_runs where subscription_key = ? order by started_at, id limit ?',
    subscriptionKey,
    runsAtOnce,
  )
  let left = detailsAtOnce
  for (const { id = null } of runs) {
    // A worker that still adds to it ends first.
    await tx.run('update share_runs set id = id where id = ?', id)
    left -= await tx.run(
      `delete from share_details where run_id = ? and place in
        (select place from share_details where run_id = ? order by place limit ?)`,
      ...[id, id, left],
    )
    if (left === 0) return true
    await tx.run(
      'delete from share_active where subscription_key = ? and run_id = ?',
      subscriptionKey,
      id,
    )
    await tx.run('delete from share_runs where id = ?', id)
  }
  if (runs.length === runsAtOnce) return true
  await tx.run('delete from share_grants where id = ?', grantId)
  return false
}

async function beginRun(
  tx: SqlTx,
  run: Parameters<Runs['begin']>[0],
  now: number,
): ReturnType<Runs['begin']> {
  // A revocation at the same moment waits here and then sees the run, or was first.
  const granted = await tx.run(
    `update share_grants set status = status
      where subscription_key = ? and status = 'Active' and (expires_at is null or expires_at > ?)`,
    run.subscriptionKey,
    now,
  )
  if (granted === 0) return 'revoked'
  const taken = await tx.run(
    'insert into share_active (subscription_key, run_id) values (?, ?) on conflict do nothing',
    run.subscriptionKey,
    run.id,
  )
  if (taken === 0) {
    const [row] = await tx.all(
      'select run_id from share_active where subscription_key = ?',
      run.subscriptionKey,
    )
    return { running: String(row?.['run_id'] ?? run.id) }
  }
  await tx.run(
    `insert into share_runs (id, subscription_key, share_key, mode, status, message, started_at, ended_at,
        cancelled, planned, lease_owner, lease_until, fence)
      values (?, ?, ?, ?, 'Accepted', null, ?, null, 0, 0, null, 0, 0)`,
    run.id,
    run.subscriptionKey,
    run.shareKey,
    run.mode,
    now,
  )
  return undefined
}
