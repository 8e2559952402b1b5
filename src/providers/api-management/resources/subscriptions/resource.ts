/** Subscriptions: keys for calling APIs. There is no gateway that checks them. */

import Type from 'typebox'
import { type Problem, refuse } from '#kernel/error.ts'
import { nameOf, parentOf, type ResourceId } from '#kernel/resource-id.ts'
import type { ReadingAction, WritingAction } from '#plane/declare/action.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Reader, Resource } from '#plane/declare/resource.ts'
import { defineStored } from '#plane/declare/stored.ts'
import { countedList, countedQuery } from '../../domain/counted-list.ts'
import { keyOfSubscription, subscriptionType } from '../../domain/deleted-along.ts'
import { idRule } from '../../domain/names.ts'
import { definitionDates } from '../../published-versions.ts'
import { type Subscription, scopeAt } from './model.ts'
import { subscriptionOfProduct } from './versions/2017-03-01.ts'
import { keyBytes, type SubscriptionDependencies, subscription } from './versions/2021-08-01.ts'

const type = subscriptionType
/** While each subscription was of one product, and the first version in which it has any scope. */
const datesOfProducts = ['2017-03-01', '2018-01-01']
const firstOfScopes = '2018-06-01-preview'
const hush = 'hush-subscription-key'

export function subscriptions(deps: SubscriptionDependencies): ResourceType {
  return defineStored<Subscription>({
    type,
    description: 'A right to call a product or an API, with two keys.',
    scope: 'resource-group',
    query: countedQuery,
    name: idRule(256),
    movable: true,
    versions: [
      ...datesOfProducts.map((date) => subscriptionOfProduct(date, deps)),
      ...[firstOfScopes, ...definitionDates].map((date) => subscription(date, deps)),
    ],
    protocol: { headStatus: 200, anyMatchCreates: true },
    unique: { key: (id, model) => keyOfSubscription(id, scopeAt(id, model)) },
    secrets: 'sent-nowhere',
    prepare: async ({ id }, body: object) => ({ ...body, place: id.key }),
    rules: ({ id, desired, previous, reader }) =>
      desired.scope === previous?.scope ? [] : scopeProblems(reader, id, desired),
    onlyPutShows: async ({ id, reader, may, body }) => {
      if (!(await may(`${type}/listSecrets/action`, id))) return {}
      const found = await reader.get(id)
      // Made by this type's `toModel`.
      const keys = found === undefined ? {} : keysOf(found.model as Subscription, deps)
      const given = { ...Reflect.get(body, 'properties') }
      return Object.fromEntries(Object.entries(keys).filter(([name]) => given[name] === undefined))
    },
    actions: {
      listSecrets: listSecrets(deps),
      regeneratePrimaryKey: regenerate(deps, 'primary'),
      regenerateSecondaryKey: regenerate(deps, 'secondary'),
    },
    list: {
      page: countedList<Subscription>(type, {
        name: { type: 'string', read: ({ id }: Resource<Subscription>) => nameOf(id) },
        displayName: { type: 'string', read: ({ model }) => model.displayName },
        stateComment: { type: 'string', read: ({ model }) => model.stateComment },
        ownerId: { type: 'string', read: ({ model }) => model.ownerId },
        scope: { type: 'string', read: ({ id, model }) => scopeAt(id, model) },
        state: { type: 'string', read: ({ model }) => model.state },
      }),
    },
    sample: {
      name: (seed) => `subscription-${seed}`,
      body: (_seed, version) => sampleOf('All', version),
      changed: (_seed, version) => sampleOf('Every', version),
      secrets: [hush],
    },
  })
}

function sampleOf(displayName: string, version = ''): object {
  const to = datesOfProducts.includes(version)
    ? { productId: '/other/products/all' }
    : { scope: '/apis' }
  return { properties: { displayName, ...to, primaryKey: hush } }
}

function listSecrets(deps: SubscriptionDependencies): ReadingAction<Subscription> {
  return {
    method: 'POST',
    description: 'Both keys.',
    countsAsRead: true,
    revealsSecret: true,
    answer: Type.Object({
      primaryKey: Type.Optional(Type.String()),
      secondaryKey: Type.Optional(Type.String()),
    }),
    async run({ resource, id }) {
      if (resource === undefined) throw refuse.ResourceNotFound({ id: id.text })
      const headers = { ETag: `"${resource.etag}"` }
      return { status: 200, body: keysOf(resource.model, deps), headers }
    },
  }
}

/** What is subscribed to must be there. Only what stands in the same service is looked for. */
async function scopeProblems(
  reader: Reader,
  id: ResourceId,
  desired: Subscription,
): Promise<readonly Problem[]> {
  const service = parentOf(id).key
  const scope = scopeAt(id, desired)
  const below = scope.toLowerCase().startsWith(`${service}/`) ? scope.slice(service.length) : ''
  if (!/^\/(apis|products)\/[^/]+$/i.test(below)) return []
  if ((await reader.get(scope)) !== undefined) return []
  return [{ path: 'properties.scope', message: `names ${below}, which is not there` }]
}

function keysOf(
  { place, sealedPrimaryKey, sealedSecondaryKey }: Subscription,
  { seal }: SubscriptionDependencies,
): object {
  const primaryKey = seal.open(sealedPrimaryKey, `${place}|primary`)
  const secondaryKey = seal.open(sealedSecondaryKey, `${place}|secondary`)
  return {
    ...(primaryKey === undefined ? {} : { primaryKey }),
    ...(secondaryKey === undefined ? {} : { secondaryKey }),
  }
}

function regenerate(
  { seal, ids }: SubscriptionDependencies,
  which: 'primary' | 'secondary',
): WritingAction<Subscription> {
  return {
    method: 'POST',
    description: `Another ${which} key.`,
    writes: true,
    async run({ resource }) {
      const fresh = seal.seal(ids.secret(keyBytes), `${resource.model.place}|${which}`)
      const changed =
        which === 'primary' ? { sealedPrimaryKey: fresh } : { sealedSecondaryKey: fresh }
      return { status: 204, model: { ...resource.model, ...changed } }
    },
  }
}
