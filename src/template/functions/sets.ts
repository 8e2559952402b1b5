/** Arrays and objects taken as sets: what they have in common, and what there is in any of them. */

import type { EvaluationQuota } from '../evaluation-quota.ts'
import { isArray, isObject, objectOf } from '../fields.ts'
import type { Json, JsonObject } from '../plan.ts'
import type { Call } from './define.ts'
import { areEqual, arrayAt, identityOf, memberOf, refuseKind } from './values.ts'

/** What all arguments have: of arrays the elements, of objects the properties with their values. */
export function intersection(values: readonly Json[], call: Call): Json {
  const { quota } = call
  if (isArray(values[0] ?? null)) {
    const [own = [], ...others] = values.map((_, index) => arrayAt(values, index, call))
    const sets = others.map((other) => new Set(other.map((one) => identityOf(one, quota))))
    return distinct([own], quota).filter((one) => {
      const identity = identityOf(one, quota)
      return sets.every((set) => set.has(identity))
    })
  }
  const [own = objectOf([]), ...others] = objects(values, call)
  return objectOf(
    Object.entries(own).filter(([name, value]) =>
      others.every((other) => {
        const found = memberOf(other, name, quota)
        return found !== undefined && areEqual(found, value, quota)
      }),
    ),
  )
}

/** What any argument has. */
export function union(values: readonly Json[], call: Call): Json {
  if (isArray(values[0] ?? null)) {
    const arrays = values.map((_, index) => arrayAt(values, index, call))
    return distinct(arrays, call.quota)
  }
  const [first = objectOf([]), ...others] = objects(values, call)
  return others.reduce((made, other) => merge(made, other, call.quota), first)
}

function objects(values: readonly Json[], call: Call): readonly JsonObject[] {
  return values.map((value, index) =>
    isObject(value) ? value : refuseKind(values, index, call, 'arrays only or objects only, not'),
  )
}

export function distinct(
  arrays: readonly (readonly Json[])[],
  quota: EvaluationQuota,
): readonly Json[] {
  const seen = new Map<string, Json>()
  for (const array of arrays) {
    for (const one of array) {
      const identity = identityOf(one, quota)
      if (!seen.has(identity)) seen.set(identity, one)
    }
  }
  return [...seen.values()]
}

/** The later object's values win; a property keeps the spelling and the place that it had first. */
function merge(one: JsonObject, two: JsonObject, quota: EvaluationQuota): JsonObject {
  const spelled = new Map<string, string>()
  const made = new Map<string, Json>()
  for (const [name, value] of Object.entries(one)) {
    spelled.set(name.toLowerCase(), name)
    made.set(name, value)
  }
  for (const [name, value] of Object.entries(two)) {
    const own = spelled.get(name.toLowerCase()) ?? name
    const before = made.get(own)
    const both = isObject(before) && isObject(value)
    made.set(own, both ? merge(before, value, quota) : value)
  }
  quota.produceElements(made.size)
  quota.spend(made.size)
  return objectOf(made)
}
