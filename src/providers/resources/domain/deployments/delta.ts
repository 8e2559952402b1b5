/** The difference of two answers, property by property, as a what-if shows it (template facts 4). Pure. */

import { isJsonObject, sameJson } from '#kernel/patch.ts'

interface PropertyChange {
  readonly path: string
  readonly propertyChangeType: 'Create' | 'Delete' | 'Modify' | 'Array' | 'NoEffect'
  readonly before?: unknown
  readonly after?: unknown
  readonly children?: readonly PropertyChange[]
}

/** Without properties that change by themselves and say nothing about the user's request. */
export function comparable(answer: unknown): unknown {
  if (!isJsonObject(answer)) return answer
  const { systemData: _system, etag: _etag, ...rest } = answer
  const { properties } = rest
  if (!isJsonObject(properties)) return rest
  const { provisioningState: _state, ...kept } = properties
  return { ...rest, properties: withoutInstances(kept) }
}

/** Without an engine's current state, at any depth. */
function withoutInstances(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutInstances)
  if (!isJsonObject(value)) return value
  const kept = Object.entries(value).filter(([name]) => name !== 'instanceView')
  return Object.fromEntries(kept.map(([name, one]) => [name, withoutInstances(one)]))
}

export function deltaOf(before: unknown, after: unknown): readonly PropertyChange[] {
  return changesAt('', before, after)
}

function changesAt(path: string, before: unknown, after: unknown): readonly PropertyChange[] {
  if (sameJson(before, after)) return []
  if (before === undefined) return [{ path, propertyChangeType: 'Create', after }]
  if (after === undefined) return [{ path, propertyChangeType: 'Delete', before }]
  if (isJsonObject(before) && isJsonObject(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)])
    return [...names].flatMap((name) =>
      changesAt(path === '' ? name : `${path}.${name}`, own(before, name), own(after, name)),
    )
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const children: PropertyChange[] = []
    for (let at = 0; at < Math.max(before.length, after.length); at++) {
      const inside = changesAt('', before[at], after[at])
      children.push(...inside.map((one) => ({ ...one, path: joined(String(at), one.path) })))
    }
    return [{ path, propertyChangeType: 'Array', children }]
  }
  return [{ path, propertyChangeType: 'Modify', before, after }]
}

function joined(index: string, rest: string): string {
  return rest === '' ? index : `${index}.${rest}`
}

function own(object: object, name: string): unknown {
  return Object.hasOwn(object, name) ? (object as Record<string, unknown>)[name] : undefined
}
