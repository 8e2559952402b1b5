/**
 * The store for a request with a deadline: afterwards no statement runs, and the open transaction is rolled back.
 * What was committed before stays. What waits for its turn waits no longer than the client.
 */

import { whileAwaited } from '#stores/awaited.ts'
import type { Sql, SqlReads, SqlTx } from '#stores/store.ts'
import type { BusinessRequest } from './message.ts'

type Read = Sql['all']

export function untilDeadline(
  sql: Sql,
  {
    signal,
    awaited = () => signal,
    principal,
  }: Pick<BusinessRequest, 'signal' | 'awaited' | 'principal'>,
): Sql {
  if (signal === undefined) return sql
  // Without a promise of their own: they stand around every statement.
  const before =
    <T>(
      ask: (...statement: Parameters<Read>) => Promise<T>,
    ): ((...statement: Parameters<Read>) => Promise<T>) =>
    (...statement) =>
      signal.aborted ? Promise.reject(signal.reason) : ask(...statement)
  const txOf = (tx: SqlTx): SqlTx => ({
    all: before((...statement) => tx.all(...statement)),
    run: before((...statement) => tx.run(...statement)),
    send(...statement) {
      signal.throwIfAborted()
      return tx.send(...statement)
    },
    prefetch: (...statement) => tx.prefetch(...statement),
    follow: (feed, key) => tx.follow(feed, key),
    record: (event) => tx.record(event),
  })
  const snapshotOf = (reads: SqlReads): SqlReads => ({
    all: before((...statement) => reads.all(...statement)),
    scan: before((...statement) => reads.scan(...statement)),
    pauses: reads.pauses,
  })
  return {
    dialect: sql.dialect,
    all: before((...statement) => sql.all(...statement)),
    scan: before((...statement) => whileAwaited(awaited, () => sql.scan(...statement))),
    snapshot: (work) =>
      whileAwaited(awaited, () => sql.snapshot((reads) => work(snapshotOf(reads)))),
    transact: (work, mode = { owner: principal.id }) =>
      whileAwaited(awaited, () =>
        sql.transact(async (tx) => {
          const done = await work(txOf(tx))
          signal.throwIfAborted()
          return done
        }, mode),
      ),
  }
}
