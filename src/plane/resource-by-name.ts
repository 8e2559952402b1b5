/** Finds the resource of a type whose names are unique in the installation, at whatever scope it is. */

import { nameOf, type ResourceId, rootId } from '#kernel/resource-id.ts'
import type { Reader } from './declare/resource.ts'

/** Rows searched for one name. */
const rowsMax = 50_000
/** Names remembered, per type. */
const rememberedMax = 10_000

/** `type` without the vendor word; the name in lower case. */
export function findByName(
  reader: Reader,
  type: string,
): (name: string) => Promise<ResourceId | undefined> {
  const known = new Map<string, ResourceId>()
  return async (name) => {
    const remembered = known.get(name)
    if (remembered !== undefined) {
      // If the name exists elsewhere, the remembered one is gone.
      if ((await reader.get(remembered)) !== undefined) return remembered
      known.delete(name)
    }
    const found = await scanForName(reader, type, name)
    if (found === undefined) return undefined
    if (known.size >= rememberedMax) known.clear()
    known.set(name, found)
    return found
  }
}

/** `type` without the vendor word; the name in lower case. */
export async function scanForName(
  reader: Reader,
  type: string,
  name: string,
): Promise<ResourceId | undefined> {
  for await (const { id } of reader.each({ type, under: rootId, limit: rowsMax })) {
    if (nameOf(id).toLowerCase() === name) return id
  }
  return undefined
}
