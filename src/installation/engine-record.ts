/**
 * Which engine the container groups of an installation are made on, stored so that a later start and every replica
 * find the same one: the address of a Docker Engine API, or the name of another engine.
 */

import type { Sql } from '#stores/store.ts'

export async function recordedEngine(sql: Sql): Promise<string | undefined> {
  const [row] = await sql.all("select value from installation where name = 'containerEngine'")
  return row === undefined ? undefined : String(row['value'])
}

export async function recordEngine(sql: Sql, engine: string): Promise<void> {
  await sql.transact((tx) =>
    tx.run(
      `insert into installation (name, value) values ('containerEngine', ?)
        on conflict (name) do update set value = excluded.value`,
      engine,
    ),
  )
}

/** Records the engine unless another replica was first. Returns the recorded one. */
export async function recordFirstEngine(sql: Sql, engine: string): Promise<string | undefined> {
  await sql.transact((tx) =>
    tx.run(
      "insert into installation (name, value) values ('containerEngine', ?) on conflict do nothing",
      engine,
    ),
  )
  return recordedEngine(sql)
}
