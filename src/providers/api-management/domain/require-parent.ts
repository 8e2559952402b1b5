/** A DELETE below a missing provider or connection is a 404, not a success. */

import { refuse } from '#kernel/error.ts'
import { parentOf, type ResourceId } from '#kernel/resource-id.ts'
import type { Reader } from '#plane/declare/resource.ts'

export async function requireParent({
  id,
  resource,
  reader,
}: {
  readonly id: ResourceId
  readonly resource: unknown
  readonly reader: Reader
}): Promise<void> {
  const parent = parentOf(id)
  if (resource !== undefined || (await reader.get(parent)) !== undefined) return
  throw refuse.ParentResourceNotFound({ id: parent.text })
}
