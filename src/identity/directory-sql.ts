/**
 * How the directory is written: one transaction at a time, in all processes. So each acts on what the earlier ones left,
 * and what it has read stays as it is until its end. Two other tables of this area are written beside it, because every
 * sign-in does: the state of the OAuth library (`adapter.ts`) and the counts of failures (`sign-in.ts`).
 */

import { type RecordedSql, recordedSql } from '#activity/recorded-sql.ts'
import type { Clock } from '#kernel/ports.ts'
import type { Sql } from '#stores/store.ts'
import { directoryFeed } from './feed-watch.ts'

export interface DirectorySql extends RecordedSql {
  readonly alone: typeof directoryFeed
}

/** `namespace` is the vendor word in the names of actions. */
export function directorySql(sql: Sql, clock: Clock, namespace?: string): DirectorySql {
  const recorded = recordedSql(sql, clock, namespace)
  return {
    ...recorded,
    alone: directoryFeed,
    transact: (work) => recorded.transact(work, directoryFeed),
  }
}
