/** Event types of the activity log: there is one, `management`. */

import Type from 'typebox'
import { type ResourceId, scopeOf } from '#kernel/resource-id.ts'
import { added } from '#plane/declare/added.ts'
import { defineComputed } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { ProviderContext } from '#plane/provider-context.ts'
import {
  activityVersion,
  isManagementEvents,
  managementEvents,
} from '../../domain/management-events.ts'

export function eventTypes({ words }: Pick<ProviderContext, 'words'>): ResourceType {
  const type = 'Insights/eventtypes'
  const shown = (scope: ResourceId): object => ({
    id: `${scope.key === '/' ? '' : scope.text}/providers/${words.namespace}.${type}/${managementEvents}`,
    name: managementEvents,
    type: `${words.namespace}.${type}`,
  })
  return defineComputed({
    type,
    description: 'The kinds of events there are: `management`, the activity log.',
    scope: 'any',
    apiVersions: [activityVersion],
    answer: added(Type.Object({})),
    source: {
      get: async ({ id }) => (isManagementEvents(id) ? shown(scopeOf(id)) : undefined),
      list: async ({ parent }) => ({ items: [shown(parent)] }),
    },
  })
}
