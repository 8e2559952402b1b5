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
    // `newest` is the time of the last update, negated: lists run from the newest on, and an index runs upwards.
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

export const healthMigrations: readonly Migration[] = [
  { area: 'health', number: 1, sqlite: tables(' without rowid'), postgres: tables('') },
]
