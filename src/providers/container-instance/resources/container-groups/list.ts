/** Lists of groups, by resource group and by subscription, without the observed state of their containers. */

import type { Resource } from '#plane/declare/resource.ts'
import type { ListContext, ListPage } from '#plane/declare/wire.ts'
import { pageAfter } from '#plane/page-after.ts'
import { groupType } from '../../domain/groups/group-index.ts'
import type { Observed } from '../../domain/groups/observation.ts'
import type { ContainerGroup } from './model.ts'
import type { ListedObserved } from './versions/from-model.ts'

export async function listGroups(
  context: ListContext,
): Promise<ListPage<Resource<ContainerGroup>>> {
  const { items, ...rest } = await pageAfter(context, groupType)
  return { items: items.map(listed), ...rest }
}

function listed(resource: Resource): Resource<ContainerGroup> {
  // Rows of this type hold this model, and their reconciler's observation.
  const observed = (resource.observed ?? nothingYet) as Observed
  const shown: ListedObserved = { ...observed, listed: true }
  return { ...(resource as Resource<ContainerGroup>), observed: shown }
}

const nothingYet: Observed = {
  generation: 0,
  seen: { empty: true, sandbox: 'none', parts: [], published: [], imagesMissing: [] },
  parts: {},
  events: [],
}
