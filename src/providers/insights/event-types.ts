/**
 * The activity log as computed resources: one event type, `management`, and its records. Asked at a subscription it
 * has what happened there, asked at the root all there is. Whoever may read it there sees all of it.
 */

import { readActivity } from '#activity/read.ts'
import { refuse } from '#kernel/error.ts'
import { nameOf, type ResourceId, scopeOf } from '#kernel/resource-id.ts'
import {
  defineResource,
  type ListContext,
  type ListPage,
  type ResourceType,
} from '#plane/define.ts'
import type { World } from '#plane/world.ts'
import { parseQuestion } from './question.ts'
import { parseSelect, showActivity } from './show.ts'

type Parts = Pick<World, 'words' | 'tenantId' | 'sql'>

export const activityVersion = '2015-04-01'
const only = 'management'
const name = { pattern: /^management$/i, rule: `'${only}'` }

export function eventTypes({ words }: Parts): ResourceType {
  const type = 'Insights/eventtypes'
  const shown = (scope: ResourceId): object => ({
    id: `${scope.key === '/' ? '' : scope.text}/providers/${words.namespace}.${type}/${only}`,
    name: only,
    type: `${words.namespace}.${type}`,
  })
  return defineResource({
    type,
    description: 'The kinds of events there are: `management`, the activity log.',
    scope: 'any',
    tracked: false,
    name,
    versions: [],
    apiVersions: [activityVersion],
    source: {
      get: async ({ id }) => (isOnly(id) ? shown(scopeOf(id)) : undefined),
      list: async ({ parent }) => ({ items: [shown(parent)] }),
    },
  })
}

export function values(parts: Parts): ResourceType {
  return defineResource({
    type: 'Insights/eventtypes/values',
    description: 'Records of the activity log, the newest first.',
    scope: 'any',
    tracked: false,
    name: { pattern: /^$/, rule: 'none: records are listed' },
    versions: [],
    apiVersions: [activityVersion],
    source: { list: (context) => listValues(parts, context) },
  })
}

/** Every record that was looked at may be left out by the filter, so a page may be empty and go on. */
async function listValues(
  parts: Parts,
  { parent, query, cursor, limit }: ListContext,
): Promise<ListPage<object>> {
  if (!isOnly(parent)) throw refuse.ResourceNotFound({ id: parent.text })
  const subscription = subscriptionAt(scopeOf(parent))
  const question = parseQuestion(query.get('$filter'), subscription)
  const select = parseSelect(query.get('$select'))
  const page = await readActivity(parts.sql, question, { cursor, limit })
  return {
    items: page.items.map((one) => showActivity(one, parts, select)),
    ...(page.next === undefined ? {} : { next: page.next }),
  }
}

function isOnly(id: ResourceId): boolean {
  return nameOf(id).toLowerCase() === only
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
