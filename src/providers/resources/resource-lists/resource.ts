/** The generic lists: resources of every type in a subscription or a group, with filter and expansion. */

import type { ResourceId } from '#kernel/resource-id.ts'
import {
  defineResource,
  type ListContext,
  type ListPage,
  type Resource,
  type ResourceType,
} from '#plane/define.ts'
import { scanPage } from '../scan-page.ts'
import { managerVersions } from '../versions.ts'
import { parseExpand, parseItemFilter, showItem, type TrackedItem } from './item.ts'

/**
 * Tracked resources of every type below a scope in order of id, groups left out. `next` is the key to go on
 * after, absent at the end: a page may be empty and yet not the last.
 */
export type ListTracked = (query: {
  readonly under: ResourceId
  readonly after?: string
  readonly limit: number
}) => Promise<{
  readonly items: readonly {
    readonly resource: Resource
    readonly compiled: {
      readonly wireType: string
      readonly declaration: Pick<ResourceType, 'summary'>
    }
  }[]
  readonly next?: string
}>

export interface ResourceListParts {
  readonly listTracked: ListTracked
  readonly scanRowsMax: number
}

export function resourceLists(parts: ResourceListParts): readonly ResourceType[] {
  return [
    list('Resources/subscriptions/resources', 'The resources of a subscription.', parts),
    list(
      'Resources/subscriptions/resourceGroups/resources',
      'The resources of a resource group.',
      parts,
    ),
  ]
}

function list(type: string, description: string, parts: ResourceListParts): ResourceType {
  return defineResource({
    type,
    description,
    scope: 'implied',
    tracked: false,
    name: { pattern: /^$/, rule: 'resources are named by their own type' },
    versions: [],
    apiVersions: managerVersions,
    source: { list: (context) => listResources(context, parts) },
  })
}

async function listResources(
  context: ListContext,
  { listTracked, scanRowsMax }: ResourceListParts,
): Promise<ListPage<object>> {
  const filter = parseItemFilter(context.query.get('$filter') ?? '')
  const expand = parseExpand(context.query.get('$expand') ?? '')
  const page = await scanPage<TrackedItem>({
    async read(after, limit) {
      const { items, next } = await listTracked({
        under: context.parent,
        ...(after === undefined ? {} : { after }),
        limit,
      })
      const rows = items.map(({ resource, compiled }) => ({
        resource,
        wireType: compiled.wireType,
        summary: compiled.declaration.summary?.(resource.model) ?? {},
      }))
      return { rows, ...(next === undefined ? {} : { next }) }
    },
    keyOf: ({ resource }) => resource.id.key,
    accepts: filter.matches,
    limit: context.limit,
    cursor: context.cursor,
    scanRowsMax,
  })
  return {
    items: page.items.map((item) => showItem(item, expand, !filter.asksTags)),
    ...(page.next === undefined ? {} : { next: page.next }),
  }
}
