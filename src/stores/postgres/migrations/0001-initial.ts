/**
 * The core schema of a store. Text has the collation "C", which for UTF-8 compares byte by byte. Released
 * steps never change; the next one is a new file.
 */

import type { Migration } from '../../store.ts'

export const initial: Migration = {
  area: 'core',
  number: 1,
  sqlite: [],
  postgres: [
    `CREATE TABLE resources (
       key text COLLATE "C" NOT NULL PRIMARY KEY,
       id text COLLATE "C" NOT NULL,
       type text COLLATE "C" NOT NULL,
       tracked smallint NOT NULL,
       unique_key text COLLATE "C" CONSTRAINT resources_unique_key UNIQUE,
       etag text COLLATE "C" NOT NULL,
       generation bigint NOT NULL,
       document text COLLATE "C" NOT NULL
     )`,
    'CREATE INDEX resources_by_type ON resources (type, key)',
    'CREATE INDEX resources_tracked ON resources (key) WHERE tracked = 1',
    `CREATE TABLE operations (
       id text COLLATE "C" NOT NULL PRIMARY KEY,
       resource_key text COLLATE "C" NOT NULL,
       document text COLLATE "C" NOT NULL,
       running smallint NOT NULL,
       ended_at bigint
     )`,
    'CREATE UNIQUE INDEX operations_running ON operations (resource_key) WHERE running = 1',
    'CREATE INDEX operations_ended ON operations (ended_at) WHERE running = 0',
    `CREATE TABLE events (
       number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
       at bigint NOT NULL,
       key text COLLATE "C" NOT NULL,
       action text COLLATE "C" NOT NULL,
       principal_id text COLLATE "C" NOT NULL,
       correlation_id text COLLATE "C" NOT NULL,
       operation_id text COLLATE "C",
       detail text COLLATE "C" NOT NULL
     )`,
    `CREATE TABLE work (
       key text COLLATE "C" NOT NULL PRIMARY KEY,
       due_at bigint NOT NULL,
       wanted_at bigint,
       lease_owner text COLLATE "C",
       lease_until bigint,
       fence bigint NOT NULL,
       attempt bigint NOT NULL
     )`,
    'CREATE INDEX work_due ON work (due_at, key)',
    'CREATE INDEX work_claimed ON work (lease_until) WHERE lease_owner IS NOT NULL',
    'CREATE SEQUENCE fences',
    'CREATE TABLE feeds (name text COLLATE "C" NOT NULL PRIMARY KEY, position bigint NOT NULL)',
    `CREATE TABLE feed_entries (
       name text COLLATE "C" NOT NULL,
       position bigint NOT NULL,
       key text COLLATE "C" NOT NULL,
       PRIMARY KEY (name, position)
     )`,
  ],
}
