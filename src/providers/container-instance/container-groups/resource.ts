/** Container groups: containers that are placed, started and stopped together (contract, operation 3). */

import type { Ids } from '#kernel/ports.ts'
import { nameOf } from '#kernel/resource-id.ts'
import { defineResource, type ResourceType } from '#plane/define.ts'
import { refuseContainer } from '../errors.ts'
import type { LentIdentities, ShareAccounts } from '../services.ts'
import { outboundDependencies } from './actions/outbound-dependencies.ts'
import { restart, start, stop } from './actions/start-stop-restart.ts'
import { groupType } from './group-index.ts'
import { listGroups } from './list.ts'
import type { ContainerGroup } from './model.ts'
import { prepareGroup } from './prepare.ts'
import { type ReconcileParts, reconcileWith } from './reconcile.ts'
import { containerGroupRules } from './rules.ts'
import { sample } from './sample.ts'
import { type Naming, showIdentity } from './show.ts'
import { v2025_09_01 } from './versions/2025-09-01.ts'

export interface ContainerGroupParts extends ReconcileParts {
  readonly tenantId: string
  readonly ids: Ids
  readonly identities: LentIdentities | undefined
  readonly shareAccounts: ShareAccounts | undefined
  readonly naming: Naming
}

export function containerGroups(parts: ContainerGroupParts): ResourceType {
  return defineResource<ContainerGroup>({
    type: groupType,
    description: 'Containers that are placed, started and stopped together.',
    scope: 'resource-group',
    tracked: true,
    location: 'optional',
    name: {
      // Facts 4.7 has lower case only; names compare without case anyway (facts 9.2).
      pattern: /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$/,
      rule: '1 to 63 letters, digits and hyphens, no hyphen first or last',
    },
    versions: [v2025_09_01(parts)],
    secrets: 'in-every-body',
    prepare: (context, body) => prepareGroup(context, body, parts),
    rules: (context) => containerGroupRules(context, parts),
    uniqueKey: (id, { domainKey }) =>
      domainKey === undefined ? `container-group|${id.key}` : `container-group-label|${domainKey}`,
    uniqueRefusal: (id) => refuseContainer.DnsNameLabelNotAvailable({ name: nameOf(id) }),
    busy: ({ id }) => refuseContainer.ContainerGroupTransitioning({ name: nameOf(id) }),
    list: listGroups,
    summary: ({ identity, zones }) => ({
      ...(identity === undefined ? {} : { identity: showIdentity(identity) }),
      ...(zones === undefined ? {} : { zones }),
    }),
    reconcile: reconcileWith(parts),
    actions: { start, stop, restart, outboundNetworkDependenciesEndpoints: outboundDependencies },
    sample,
  })
}
