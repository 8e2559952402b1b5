/** The difference of two answers, property by property, as a what-if shows it (template facts 4). Pure. */

import { fromMembers } from '#kernel/named-members.ts'
import { isJsonObject, sameJson } from '#kernel/patch.ts'

interface PropertyChange {
  readonly path: string
  readonly propertyChangeType: 'Create' | 'Delete' | 'Modify' | 'Array' | 'NoEffect'
  readonly before?: unknown
  readonly after?: unknown
  readonly children?: readonly PropertyChange[]
}

/**
 * Without properties that change by themselves and say nothing about the user's request; with the version in which it
 * was read.
 */
export function comparable(answer: unknown, apiVersion: string): unknown {
  if (!isJsonObject(answer)) return answer
  const { systemData: _system, etag: _etag, ...shown } = answer
  const rest: Readonly<Record<string, unknown>> = { apiVersion, ...shown }
  const { properties } = rest
  if (!isJsonObject(properties)) return rest
  const { provisioningState: _state, ...kept } = properties
  return { ...rest, properties: withoutInstances(kept) }
}

/** Without an engine's current state, at any depth. Most values have none, and are as they were. */
function withoutInstances(value: unknown): unknown {
  return hasInstances(value) ? copiedWithoutInstances(value) : value
}

function copiedWithoutInstances(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copiedWithoutInstances)
  if (!isJsonObject(value)) return value
  const kept = Object.entries(value).filter(([name]) => name !== 'instanceView')
  return fromMembers(kept.map(([name, one]) => [name, copiedWithoutInstances(one)]))
}

function hasInstances(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasInstances)
  if (!isJsonObject(value)) return false
  for (const name in value) if (name === 'instanceView' || hasInstances(value[name])) return true
  return false
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
      children.push(...changesOfElement(String(at), before[at], after[at]))
    }
    return [{ path, propertyChangeType: 'Array', children }]
  }
  return [{ path, propertyChangeType: 'Modify', before, after }]
}

/** An element has a change of its own, named by its index, with those of its properties below it. */
function changesOfElement(
  path: string,
  before: unknown,
  after: unknown,
): readonly PropertyChange[] {
  const children =
    isJsonObject(before) && isJsonObject(after) ? changesAt('', before, after) : undefined
  if (children === undefined) return changesAt(path, before, after)
  return children.length === 0 ? [] : [{ path, propertyChangeType: 'Modify', children }]
}

function own(object: object, name: string): unknown {
  return Object.hasOwn(object, name) ? (object as Record<string, unknown>)[name] : undefined
}
