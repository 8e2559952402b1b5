/** The tables of data sharing: who was invited and may copy, what runs, what each data set came to, what was copied. */

import type { Migration } from '#stores/store.ts'
import { sortKeys } from './sort-keys.ts'

const first: readonly string[] = [
  `create table share_invitations (
    id text primary key,
    resource_key text not null unique,
    share_key text not null,
    tenant_id text,
    object_id text,
    email text,
    expires_at bigint,
    status text not null,
    sent_at bigint not null,
    responded_at bigint,
    card text not null
  )`,
  `create table share_grants (
    id text primary key,
    subscription_key text not null unique,
    share_key text not null,
    invitation_id text not null,
    status text not null,
    shared_at bigint not null,
    expires_at bigint,
    card text not null
  )`,
  'create index share_grants_by_share on share_grants (share_key, id)',
  `create table share_triggers (
    resource_key text primary key,
    subscription_key text not null,
    share_key text not null,
    mode text not null,
    every_milliseconds bigint not null,
    next_at bigint not null,
    body text not null
  )`,
  'create index share_triggers_by_time on share_triggers (next_at)',
  `create table share_runs (
    id text primary key,
    subscription_key text not null,
    share_key text not null,
    mode text not null,
    status text not null,
    message text,
    started_at bigint not null,
    ended_at bigint,
    cancelled bigint not null,
    planned bigint not null,
    lease_owner text,
    lease_until bigint not null,
    fence bigint not null
  )`,
  'create index share_runs_by_subscription on share_runs (subscription_key, started_at, id)',
  'create index share_runs_by_share on share_runs (share_key, started_at, id)',
  `create table share_active (
    subscription_key text primary key,
    run_id text not null
  )`,
  `create table share_details (
    run_id text not null,
    place bigint not null,
    mapping_key text not null,
    data_set_key text not null,
    data_set_id text not null,
    data_set_type text not null,
    name text not null,
    status text not null,
    message text,
    started_at bigint,
    ended_at bigint,
    files_read bigint not null,
    files_written bigint not null,
    rows_read bigint not null,
    rows_copied bigint not null,
    size_read bigint not null,
    size_written bigint not null,
    live_rows_read bigint not null,
    live_rows_copied bigint not null,
    live_size_read bigint not null,
    live_size_written bigint not null,
    primary key (run_id, place)
  )`,
  `create table share_manifests (
    token text primary key,
    stage text not null,
    watermark text,
    owned bigint not null
  )`,
  `create table share_items (
    token text not null,
    stage text not null,
    item text not null,
    etag text not null,
    size bigint not null,
    digest text not null,
    run_id text not null,
    primary key (token, stage, item)
  )`,
  `create table share_parts (
    token text not null,
    stage text not null,
    item text not null,
    etag text not null,
    position bigint not null,
    primary key (token, stage, item)
  )`,
]

/** From when on a target may hold what the run wrote: what was begun there is seen to its end, also when cancelled. */
const second: readonly string[] = [
  'alter table share_details add column publishing bigint not null default 0',
]

/**
 * An index for each order a list may be asked in, so that a page begins at its place however far into the list it
 * is. SQLite enters an index by several keys at once where they are columns only: there the computed ones are.
 */
const third = (dialect: 'sqlite' | 'postgres'): readonly string[] =>
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

/** Keys of items are compared byte by byte, in both. */
const postgres = first.map((text) =>
  text.replace('item text not null', 'item text collate "C" not null'),
)

export const dataShareMigrations: readonly Migration[] = [
  { area: 'data-share', number: 1, sqlite: first, postgres },
  { area: 'data-share', number: 2, sqlite: second, postgres: second },
  { area: 'data-share', number: 3, sqlite: third('sqlite'), postgres: third('postgres') },
]
