/**
 * The attributes of a resource that conditions may use: its location, its tags, and what its type adds. Decides
 * nothing.
 */

import { isJsonObject } from '#kernel/patch.ts'
import { nameOf, type ResourceId } from '#kernel/resource-id.ts'
import { markerStart } from '#kernel/tags.ts'
import { qualify } from '#kernel/vendor.ts'
import type { ResourceRow } from '#stores/store.ts'
import { type Attributes, type AttributeValue, noAttributes } from './access.ts'
import type { CompiledStoredType } from './compiled-type.ts'
import type { PlaneDependencies } from './dependencies.ts'
import { readRow } from './document.ts'

/** A resource as stored, or as a body asks for it. */
interface Described {
  readonly id: ResourceId
  readonly model: unknown
  readonly location: string | undefined
  readonly tags: Readonly<Record<string, string>> | undefined
}

/**
 * Every attribute is listed under the resource's own type. Those that all resources have are also listed under
 * `Resources/resources`, so that one condition can cover resources of any type.
 */
export function attributesOf(
  deps: Pick<PlaneDependencies, 'registry'>,
  compiled: CompiledStoredType,
  resource: Described | undefined,
  body?: unknown,
): Attributes {
  if (resource === undefined) return noAttributes
  const found = new Map<string, AttributeValue>()
  const own = compiled.key
  const any = qualify(deps.registry.words, 'Resources/resources').toLowerCase()
  const wire = compiled.wireType.toLowerCase()
  for (const type of new Set([own, wire, any])) {
    found.set(`${type}:name`, nameOf(resource.id))
    found.set(`${type}:type`, compiled.wireType)
    if (compiled.stored.tracked !== undefined) addTracked(found, type, resource)
    addSummary(found, type, compiled.stored.summary?.(resource.model) ?? {})
  }
  const added = compiled.stored.attributes?.(resource.model, body) ?? {}
  for (const [name, value] of Object.entries(added)) {
    if (value !== undefined) found.set(`${own}:${name.toLowerCase()}`, value)
  }
  return found
}

/** `kind`, `managedBy` and the like as they are; of `sku`, `plan` and the like, the name. */
function addSummary(
  found: Map<string, AttributeValue>,
  type: string,
  summary: Readonly<Record<string, unknown>>,
): void {
  for (const [name, member] of Object.entries(summary)) {
    const value = isJsonObject(member) ? member['name'] : member
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
      found.set(`${type}:${name.toLowerCase()}`, value)
    }
  }
}

function addTracked(
  found: Map<string, AttributeValue>,
  type: string,
  { location, tags = {} }: Described,
): void {
  // Locations compare without blanks and case, so no spelling of one slips past a condition.
  const plain = location?.replace(/\s/g, '').toLowerCase()
  if (plain !== undefined) found.set(`${type}:location`, plain)
  for (const [name, value] of Object.entries(tags)) {
    // Stored before such names were refused. No condition can name it, and it must not stand for another.
    if (name.includes(markerStart)) continue
    found.set(`${type}/tags:${name.toLowerCase()}`, value)
    found.set(`${type}/tags:${name}<$key_case_sensitive$>`, value)
  }
}

export function describedRow(row: ResourceRow): Described {
  const { id, model, location, tags } = readRow(row)
  return { id, model, location, tags }
}
