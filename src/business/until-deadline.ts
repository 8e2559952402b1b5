/**
 * The store for a request with a deadline: afterwards no statement runs, and the open transaction is rolled back.
 * What was committed before stays.
 */

import type { Sql, SqlReads, SqlTx } from '#stores/store.ts'

type Read = Sql['all']

export function untilDeadline(sql: Sql, signal: AbortSignal | undefined): Sql {
  if (signal === undefined) return sql
  // Without a promise of their own: they stand around every statement.
  const before =
    <T>(
      ask: (...asked: Parameters<Read>) => Promise<T>,
    ): ((...asked: Parameters<Read>) => Promise<T>) =>
    (...asked) =>
      signal.aborted ? Promise.reject(signal.reason) : ask(...asked)
  const readsOf = (reads: { readonly all: Read; readonly scan: Read }) => ({
    all: before((...asked) => reads.all(...asked)),
    scan: before((...asked) => reads.scan(...asked)),
  })
  const txOf = (tx: SqlTx): SqlTx => ({
    all: before((...asked) => tx.all(...asked)),
    run: before((...asked) => tx.run(...asked)),
    follow: (feed, key) => tx.follow(feed, key),
    record: (event) => tx.record(event),
  })
  const snapshotOf = (reads: SqlReads): SqlReads => ({ ...readsOf(reads), pauses: reads.pauses })
  return {
    dialect: sql.dialect,
    ...readsOf(sql),
    snapshot: (work) => sql.snapshot((reads) => work(snapshotOf(reads))),
    transact: (work, alone) =>
      sql.transact(async (tx) => {
        const done = await work(txOf(tx))
        signal.throwIfAborted()
        return done
      }, alone),
  }
}
