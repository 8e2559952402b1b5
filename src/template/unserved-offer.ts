/** What `providers()` answers for a type that nobody serves, where any type is taken: every place, and a date. */

import { isArray, isObject, objectOf } from './fields.ts'
import type { JsonObject } from './plan.ts'

const version = '2025-01-01'

/** The offers of a namespace, where there are any; with the type among them, where one is asked for. */
export function offerWith(
  offer: JsonObject | undefined,
  namespace: string,
  type: string | undefined,
): JsonObject {
  const types = offer?.['resourceTypes'] ?? null
  const listed = isArray(types) ? types : []
  const isListed = (wanted: string): boolean =>
    listed.some((one) => isObject(one) && String(one['resourceType']).toLowerCase() === wanted)
  const own = { namespace, ...offer }
  if (type === undefined || isListed(type.toLowerCase())) return { ...own, resourceTypes: listed }
  const unserved = objectOf([
    ['resourceType', type],
    ['locations', ['local']],
    ['apiVersions', [version]],
  ])
  return { ...own, resourceTypes: [...listed, unserved] }
}
