/**
 * The audit trail becomes readable: what an event came to, who caused it by name, and the subscription it is in, with
 * the indexes that reading needs. Events of before are given what can be told of them.
 */

import type { Migration } from '../../store.ts'

export const activity: Migration = {
  area: 'core',
  number: 2,
  sqlite: [],
  postgres: [
    `ALTER TABLE events ADD COLUMN status text COLLATE "C" NOT NULL DEFAULT 'Succeeded'`,
    `ALTER TABLE events ADD COLUMN caller text COLLATE "C" NOT NULL DEFAULT ''`,
    `ALTER TABLE events ADD COLUMN subscription text COLLATE "C" NOT NULL DEFAULT ''`,
    `UPDATE events SET subscription = split_part(key, '/', 3)
       WHERE key LIKE '/subscriptions/%'`,
    // An operation was told of twice: when it began, and at its end by a name of its own.
    `UPDATE events SET status = 'Accepted'
       WHERE operation_id IS NOT NULL AND action NOT LIKE '%/end'`,
    `UPDATE events SET status = coalesce(detail::json ->> 'status', 'Succeeded') WHERE action LIKE '%/end'`,
    `UPDATE events SET action = replace(replace(replace(replace(action,
       '/create/end', '/write'), '/update/end', '/write'), '/delete/end', '/delete'), '/action/end', '/action')
       WHERE action LIKE '%/end'`,
    // The messages of errors may quote what was sent; the code stays.
    `UPDATE events SET detail = json_build_object('code', detail::json ->> 'code')::text
       WHERE detail LIKE '%"message"%'`,
    'CREATE INDEX events_by_time ON events (at, number)',
    'CREATE INDEX events_by_subscription ON events (subscription, at, number)',
    'CREATE INDEX events_by_key ON events (key, at, number)',
    'CREATE INDEX events_by_correlation ON events (correlation_id, at, number)',
  ],
}
