/** Container groups: containers that are placed, started and stopped together (contract, operation 3). */

import type { Ids } from '#kernel/ports.ts'
import { nameOf } from '#kernel/resource-id.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { defineReconciled } from '#plane/declare/reconciled.ts'
import type { LentIdentities, ShareAccounts } from '../../dependencies.ts'
import { groupType } from '../../domain/groups/group-index.ts'
import { refuseContainer } from '../../errors.ts'
import { outboundDependencies } from './actions/outbound-dependencies.ts'
import { restart, start, stop } from './actions/start-stop-restart.ts'
import { listGroups } from './list.ts'
import type { ContainerGroup } from './model.ts'
import { prepareGroup } from './prepare.ts'
import { type ReconcileDependencies, reconcileWith } from './reconcile.ts'
import { containerGroupRules } from './rules.ts'
import { sample } from './sample.ts'
import { v2025_09_01 } from './versions/2025-09-01.ts'
import { type Naming, showIdentity } from './versions/from-model.ts'

export interface ContainerGroupDependencies extends ReconcileDependencies {
  readonly tenantId: string
  readonly ids: Ids
  readonly identities: LentIdentities | undefined
  readonly shareAccounts: ShareAccounts | undefined
  readonly naming: Naming
}

export function containerGroups(deps: ContainerGroupDependencies): ResourceType {
  return defineReconciled<ContainerGroup>({
    type: groupType,
    description: 'Containers that are placed, started and stopped together.',
    scope: 'resource-group',
    tracked: { location: 'optional' },
    name: {
      // Facts 4.7 allows only lower case; names are compared without regard to case anyway (facts 9.2).
      pattern: /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$/,
      rule: '1 to 63 letters, digits and hyphens, no hyphen first or last',
    },
    versions: [v2025_09_01(deps)],
    // The published command line shows what a 202 leads to as if it were the group.
    protocol: { answers: { deleted: { isAwaited: true } } },
    secrets: 'in-every-body',
    prepare: (context, body) => prepareGroup(context, body, deps),
    rules: (context) => containerGroupRules(context, deps),
    unique: {
      key: (id, { domainKey }) =>
        domainKey === undefined
          ? `container-group|${id.key}`
          : `container-group-label|${domainKey}`,
      refuse: (id) => refuseContainer.DnsNameLabelNotAvailable({ name: nameOf(id) }),
    },
    busy: ({ id }) => refuseContainer.ContainerGroupTransitioning({ name: nameOf(id) }),
    list: { page: listGroups },
    summary: ({ identity, zones }) => ({
      ...(identity === undefined ? {} : { identity: showIdentity(identity) }),
      ...(zones === undefined ? {} : { zones }),
    }),
    reconcile: reconcileWith(deps),
    actions: {
      start: start(deps.secrets),
      stop,
      restart: restart(deps.secrets),
      outboundNetworkDependenciesEndpoints: outboundDependencies,
    },
    sample,
  })
}
