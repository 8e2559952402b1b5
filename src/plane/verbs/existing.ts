/** Which resource has a unique key: asked once it has turned out to be taken, to say so. */

import type { ResourceId } from '#kernel/resource-id.ts'
import { readRow } from '../document.ts'
import type { Parts } from '../parts.ts'
import type { CompiledType } from '../registry.ts'
import { impliedScopes } from '../scopes.ts'

export async function existingOf(
  parts: Parts,
  compiled: CompiledType,
  id: ResourceId,
  uniqueKey: string,
): Promise<ResourceId | undefined> {
  const rows = await parts.store.list({
    type: compiled.key,
    under: impliedScopes(id).at(-1)?.key ?? '/',
    limit: parts.limits.filterScanRowsMax,
  })
  const found = rows.find((row) => row.uniqueKey === uniqueKey)
  return found === undefined ? undefined : readRow(found).id
}
