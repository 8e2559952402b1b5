/** Creates the tables of data sharing from their declarations, and their indexes. */

import { addColumns, createTable, type Dialect } from '#query/table.ts'
import type { Migration } from '#stores/store.ts'
import { sortKeys } from './sort-keys.ts'
import { dataShareTables, details, manifests, runs } from './tables.ts'

/** Created with their tables. */
const indexes: Readonly<Record<string, readonly string[]>> = {
  share_grants: ['create index share_grants_by_share on share_grants (share_key, id)'],
  share_triggers: ['create index share_triggers_by_time on share_triggers (next_at)'],
  share_runs: [
    'create index share_runs_by_subscription on share_runs (subscription_key, started_at, id)',
    'create index share_runs_by_share on share_runs (share_key, started_at, id)',
  ],
}

const first = (dialect: Dialect): readonly string[] =>
  dataShareTables.flatMap((table) => [
    createTable(table, dialect, 1),
    ...(indexes[table.name] ?? []),
  ])

/**
 * An index for each order a list may be asked in, so that a page begins at its place however far into the list it
 * is. SQLite enters an index by several keys at once where they are columns only: there the computed ones are.
 */
const third = (dialect: Dialect): readonly string[] =>
  sortKeys.flatMap(({ name, text, type }) => {
    const computed = text !== name
    const isSqlite = dialect === 'sqlite'
    const collated = type === 'text' ? `(${text} collate "C")` : `(${text})`
    const key = isSqlite ? name : collated
    const index = `create index share_details_by_${name} on share_details (run_id, ${key}, place)`
    if (!computed || !isSqlite) return [index]
    const kind = type === 'text' ? 'text' : 'bigint'
    return [
      `alter table share_details add column ${name} ${kind} generated always as (${text}) virtual`,
      index,
    ]
  })

/**
 * From when on a target may hold what the run wrote. A run that has begun to publish is completed, even when
 * cancelled.
 */
const second = (dialect: Dialect): readonly string[] => addColumns(details, dialect, 2)

/** How often a run gave up its place. */
const fourth = (dialect: Dialect): readonly string[] => addColumns(runs, dialect, 4)

/** What is known of a copy is known of where it was read and written. */
const fifth = (dialect: Dialect): readonly string[] => addColumns(manifests, dialect, 5)

export const dataShareMigrations: readonly Migration[] = [first, second, third, fourth, fifth].map(
  (make, at) => ({
    area: 'data-share',
    number: at + 1,
    sqlite: make('sqlite'),
    postgres: make('postgres'),
  }),
)
