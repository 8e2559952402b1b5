/**
 * The store for a request with a deadline: afterwards no statement runs, and the open transaction is rolled back.
 * What was committed before stays.
 */

import type { Sql, SqlReads, SqlTx } from '#stores/store.ts'

export function untilDeadline(sql: Sql, signal: AbortSignal | undefined): Sql {
  if (signal === undefined) return sql
  const readsOf = (reads: Pick<Sql, 'all' | 'scan'>): Pick<Sql, 'all' | 'scan'> => ({
    all: async (text, ...values) => {
      signal.throwIfAborted()
      return reads.all(text, ...values)
    },
    scan: async (text, ...values) => {
      signal.throwIfAborted()
      return reads.scan(text, ...values)
    },
  })
  const txOf = (tx: SqlTx): SqlTx => ({
    all: async (text, ...values) => {
      signal.throwIfAborted()
      return tx.all(text, ...values)
    },
    run: async (text, ...values) => {
      signal.throwIfAborted()
      return tx.run(text, ...values)
    },
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
