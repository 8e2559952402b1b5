/** Finds the principal that belongs to a resource. */

import type { Sql } from '#stores/store.ts'

export async function workloadOf(
  from: Pick<Sql, 'all'>,
  resourceKey: string,
): Promise<string | undefined> {
  const [row] = await from.all(
    `select principal_id from identity_workloads where resource_key = ?
      and principal_id in (select id from identity_principals)`,
    resourceKey,
  )
  return row === undefined ? undefined : String(row['principal_id'])
}
