/**
 * Checks the members of a PATCH whose rule is exact: any other member is refused, unless it equals the current value.
 */

import type { Problem } from '#kernel/error.ts'
import { isJsonObject, sameJson } from '#kernel/patch.ts'

/**
 * Members of `given` that `schema` does not declare. One that equals `shown` is no change and passes: clients send
 * back what they read.
 */
export function undeclaredMembers(
  schema: unknown,
  given: unknown,
  shown: unknown,
  path = '',
): readonly Problem[] {
  if (!isJsonObject(given) || !isJsonObject(schema)) return []
  const declared = isJsonObject(schema['properties']) ? schema['properties'] : undefined
  if (declared === undefined) return []
  const now = isJsonObject(shown) ? shown : {}
  return Object.entries(given).flatMap(([name, value]) => {
    const at = path === '' ? name : `${path}.${name}`
    if (Object.hasOwn(declared, name)) {
      return undeclaredMembers(declared[name], value, now[name], at)
    }
    if (at === 'tags') return []
    if (!Object.hasOwn(now, name)) {
      return [{ path: at, message: 'is not a property of this type' }]
    }
    return sameJson(value, now[name]) ? [] : [{ path: at, message: 'is not changed by a PATCH' }]
  })
}
