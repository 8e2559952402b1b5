/**
 * The audit trail becomes readable: what an event came to, who caused it by name, and the subscription it is in, with
 * the indexes that reading needs. Events of before are given what can be told of them.
 */

import type { Migration } from '../../store.ts'

export const activity: Migration = {
  area: 'core',
  number: 2,
  postgres: [],
  sqlite: [
    `ALTER TABLE events ADD COLUMN status TEXT NOT NULL DEFAULT 'Succeeded'`,
    `ALTER TABLE events ADD COLUMN caller TEXT NOT NULL DEFAULT ''`,
    `ALTER TABLE events ADD COLUMN subscription TEXT NOT NULL DEFAULT ''`,
    `UPDATE events SET subscription = lower(substr(key, 16, CASE instr(substr(key, 16), '/')
       WHEN 0 THEN length(key) ELSE instr(substr(key, 16), '/') - 1 END))
       WHERE key LIKE '/subscriptions/%'`,
    // An operation was told of twice: when it began, and at its end by a name of its own.
    `UPDATE events SET status = 'Accepted'
       WHERE operation_id IS NOT NULL AND action NOT LIKE '%/end'`,
    `UPDATE events SET status = coalesce(json_extract(detail, '$.status'), 'Succeeded') WHERE action LIKE '%/end'`,
    `UPDATE events SET action = replace(replace(replace(replace(action,
       '/create/end', '/write'), '/update/end', '/write'), '/delete/end', '/delete'), '/action/end', '/action')
       WHERE action LIKE '%/end'`,
    // The messages of errors may quote what was sent; the code stays.
    `UPDATE events SET detail = json_object('code', json_extract(detail, '$.code'))
       WHERE detail LIKE '%"message"%'`,
    // One row for every 512 events: reading passes over blocks that cannot hold what it wants. Indexes would cost every
    // write more (docs/decisions/0040-the-audit-trail.md).
    `CREATE TABLE event_blocks (
       last INTEGER NOT NULL PRIMARY KEY,
       first INTEGER NOT NULL,
       earliest INTEGER NOT NULL,
       latest INTEGER NOT NULL,
       terms BLOB NOT NULL
     )`,
  ],
}
