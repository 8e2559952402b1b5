/** The generic lists: resources of every type in a subscription or a group, with filter and expansion. */

import Type from 'typebox'
import type { ResourceId } from '#kernel/resource-id.ts'
import { added } from '#plane/declare/added.ts'
import { type ComputedType, defineComputed } from '#plane/declare/computed.ts'
import type { Resource } from '#plane/declare/resource.ts'
import type { StoredType } from '#plane/declare/stored.ts'
import type { ListContext, ListPage } from '#plane/declare/wire.ts'
import {
  parseExpand,
  parseItemFilter,
  showItem,
  type TrackedItem,
} from '../../domain/resource-list-item.ts'
import { scanPage } from '../../domain/scan-page.ts'
import { managerVersions } from '../../published-versions.ts'

/**
 * Tracked resources of every type below a scope in order of id, groups left out. `next` is the key to go on
 * after, absent at the end: a page may be empty and yet not the last.
 */
export type ListTracked = (query: {
  readonly under: ResourceId
  readonly after?: string
  readonly limit: number
  /** Only this type, where it is declared; others are looked at among all. */
  readonly wireType?: string
}) => Promise<{
  readonly items: readonly {
    readonly resource: Resource
    readonly compiled: {
      readonly wireType: string
      readonly stored: Pick<StoredType, 'summary' | 'type'>
    }
  }[]
  readonly next?: string
  readonly isShort?: true
}>

export interface ResourceListDependencies {
  readonly listTracked: ListTracked
  readonly scanRowsMax: number
}

export function resourceLists(deps: ResourceListDependencies): readonly ComputedType[] {
  return [
    list('Resources/subscriptions/resources', 'The resources of a subscription.', deps),
    list(
      'Resources/subscriptions/resourceGroups/resources',
      'The resources of a resource group.',
      deps,
    ),
  ]
}

const text = Type.Optional(Type.String())
const whatever = Type.Optional(Type.Record(Type.String(), Type.Unknown()))
/** Beside its place and its tags what its type says of it in short. */
const answer = Type.Object({
  kind: text,
  managedBy: text,
  sku: whatever,
  plan: whatever,
  identity: whatever,
  zones: Type.Optional(Type.Array(Type.String())),
  createdTime: text,
  changedTime: text,
  provisioningState: text,
})

function list(type: string, description: string, deps: ResourceListDependencies): ComputedType {
  return defineComputed({
    type,
    description,
    scope: 'implied',
    partlyListed: true,
    query: { list: ['$filter', '$expand'] },
    apiVersions: managerVersions,
    answer: added(answer),
    source: { list: (context) => listResources(context, `${type}/read`, deps) },
  })
}

async function listResources(
  context: ListContext,
  action: string,
  { listTracked, scanRowsMax }: ResourceListDependencies,
): Promise<ListPage<object>> {
  const filter = parseItemFilter(context.query.get('$filter') ?? '')
  const expand = parseExpand(context.query.get('$expand') ?? '')
  const all = await context.may(action, context.parent)
  const page = await scanPage<TrackedItem & { readonly action: string }>({
    async read(after, limit) {
      const { items, ...rest } = await listTracked({
        under: context.parent,
        ...(after === undefined ? {} : { after }),
        ...(filter.wireType === undefined ? {} : { wireType: filter.wireType }),
        limit,
      })
      const rows = items.map(({ resource, compiled }) => ({
        resource,
        wireType: compiled.wireType,
        action: `${compiled.stored.type}/read`,
        summary: compiled.stored.summary?.(resource.model) ?? {},
      }))
      return { rows, ...rest }
    },
    keyOf: ({ resource }) => resource.id.key,
    // Who may not read all of them is shown those that a role of theirs reaches.
    accepts: (item) => filter.matches(item) && (all || context.may(item.action, item.resource.id)),
    limit: context.limit,
    cursor: context.cursor,
    scanRowsMax,
  })
  return {
    items: page.items.map((item) => showItem(item, expand, !filter.asksTags)),
    ...(page.next === undefined ? {} : { next: page.next }),
  }
}
