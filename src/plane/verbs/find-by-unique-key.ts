/** Finds the resource that has a unique key, for the refusal of a write that met a taken one. */

import { parseResourceId, type ResourceId } from '#kernel/resource-id.ts'
import type { CompiledType } from '../compiled-type.ts'
import type { PlaneDependencies } from '../dependencies.ts'
import { impliedScopes } from '../scopes.ts'

/** Undefined for one of another scope: nobody learns there what exists elsewhere. */
export async function findByUniqueKey(
  { store }: Pick<PlaneDependencies, 'store'>,
  compiled: CompiledType,
  id: ResourceId,
  uniqueKey: string,
): Promise<ResourceId | undefined> {
  const key = await store.keyOfUnique(uniqueKey)
  const scope = impliedScopes(id).at(-1)
  if (key === undefined || (scope !== undefined && !key.startsWith(`${scope.key}/`))) {
    return undefined
  }
  const row = await store.get(key)
  return row?.type === compiled.key ? parseResourceId(row.id) : undefined
}
