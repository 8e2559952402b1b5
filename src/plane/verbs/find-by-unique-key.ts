/** Finds the resource that has a unique key, for the refusal of a write that met a taken one. */

import type { ResourceId } from '#kernel/resource-id.ts'
import type { CompiledType } from '../compiled-type.ts'
import type { PlaneDependencies } from '../dependencies.ts'
import { readRow } from '../document.ts'
import { impliedScopes } from '../scopes.ts'

export async function findByUniqueKey(
  deps: PlaneDependencies,
  compiled: CompiledType,
  id: ResourceId,
  uniqueKey: string,
): Promise<ResourceId | undefined> {
  const rows = await deps.store.list({
    type: compiled.key,
    under: impliedScopes(id).at(-1)?.key ?? '/',
    limit: deps.limits.filterScanRowsMax,
  })
  const found = rows.find((row) => row.uniqueKey === uniqueKey)
  return found === undefined ? undefined : readRow(found).id
}
