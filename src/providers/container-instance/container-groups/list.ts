/** Lists of groups, by resource group and by subscription, without what was seen of their containers. */

import type { ListContext, ListPage, Resource } from '#plane/define.ts'
import { groupType } from './group-index.ts'
import type { ContainerGroup } from './model.ts'
import type { Observed } from './observed.ts'
import type { ListedObserved } from './show.ts'

export async function listGroups({
  reader,
  parent,
  cursor,
  limit,
}: ListContext): Promise<ListPage<Resource<ContainerGroup>>> {
  const rows = await reader.list({
    type: groupType,
    under: parent,
    ...(cursor === undefined ? {} : { after: cursor }),
    limit: limit + 1,
  })
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    items: page.map(listed),
    ...(rows.length > limit && last !== undefined ? { next: last.id.key } : {}),
  }
}

function listed(resource: Resource): Resource<ContainerGroup> {
  // Rows of this type hold this model, and what its reconciler observed.
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
