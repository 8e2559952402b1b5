/** The namespace `ContainerInstance`: container groups on a container engine, and profiles of such groups. */

import { startRounds } from '#kernel/rounds.ts'
import type { Provider } from '#plane/declare/provider.ts'
import type { ContainerInstanceDependencies } from './dependencies.ts'
import { CommandPace } from './domain/groups/command-pace.ts'
import { defaultContainerLimits } from './domain/limits.ts'
import { sweepOrphans } from './domain/sweep-orphans.ts'
import { containerErrors } from './errors.ts'
import { publishedVersions } from './published-versions.ts'
import { profileRevisions } from './resources/container-group-profile-revisions/resource.ts'
import { containerGroupProfiles } from './resources/container-group-profiles/resource.ts'
import { containerGroups } from './resources/container-groups/resource.ts'
import { containers } from './resources/containers/resource.ts'
import { locationLists } from './resources/locations/resource.ts'

const hourMilliseconds = 3_600_000

export function containerInstanceProvider(deps: ContainerInstanceDependencies): Provider {
  const { engine, seal } = deps
  const limits = { ...defaultContainerLimits, ...deps.limits }
  const pace = new CommandPace(engine)
  const naming = {
    publicAddress: deps.publicAddress ?? '127.0.0.1',
    domainSuffix: deps.domainSuffix ?? 'containers.local',
  }
  return {
    forget: () => sweepOrphans(deps),
    start() {
      const sweeping = startRounds(deps.timers, 0, async () => {
        await sweepOrphans(deps)
        return hourMilliseconds
      })
      const measuring = deps.metrics?.start()
      return {
        async [Symbol.asyncDispose]() {
          await measuring?.[Symbol.asyncDispose]()
          await sweeping[Symbol.asyncDispose]()
        },
      }
    },
    namespace: 'ContainerInstance',
    serviceNames: ['Container Instances'],
    compatibleVersions: publishedVersions,
    description: 'Groups of containers that share a network, volumes and a life.',
    errors: containerErrors.entries,
    types: [
      containerGroups({
        engine,
        seal,
        limits,
        naming,
        reader: deps.reader,
        clock: deps.clock,
        ids: deps.ids,
        timers: deps.timers,
        pace,
        log: deps.log,
        tenantId: deps.tenantId,
        hostAddress: deps.hostAddress ?? '127.0.0.1',
        keptPorts: deps.keptPorts ?? [],
        shareRoot: deps.shareRoot,
        cpusMax: deps.cpusMax,
        secrets: deps.secrets,
        repositories: deps.repositories,
        meter: deps.meter,
        workloads: deps.workloads,
        identities: deps.identities,
        shareAccounts: deps.shareAccounts,
        allowedRegistries: deps.allowedRegistries ?? [],
      }),
      containers({ engine, limits, streams: deps.streams, pace }),
      containerGroupProfiles({ seal, limits }),
      profileRevisions(),
      ...locationLists({ engine, limits }),
    ],
  }
}
