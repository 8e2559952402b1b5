/**
 * The tables of service health. An event is listed through one narrow row per audience: a subscription, everybody
 * (`*`), or the installation (`/`); so one that touches every subscription costs what one that touches one does.
 */

import type { Migration } from '#stores/store.ts'

function tables(clustered: string): readonly string[] {
  return [
    `create table health_events (
      tracking_id text primary key,
      shown_id text not null,
      owner text not null,
      revision bigint not null,
      document text not null
    )`,
    // `newest` is the negated time of the last update: lists start with the newest, and an index is ascending.
    `create table health_audiences (
      audience text not null,
      newest bigint not null,
      tracking_id text not null,
      event_type text not null,
      status text not null,
      event_level text not null,
      services text not null,
      regions text not null,
      primary key (audience, newest, tracking_id)
    )${clustered}`,
    'create index health_audiences_by_event on health_audiences (tracking_id)',
    `create table health_steps (
      id text primary key,
      tracking_id text not null,
      due_at bigint not null,
      position bigint not null,
      step text not null
    )`,
    'create index health_steps_by_due on health_steps (due_at, position)',
    `create table health_signals (
      signal text primary key,
      tracking_id text not null
    )`,
  ]
}

/** The last observation of each resource, and earlier ones; `reason` is empty when there is none. */
function availability(key: string, clustered: string): readonly string[] {
  return [
    `create table health_availability (
      resource_key ${key} primary key,
      type text not null,
      state text not null,
      reason text not null
    )`,
    'create index health_availability_by_type on health_availability (type, resource_key)',
    `create table health_availability_past (
      resource_key ${key} not null,
      since bigint not null,
      state text not null,
      reason text not null,
      summary text not null,
      primary key (resource_key, since)
    )${clustered}`,
  ]
}

/** Whose timeline it is. Of older ones it is not known. */
const ownersOfSteps: readonly string[] = [
  "alter table health_steps add column owner text not null default ''",
  'create index health_steps_by_owner on health_steps (owner)',
]

export const healthMigrations: readonly Migration[] = [
  { area: 'health', number: 1, sqlite: tables(' without rowid'), postgres: tables('') },
  {
    area: 'health',
    number: 2,
    sqlite: availability('text', ' without rowid'),
    // Keys are read in ranges, bytewise, whatever the database's language.
    postgres: availability('text collate "C"', ''),
  },
  { area: 'health', number: 3, sqlite: ownersOfSteps, postgres: ownersOfSteps },
]
