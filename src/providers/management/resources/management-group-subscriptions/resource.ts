/** Subscriptions in management groups: whoever puts one there gives rights to it, and has to be allowed to. */

import { refuse } from '#kernel/error.ts'
import { nameOf, parentOf, subscriptionIdOf } from '#kernel/resource-id.ts'
import { uuidPattern } from '#kernel/uuid.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { defineStored } from '#plane/declare/stored.ts'
import { requireRight, types } from '../../domain/hierarchy.ts'
import { refuseManagement } from '../../errors.ts'
import type { GroupSubscription } from './model.ts'
import { type PreparedPlacement, v2020_05_01 } from './versions/2020-05-01.ts'

/** What putting a subscription somewhere else takes, and so does taking it out: rights come and go with its place. */
const movingAction = 'Authorization/roleAssignments/write'

export function managementGroupSubscriptions(tenantId: string): ResourceType {
  return defineStored<GroupSubscription>({
    type: types.subscriptions,
    description: 'The subscriptions that lie in a management group.',
    scope: 'tenant',
    feed: 'authorization',
    name: { pattern: uuidPattern, rule: 'a UUID' },
    versions: [v2020_05_01(tenantId)],
    verbs: ['get', 'list', 'put', 'delete'],
    // Published clients take a 201 for a failure.
    protocol: { bodyOptional: true, answers: { created: { status: 200 } } },
    async prepare(context, given: object): Promise<PreparedPlacement> {
      if ((await context.reader.get(context.id)) !== undefined) return { ...given, mayPlace: false }
      const subscription = subscriptionIdOf(nameOf(context.id))
      await requireRight(context, movingAction, subscription)
      return { ...given, mayPlace: true }
    },
    unique: {
      key: (id) => `management-group-of|${nameOf(id).toLowerCase()}`,
      refuse: (id, existing) =>
        refuseManagement.SubscriptionPlacedElsewhere({
          name: nameOf(id),
          existing: existing === undefined ? 'another group' : parentOf(existing).text,
        }),
    },
    rightsToDelete: (id) => [{ action: movingAction, scope: subscriptionIdOf(nameOf(id)) }],
    async deleteRules(context) {
      const subscription = subscriptionIdOf(nameOf(context.id))
      if (context.resource !== undefined) await requireRight(context, movingAction, subscription)
    },
    async rules(context) {
      if (context.previous !== undefined) return []
      // It went after `prepare` saw it. Whoever had rights by it alone must not bring it back.
      if (context.desired.isUnchecked) throw refuse.Conflict({ id: context.id.text })
      const subscription = subscriptionIdOf(nameOf(context.id))
      if ((await context.reader.get(subscription)) === undefined) {
        throw refuse.SubscriptionNotFound({ id: nameOf(context.id) })
      }
      return []
    },
  })
}
