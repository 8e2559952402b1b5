/** A resource of any type as the generic lists show it, and the fields of their filter (facts 9.8). */

import { refuse } from '#kernel/error.ts'
import { compileFilter } from '#kernel/filter/evaluate.ts'
import { type FieldMap, fieldsOfRows } from '#kernel/filter/field-map.ts'
import type { FilterNode } from '#kernel/filter/nodes.ts'
import { parseFilter } from '#kernel/filter/parse.ts'
import { lenientProfile } from '#kernel/filter/profile.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { nameOf, resourceGroupOf } from '#kernel/resource-id.ts'
import type { Resource } from '#plane/declare/resource.ts'
import { plainLocation } from './locations.ts'

export interface TrackedItem {
  readonly resource: Resource
  /** As on the wire: `Vendor.ContainerInstance/containerGroups`. */
  readonly wireType: string
  /** `kind`, `sku`, `plan`, `identity`, `managedBy`, if the type has them. */
  readonly summary: Readonly<Record<string, unknown>>
}

interface ItemFilter {
  matches(item: TrackedItem): boolean
  /** Items found by their tags are shown without them. */
  readonly asksTags: boolean
  /** The type that every match has, where the filter says so; others need not be looked at. */
  readonly wireType?: string
}

const text = { type: 'string', ignoreCase: true } as const

function member(item: TrackedItem, name: string, inner: string): unknown {
  const value = item.summary[name]
  return isJsonObject(value) ? value[inner] : undefined
}

const fields: FieldMap<TrackedItem> = {
  fields: {
    name: { ...text, read: ({ resource }) => nameOf(resource.id) },
    resourceType: { ...text, read: (item) => item.wireType },
    resourceGroup: { ...text, read: ({ resource }) => resourceGroupOf(resource.id) },
    location: { ...text, read: ({ resource }) => plainLocation(resource.location ?? '') },
    identity: { ...text, read: (item) => member(item, 'identity', 'type') },
    'identity/principalId': { ...text, read: (item) => member(item, 'identity', 'principalId') },
    plan: { ...text, read: (item) => member(item, 'plan', 'name') },
    'plan/name': { ...text, read: (item) => member(item, 'plan', 'name') },
    'plan/publisher': { ...text, read: (item) => member(item, 'plan', 'publisher') },
    'plan/product': { ...text, read: (item) => member(item, 'plan', 'product') },
    'plan/promotionCode': { ...text, read: (item) => member(item, 'plan', 'promotionCode') },
    'plan/version': { ...text, read: (item) => member(item, 'plan', 'version') },
    ...fieldsOfRows(
      { of: ({ resource }: TrackedItem) => Object.entries(resource.tags ?? {}), together: true },
      {
        tagName: { ...text, read: ([name]: [string, string]) => name },
        tagValue: { type: 'string', read: ([, value]: [string, string]) => value },
      },
    ),
  },
  lenient: true,
}

export function parseItemFilter(given: string): ItemFilter {
  if (given.trim() === '') return { matches: () => true, asksTags: false }
  const parsed = parseFilter(given, lenientProfile)
  if (!parsed.ok) throw refuse.InvalidFilterInQueryString({ reason: parsed.message })
  let asksTags = false
  const node = withPlainLocations(parsed.node, (path) => {
    asksTags ||= path === 'tagname' || path === 'tagvalue'
  })
  const compiled = compileFilter(node, fields)
  if (!compiled.ok) throw refuse.InvalidFilterInQueryString({ reason: compiled.message })
  const wireType = typeOf(node)
  return {
    matches: compiled.matches,
    asksTags,
    ...(wireType === undefined ? {} : { wireType }),
  }
}

/** The type of `resourceType eq '…'`, alone or joined to other conditions by `and`. */
function typeOf(node: FilterNode): string | undefined {
  if (node.kind !== 'binary') return undefined
  const { operator, left, right } = node
  if (operator === 'and') return typeOf(left) ?? typeOf(right)
  if (operator !== 'eq') return undefined
  const [path, value] = left.kind === 'path' ? [left, right] : [right, left]
  const isType = path.kind === 'path' && path.segments.join('/').toLowerCase() === 'resourcetype'
  if (!isType || value.kind !== 'literal' || value.literal.type !== 'string') return undefined
  return value.literal.value
}

/** The same filter, with constants that are compared with locations in their plain spelling. */
function withPlainLocations(node: FilterNode, seen: (path: string) => void): FilterNode {
  switch (node.kind) {
    case 'path':
      seen(node.segments.join('/').toLowerCase())
      return node
    case 'unary':
      return { ...node, operand: withPlainLocations(node.operand, seen) }
    case 'binary': {
      const left = withPlainLocations(node.left, seen)
      const right = withPlainLocations(node.right, seen)
      if (isLocation(left)) return { ...node, left, right: plainLiteral(right) }
      if (isLocation(right)) return { ...node, left: plainLiteral(left), right }
      return { ...node, left, right }
    }
    case 'call':
      return { ...node, arguments: node.arguments.map((one) => withPlainLocations(one, seen)) }
    default:
      return node
  }
}

function isLocation(node: FilterNode): boolean {
  return node.kind === 'path' && node.segments.join('/').toLowerCase() === 'location'
}

function plainLiteral(node: FilterNode): FilterNode {
  if (node.kind !== 'literal' || node.literal.type !== 'string') return node
  return { ...node, literal: { type: 'string', value: plainLocation(node.literal.value) } }
}

const expandable = ['createdTime', 'changedTime', 'provisioningState'] as const
type Expanded = ReadonlySet<(typeof expandable)[number]>

/** Parses `$expand` as a list of names in any case; another name is refused. */
export function parseExpand(given: string): Expanded {
  const names = given
    .split(',')
    .map((one) => one.trim().toLowerCase())
    .filter((one) => one !== '')
  return new Set(
    names.map((name) => {
      const known = expandable.find((one) => one.toLowerCase() === name)
      if (known !== undefined) return known
      const reason = `expected ${expandable.join(', ')}, joined by commas`
      throw refuse.InvalidQueryParameter({ name: '$expand', reason })
    }),
  )
}

export function showItem(item: TrackedItem, expand: Expanded, withTags: boolean): object {
  const { resource, summary, wireType } = item
  return {
    id: resource.id.text,
    name: nameOf(resource.id),
    type: wireType,
    location: resource.location,
    ...(withTags ? { tags: resource.tags ?? {} } : {}),
    ...summary,
    ...(expand.has('createdTime') ? { createdTime: resource.systemData.createdAt } : {}),
    ...(expand.has('changedTime') ? { changedTime: resource.systemData.lastModifiedAt } : {}),
    ...(expand.has('provisioningState') ? { provisioningState: resource.state } : {}),
  }
}
