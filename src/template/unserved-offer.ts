/**
 * The answer of `providers()` for a type that no provider serves, where generic resources are on: every location,
 * and one version.
 */

import { isArray, isObject, objectOf } from './fields.ts'
import type { JsonObject } from './plan.ts'

const version = '2025-01-01'

/** The offers of a namespace, if there are any, including the wanted type. */
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
