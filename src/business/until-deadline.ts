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
      ask: (...statement: Parameters<Read>) => Promise<T>,
    ): ((...statement: Parameters<Read>) => Promise<T>) =>
    (...statement) =>
      signal.aborted ? Promise.reject(signal.reason) : ask(...statement)
  const readsOf = (reads: { readonly all: Read; readonly scan: Read }) => ({
    all: before((...statement) => reads.all(...statement)),
    scan: before((...statement) => reads.scan(...statement)),
  })
  const txOf = (tx: SqlTx): SqlTx => ({
    all: before((...statement) => tx.all(...statement)),
    run: before((...statement) => tx.run(...statement)),
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
