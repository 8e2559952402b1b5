/** Finds the resource of a type whose names are unique in the installation, wherever it is. */

import { nameOf, type ResourceId, rootId } from '#kernel/resource-id.ts'
import type { Reader } from './declare/resource.ts'

const pageRows = 500
/** Pages looked through for a name; each name found is remembered. */
const pagesMax = 100
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
      // The same name elsewhere means that this one is gone.
      if ((await reader.get(remembered)) !== undefined) return remembered
      known.delete(name)
    }
    let after: string | undefined
    for (let page = 0; page < pagesMax; page++) {
      const rows = await reader.list({
        type,
        under: rootId,
        limit: pageRows,
        ...(after === undefined ? {} : { after }),
      })
      const found = rows.find(({ id }) => nameOf(id).toLowerCase() === name)
      if (found !== undefined) {
        if (known.size >= rememberedMax) known.clear()
        known.set(name, found.id)
        return found.id
      }
      after = rows.at(-1)?.id.key
      if (rows.length < pageRows) return undefined
    }
    return undefined
  }
}
