/** Resource groups: created and changed at once; deleting one deletes everything in it, in the background. */

import { refuse } from '#kernel/error.ts'
import { nameOf } from '#kernel/resource-id.ts'
import type { PlaneServices } from '#plane/create-plane.ts'
import type { Action } from '#plane/declare/action.ts'
import { defineReconciled, type ReconciledType } from '#plane/declare/reconciled.ts'
import { refuseResources } from '../../errors.ts'
import { listGroups } from './list.ts'
import { groupNamePattern, type ResourceGroup } from './model.ts'
import { deleteWithContent, type EmptyScope } from './reconcile.ts'
import { resourceGroupVersions } from './versions/2021-04-01.ts'

export interface ResourceGroupDependencies {
  readonly emptyScope: EmptyScope
  readonly onSettled: PlaneServices['onSettled']
  /** Where a group lies that was brought into being by a write below it. */
  readonly implicitLocation: string
  readonly scanRowsMax: number
  readonly actions?: Readonly<Record<string, Action<ResourceGroup>>>
}

export function resourceGroups(deps: ResourceGroupDependencies): ReconciledType {
  return defineReconciled<ResourceGroup>({
    type: 'Resources/subscriptions/resourceGroups',
    wireType: 'Resources/resourceGroups',
    description: 'Resource groups: resources that live and go together.',
    scope: 'implied',
    query: { list: ['$filter'] },
    tracked: {
      location: 'required',
      refuseMove: (group, location) =>
        refuseResources.InvalidResourceGroupLocation({
          name: nameOf(group.id),
          existing: group.location ?? '',
          location,
        }),
    },
    name: {
      pattern: groupNamePattern,
      rule: '1 to 90 letters, digits, or any of "-_.()", not ending in a period',
    },
    versions: resourceGroupVersions,
    reconcile: deleteWithContent(deps.emptyScope, deps.onSettled),
    list: { partly: true, page: (context) => listGroups(context, deps.scanRowsMax) },
    container: {
      createImplicitly: () => ({ model: {}, location: deps.implicitLocation }),
      allowsChildren: ({ id, state }) => {
        if (state === 'Deleting') throw refuse.ResourceGroupBeingDeleted({ name: nameOf(id) })
      },
    },
    ...(deps.actions === undefined ? {} : { actions: deps.actions }),
    busy: ({ id }) => refuse.ResourceGroupBeingDeleted({ name: nameOf(id) }),
    summary: (model) => ({ ...model }),
    sample: {
      name: (seed) => `sample-group-${seed}`,
      body: (seed) => ({ location: 'local', tags: { seed: String(seed) } }),
      changed: (seed) => ({ location: 'local', tags: { seed: String(seed), changed: 'yes' } }),
    },
  })
}
