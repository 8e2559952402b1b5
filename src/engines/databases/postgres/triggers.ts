/**
 * Triggers that fire for what replication applies: what they did at the source comes over as changes of its own,
 * so at the target they are silent until the cutover. What they were is written down first.
 */

import { quoteName, type Session } from './connect.ts'
import type { DatabaseTask } from './database-task.ts'
import type { SilencedTrigger } from './record.ts'

const triggersQuery = `
SELECT n.nspname AS schema, c.relname AS table, t.tgname AS name,
  CASE t.tgenabled WHEN 'A' THEN 'ALWAYS' ELSE 'REPLICA' END AS fires
FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE NOT t.tgisinternal AND t.tgenabled IN ('A', 'R') AND c.relkind = 'r'
ORDER BY 1, 2, 3`

export async function silenceTriggers(task: DatabaseTask, target: Session): Promise<void> {
  const rows = await target.rows<SilencedTrigger & { readonly schema: string }>(triggersQuery)
  const found = rows.map(({ schema, table, name, fires }) => ({
    table: `${quoteName(schema)}.${quoteName(table)}`,
    name,
    fires,
  }))
  if (found.length === 0) return
  task.record.triggers = [...task.record.triggers, ...found]
  task.save()
  for (const { table, name } of found) {
    await target.run(`ALTER TABLE ONLY ${table} DISABLE TRIGGER ${quoteName(name)}`)
  }
}

/** Once nothing is applied any more. One that is gone is fine. */
export async function wakeTriggers(
  target: Session,
  triggers: readonly SilencedTrigger[],
): Promise<void> {
  const rows = await target.rows<{ place: number }>(
    `SELECT g.place::int AS place FROM ROWS FROM (pg_catalog.unnest($1::pg_catalog.text[]), pg_catalog.unnest($2::pg_catalog.text[]))
       WITH ORDINALITY g (table_name, trigger_name, place)
     JOIN pg_catalog.pg_trigger t ON t.tgrelid = pg_catalog.to_regclass(g.table_name) AND t.tgname = g.trigger_name`,
    [triggers.map(({ table }) => table), triggers.map(({ name }) => name)],
  )
  const there = new Set(rows.map(({ place }) => place - 1))
  const statements = triggers
    .filter((_, place) => there.has(place))
    .map(
      ({ table, name, fires }) =>
        `ALTER TABLE ONLY ${table} ENABLE ${fires} TRIGGER ${quoteName(name)}`,
    )
  if (statements.length > 0) await target.run(statements.join('; '))
}
