/** What a location offers and holds: usages, capabilities, images that need no pull (facts 4.1). Computed. */

import type { ContainerEngine } from '#engines/containers/engine.ts'
import { refuse } from '#kernel/error.ts'
import { nameOf, subscriptionIdOf, subscriptionOf } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import {
  defineResource,
  type ListContext,
  type ListPage,
  type ResourceType,
} from '#plane/define.ts'
import { groupType } from '../container-groups/group-index.ts'
import type { ContainerGroup } from '../container-groups/model.ts'
import { attempt } from '../engine-failure.ts'
import type { ContainerLimits } from '../limits.ts'

export interface LocationParts {
  readonly engine: ContainerEngine
  readonly limits: ContainerLimits
}

export function locationLists(parts: LocationParts): readonly ResourceType[] {
  return [
    computed('usages', 'How much of each quota is used.', (context) => usages(context, parts)),
    computed('capabilities', 'What a group may ask for at the most.', (context) =>
      capabilities(nameOf(context.parent), parts),
    ),
    computed('cachedImages', 'Images that are started without a pull.', () => images(parts)),
  ]
}

function computed(
  word: string,
  description: string,
  itemsOf: (context: ListContext) => Promise<readonly object[]>,
): ResourceType {
  return defineResource({
    type: `ContainerInstance/locations/${word}`,
    description,
    scope: 'subscription',
    tracked: false,
    name: { pattern: /^.{1,64}$/, rule: '1 to 64 characters' },
    versions: [],
    apiVersions: ['2025-09-01'],
    source: { list: async (context) => pageOf(await itemsOf(context), context) },
  })
}

/** A page of a list that is made anew each time; the cursor is the number of the next item. */
function pageOf(all: readonly object[], { cursor, limit }: ListContext): ListPage<object> {
  const from = Number(cursor ?? 0)
  const items = all.slice(from, from + limit)
  return {
    items,
    ...(from + limit < all.length ? { next: String(from + limit) } : {}),
  }
}

/** Counted over a bounded number of groups of the subscription that lie in the location. */
async function usages(
  { reader, parent, words }: ListContext,
  { limits }: LocationParts,
): Promise<readonly object[]> {
  const subscription = subscriptionOf(parent) ?? ''
  const location = nameOf(parent).replace(/\s/g, '').toLowerCase()
  let groups = 0
  let cores = 0
  let after: string | undefined
  for (let rows = 0; rows < limits.usageRowsMax; ) {
    const limit = Math.min(500, limits.usageRowsMax - rows)
    const page = await reader.list({
      type: groupType,
      under: subscriptionIdOf(subscription),
      ...(after === undefined ? {} : { after }),
      limit,
    })
    for (const group of page) {
      if ((group.location ?? '').replace(/\s/g, '').toLowerCase() !== location) continue
      groups++
      // Rows of groups hold their model.
      for (const one of (group.model as ContainerGroup).properties.containers) {
        cores += one.properties?.resources?.requests?.cpu ?? 0
      }
    }
    rows += page.length
    if (page.length < limit) break
    after = page.at(-1)?.id.key
  }
  const base = `/subscriptions/${subscription}/providers/${qualify(words, 'ContainerInstance')}/locations/${nameOf(parent)}/usages`
  const usage = (value: string, localizedValue: string, currentValue: number, limit: number) => ({
    id: `${base}/${value}`,
    unit: 'Count',
    currentValue,
    limit,
    name: { value, localizedValue },
  })
  return [
    usage('ContainerGroups', 'Container Groups', groups, limits.groupsPerSubscriptionMax),
    usage(
      'StandardCores',
      'Standard Cores',
      Math.ceil(cores),
      limits.cpuPerGroupMax * limits.groupsPerSubscriptionMax,
    ),
  ]
}

async function capabilities(
  location: string,
  { engine, limits }: LocationParts,
): Promise<readonly object[]> {
  const { gpu } = await answerOf(() => engine.describe())
  return ['Public', 'Private'].map((ipAddressType) => ({
    resourceType: 'containerGroups',
    osType: 'Linux',
    location,
    ipAddressType,
    gpu: gpu ? 'Any' : 'None',
    capabilities: {
      maxMemoryInGB: limits.memoryInGBPerGroupMax,
      maxCpu: limits.cpuPerGroupMax,
      maxGpuCount: gpu ? 16 : 0,
    },
  }))
}

async function images({ engine }: LocationParts): Promise<readonly object[]> {
  const all = await answerOf(() => engine.images())
  return all.map(({ name }) => ({ osType: 'Linux', image: name }))
}

async function answerOf<T>(work: () => Promise<T>): Promise<T> {
  const tried = await attempt(work)
  if (tried.ok) return tried.value
  throw refuse.ServiceUnavailable({ reason: tried.failure.message })
}
