/** Subscriptions: the outermost scopes. They are disabled, never deleted, so that nothing is lost by one call. */

import { refuse } from '#kernel/error.ts'
import { defaultLimits } from '#kernel/limits.ts'
import { nameOf } from '#kernel/resource-id.ts'
import { tagProblems } from '#kernel/tags.ts'
import { uuidPattern } from '#kernel/uuid.ts'
import type { Resource } from '#plane/declare/resource.ts'
import { defineStored, type StoredType } from '#plane/declare/stored.ts'
import type { ListContext } from '#plane/declare/wire.ts'
import { scanPage } from '../../domain/scan-page.ts'
import { subscriptionActions } from './actions.ts'
import type { Subscription } from './model.ts'
import { v2019_11_01 } from './versions/2019-11-01.ts'
import { v2020_01_01 } from './versions/2020-01-01.ts'
import { v2021_01_01 } from './versions/2021-01-01.ts'
import { v2022_12_01 } from './versions/2022-12-01.ts'

export interface SubscriptionDependencies {
  readonly tenantId: string
  /** Rows looked at for one page of the list, which shows only what the caller may read. */
  readonly scanRowsMax: number
}

const type = 'Resources/subscriptions'

export function subscriptions({ tenantId, scanRowsMax }: SubscriptionDependencies): StoredType {
  return defineStored<Subscription>({
    type,
    description: 'Subscriptions, the outermost scopes of resources.',
    scope: 'implied',
    name: {
      pattern: uuidPattern,
      rule: 'a UUID',
      refuse: (id) => refuse.InvalidSubscriptionId({ id }),
    },
    versions: [v2019_11_01, v2020_01_01, v2021_01_01, v2022_12_01],
    verbs: ['get', 'list', 'put', 'patch'],
    rules: ({ desired }) => tagProblems(desired.tags, defaultLimits),
    actions: subscriptionActions,
    list: { open: true, page: (context) => listReadable(context, scanRowsMax) },
    container: {
      createImplicitly: (id) => ({
        model: {
          displayName: `Subscription ${nameOf(id).slice(0, 8)}`,
          state: 'Enabled',
          tags: {},
        },
      }),
      allowsChildren: ({ id, model }) => {
        if (model.state === 'Disabled')
          throw refuse.ReadOnlyDisabledSubscription({ id: nameOf(id) })
      },
    },
    envelope: ({ id, model }) => ({
      id: id.text,
      subscriptionId: nameOf(id),
      tenantId,
      displayName: model.displayName,
      state: model.state,
      subscriptionPolicies: {
        locationPlacementId: 'Public_2014-09-01',
        quotaId: 'Unlimited_2014-09-01',
        spendingLimit: 'Off',
      },
      authorizationSource: 'RoleBased',
      managedByTenants: [],
      ...(Object.keys(model.tags).length === 0 ? {} : { tags: model.tags }),
    }),
    sample: {
      name: (seed) => `5ab5c21b-0000-4000-8000-${seed.toString(16).padStart(12, '0')}`,
      body: (seed) => ({ displayName: `Sample ${seed}`, tags: { seed: String(seed) } }),
      changed: (seed) => ({ displayName: `Sample ${seed}, renamed`, tags: {} }),
    },
  })
}

/** Anyone may ask; each sees the subscriptions that a role lets them read, and those in which they have a role. */
async function listReadable(context: ListContext, scanRowsMax: number) {
  return scanPage<Resource<Subscription>>({
    async read(after, limit) {
      const { items, ...rest } = await context.reader.page({
        type,
        under: context.parent,
        after,
        limit,
      })
      // Rows of this type were made by its `toModel`.
      return { rows: items as readonly Resource<Subscription>[], ...rest }
    },
    keyOf: (row) => row.id.key,
    accepts: async (row) =>
      (await context.may(`${type}/read`, row.id)) || context.hasRoleBelow(row.id),
    limit: context.limit,
    cursor: context.cursor,
    scanRowsMax,
  })
}
