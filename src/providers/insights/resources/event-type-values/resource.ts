/**
 * Records of the activity log, as a computed resource: asked at a subscription, what happened there, asked at the root
 * all there is. Whoever may read it there sees all of it.
 */

import { readActivity } from '#activity/read.ts'
import { refuse } from '#kernel/error.ts'
import { type ResourceId, scopeOf } from '#kernel/resource-id.ts'
import { added } from '#plane/declare/added.ts'
import { defineComputed } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { ListContext, ListPage } from '#plane/declare/wire.ts'
import type { ProviderContext } from '#plane/provider-context.ts'
import { activityAnswer, parseSelect, showActivity } from '../../domain/activity-event.ts'
import { parseActivityFilter } from '../../domain/activity-filter.ts'
import { activityVersion, isManagementEvents } from '../../domain/management-events.ts'

type Dependencies = Pick<ProviderContext, 'words' | 'tenantId' | 'sql'>

export function values(deps: Dependencies): ResourceType {
  return defineComputed({
    type: 'Insights/eventtypes/values',
    description: 'Records of the activity log, the newest first.',
    scope: 'any',
    query: { list: ['$filter', '$select'] },
    apiVersions: [activityVersion],
    answer: added(activityAnswer),
    source: { list: (context) => listValues(deps, context) },
  })
}

/** Every record that was looked at may be left out by the filter, so a page may be empty and go on. */
async function listValues(
  deps: Dependencies,
  { parent, query, cursor, limit }: ListContext,
): Promise<ListPage<object>> {
  if (!isManagementEvents(parent)) throw refuse.ResourceNotFound({ id: parent.text })
  const subscription = subscriptionAt(scopeOf(parent))
  const question = parseActivityFilter(query.get('$filter'), subscription)
  const select = parseSelect(query.get('$select'))
  const page = await readActivity(deps.sql, question, { cursor, limit })
  return {
    items: page.items.map((one) => showActivity(one, deps, select)),
    ...(page.next === undefined ? {} : { next: page.next }),
  }
}

/** Undefined at the root. Throws where there is no log of its own. */
function subscriptionAt(scope: ResourceId): string | undefined {
  if (scope.key === '/') return undefined
  const found = /^\/subscriptions\/([^/]+)$/.exec(scope.key)
  if (found?.[1] !== undefined) return found[1]
  throw refuse.InvalidRequestUri({
    reason: `the activity log is asked at a subscription or at the root, not at '${scope.text}': use $filter with resourceGroupName or resourceUri`,
  })
}
