/** What a location offers: usages, capabilities, and images that need no pull (facts 4.1). Computed. */

import Type, { type TSchema } from 'typebox'
import type { ContainerEngine } from '#engines/containers/engine.ts'
import { refuse } from '#kernel/error.ts'
import { nameOf, subscriptionIdOf, subscriptionOf } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import { added } from '#plane/declare/added.ts'
import { defineComputed } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { ListContext, ListPage } from '#plane/declare/wire.ts'
import { attempt } from '../../domain/engine-failure.ts'
import { groupType } from '../../domain/groups/group-index.ts'
import type { ContainerLimits } from '../../domain/limits.ts'
import type { ContainerGroup } from '../container-groups/model.ts'

export interface LocationDependencies {
  readonly engine: ContainerEngine
  readonly limits: ContainerLimits
}

const text = Type.String()
const answers = {
  usages: Type.Object({
    id: text,
    unit: text,
    currentValue: Type.Integer(),
    limit: Type.Integer(),
    name: Type.Object({ value: text, localizedValue: text }),
  }),
  capabilities: Type.Object({
    resourceType: text,
    osType: text,
    location: text,
    ipAddressType: text,
    gpu: text,
    capabilities: Type.Object({
      maxMemoryInGB: Type.Number(),
      maxCpu: Type.Number(),
      maxGpuCount: Type.Number(),
    }),
  }),
  cachedImages: Type.Object({ osType: text, image: text }),
} satisfies Record<string, TSchema>

export function locationLists(deps: LocationDependencies): readonly ResourceType[] {
  return [
    computed('usages', 'How much of each quota is used.', (context) => usages(context, deps)),
    computed('capabilities', 'What a group may ask for at the most.', (context) =>
      capabilities(nameOf(context.parent), deps),
    ),
    computed('cachedImages', 'Images that are started without a pull.', () => images(deps)),
  ]
}

function computed(
  word: keyof typeof answers,
  description: string,
  itemsOf: (context: ListContext) => Promise<readonly object[]>,
): ResourceType {
  return defineComputed({
    type: `ContainerInstance/locations/${word}`,
    description,
    scope: 'subscription',
    apiVersions: ['2025-09-01'],
    answer: added(answers[word]),
    bare: true,
    source: { list: async (context) => pageOf(await itemsOf(context), context) },
  })
}

/** A page of a list that is computed each time; the cursor is the number of the next item. */
function pageOf(all: readonly object[], { cursor, limit }: ListContext): ListPage<object> {
  const from = Number(cursor ?? 0)
  const items = all.slice(from, from + limit)
  return {
    items,
    ...(from + limit < all.length ? { next: String(from + limit) } : {}),
  }
}

/** Counted over a bounded number of the subscription's groups in the location. */
async function usages(
  { reader, parent, words }: ListContext,
  { limits }: LocationDependencies,
): Promise<readonly object[]> {
  const subscription = subscriptionOf(parent) ?? ''
  const location = nameOf(parent).replace(/\s/g, '').toLowerCase()
  let groups = 0
  let cores = 0
  const under = subscriptionIdOf(subscription)
  for await (const group of reader.each({ type: groupType, under, limit: limits.usageRowsMax })) {
    if ((group.location ?? '').replace(/\s/g, '').toLowerCase() !== location) continue
    groups++
    // Rows of groups hold their model.
    for (const one of (group.model as ContainerGroup).properties.containers) {
      cores += one.properties?.resources?.requests?.cpu ?? 0
    }
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
  { engine, limits }: LocationDependencies,
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

async function images({ engine }: LocationDependencies): Promise<readonly object[]> {
  const all = await answerOf(() => engine.images())
  return all.map(({ name }) => ({ osType: 'Linux', image: name }))
}

async function answerOf<T>(work: () => Promise<T>): Promise<T> {
  const tried = await attempt(work)
  if (tried.ok) return tried.value
  throw refuse.ServiceUnavailable({ reason: tried.failure.message })
}
