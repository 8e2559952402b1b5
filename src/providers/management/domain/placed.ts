/** Groups and subscriptions, each with the group that it lies in. Nothing of what the caller may not read. */

import { nameOf, parentOf, type ResourceId, rootId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import type { Context, Resource } from '#plane/declare/resource.ts'
import type { ManagementGroup } from '../resources/management-groups/model.ts'
import { groupIdOf, types } from './hierarchy.ts'

/** As many of each kind as are looked through. */
const placedMax = 1000
const subscriptionType = 'Resources/subscriptions'

export interface Placed {
  readonly id: ResourceId
  /** What it is in an answer, and in the name of an action. */
  readonly wireType: string
  readonly action: string
  readonly displayName: string
  readonly within: ResourceId
}

export async function readPlaced(
  { reader, words, may }: Pick<Context, 'reader' | 'words' | 'may'>,
  tenantId: string,
): Promise<readonly Placed[]> {
  const [groups = [], places = [], subscriptions = []] = await Promise.all(
    [types.groups, types.subscriptions, subscriptionType].map((type) =>
      reader.list({ type, under: rootId, limit: placedMax }),
    ),
  )
  const placed = new Map(places.map(({ id }) => [nameOf(id).toLowerCase(), parentOf(id)]))
  const outermost = groupIdOf(words, tenantId)
  const ofGroup = ({ id, model }: Resource): Placed => {
    // A row of this type, made by its `toModel`.
    const { displayName, parent } = model as ManagementGroup
    return {
      id,
      wireType: qualify(words, types.groups),
      action: types.groups,
      displayName,
      within: parent === undefined ? outermost : groupIdOf(words, parent),
    }
  }
  const ofSubscription = ({ id, model }: Resource): Placed => ({
    id,
    wireType: '/subscriptions',
    action: subscriptionType,
    // Rows of that type have this member.
    displayName: (model as { readonly displayName: string }).displayName,
    within: placed.get(nameOf(id).toLowerCase()) ?? outermost,
  })
  const all = [...groups.map(ofGroup), ...subscriptions.map(ofSubscription)]
  const isReadable = await Promise.all(all.map(({ action, id }) => may(`${action}/read`, id)))
  return all.filter((_one, at) => isReadable[at])
}

/** What lies right in a group, by the key of the group's id. */
export function placedByGroup(all: readonly Placed[]): ReadonlyMap<string, readonly Placed[]> {
  return Map.groupBy(all, ({ within }) => within.key)
}
