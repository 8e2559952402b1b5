/** A DELETE below a provider or a connection that is not there is no success: clients learn of it by a 404. */

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
