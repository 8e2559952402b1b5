/** The principals of resources (managed identities). */

import type { WorkloadIdentities } from '#kernel/principal.ts'
import { recordPrincipalChange } from './directory-activity.ts'
import {
  type DirectoryContext,
  freshPrincipal,
  readPrincipal,
  removePrincipal,
} from './directory-rows.ts'
import { insertPrincipal } from './insert-principal.ts'
import { workloadOf } from './workload-of.ts'

export function openWorkloads(context: DirectoryContext): WorkloadIdentities {
  const { clock, sql } = context
  return {
    of: (resourceKey) => workloadOf(sql, resourceKey),

    async give(resourceKey, { principalId, clientId, displayName }) {
      await sql.transact(async (tx) => {
        const held = await workloadOf(tx, resourceKey)
        if (held !== undefined && held !== principalId) {
          await removePrincipal(tx, await readPrincipal(tx, held, 'ServicePrincipal'), clock.now())
        }
        await tx.run(
          `insert into identity_workloads (resource_key, principal_id) values (?, ?)
            on conflict (resource_key) do update set principal_id = excluded.principal_id`,
          resourceKey,
          principalId,
        )
        const principal = {
          ...freshPrincipal('ServicePrincipal', displayName, context),
          id: principalId,
          clientId,
        }
        if (await insertPrincipal(tx, principal)) recordPrincipalChange(tx, undefined, principal)
      })
    },

    async take(resourceKey) {
      await sql.transact(async (tx) => {
        const held = await workloadOf(tx, resourceKey)
        if (held !== undefined) {
          const principal = await readPrincipal(tx, held, 'ServicePrincipal')
          await removePrincipal(tx, principal, clock.now())
          recordPrincipalChange(tx, principal, undefined)
        }
        await tx.run('delete from identity_workloads where resource_key = ?', resourceKey)
      })
    },
  }
}
