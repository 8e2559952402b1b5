/**
 * The core schema of a store. Text compares by memory, which for UTF-8 is byte by byte. Released steps
 * never change; the next one is a new file.
 */

import type { Migration } from '../../store.ts'

export const initial: Migration = {
  area: 'core',
  number: 1,
  postgres: [],
  sqlite: [
    `CREATE TABLE resources (
       key TEXT NOT NULL PRIMARY KEY,
       id TEXT NOT NULL,
       type TEXT NOT NULL,
       tracked INTEGER NOT NULL,
       unique_key TEXT UNIQUE,
       etag TEXT NOT NULL,
       generation INTEGER NOT NULL,
       document TEXT NOT NULL
     )`,
    'CREATE INDEX resources_by_type ON resources (type, key)',
    'CREATE INDEX resources_tracked ON resources (key) WHERE tracked = 1',
    `CREATE TABLE operations (
       id TEXT NOT NULL PRIMARY KEY,
       resource_key TEXT NOT NULL,
       document TEXT NOT NULL,
       running INTEGER NOT NULL,
       ended_at INTEGER
     )`,
    'CREATE UNIQUE INDEX operations_running ON operations (resource_key) WHERE running = 1',
    'CREATE INDEX operations_ended ON operations (ended_at) WHERE running = 0',
    `CREATE TABLE events (
       number INTEGER PRIMARY KEY,
       at INTEGER NOT NULL,
       key TEXT NOT NULL,
       action TEXT NOT NULL,
       principal_id TEXT NOT NULL,
       correlation_id TEXT NOT NULL,
       operation_id TEXT,
       detail TEXT NOT NULL
     )`,
    `CREATE TABLE work (
       key TEXT NOT NULL PRIMARY KEY,
       due_at INTEGER NOT NULL,
       wanted_at INTEGER,
       lease_owner TEXT,
       lease_until INTEGER,
       fence INTEGER NOT NULL,
       attempt INTEGER NOT NULL
     )`,
    'CREATE INDEX work_due ON work (due_at, key)',
    'CREATE INDEX work_claimed ON work (lease_until) WHERE lease_owner IS NOT NULL',
    'CREATE TABLE fences (value INTEGER NOT NULL)',
    'INSERT INTO fences (value) VALUES (0)',
    'CREATE TABLE feeds (name TEXT NOT NULL PRIMARY KEY, position INTEGER NOT NULL)',
    `CREATE TABLE feed_entries (
       name TEXT NOT NULL,
       position INTEGER NOT NULL,
       key TEXT NOT NULL,
       PRIMARY KEY (name, position)
     ) WITHOUT ROWID`,
  ],
}
