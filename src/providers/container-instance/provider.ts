/** The namespace `ContainerInstance`: groups of containers on a container engine, and profiles of such groups. */

import type { ContainerEngine } from '#engines/containers/engine.ts'
import type { Clock, Ids, Log, Seal } from '#kernel/ports.ts'
import type { WorkloadIdentities } from '#kernel/principal.ts'
import type { UsageMeter } from '#kernel/usage.ts'
import type { Provider, Reader } from '#plane/define.ts'
import type { Timers } from '#plane/reconciler.ts'
import { containerGroupProfiles } from './container-group-profiles/resource.ts'
import { containerGroups } from './container-groups/resource.ts'
import { containers } from './containers/resource.ts'
import { containerErrors } from './errors.ts'
import { type ContainerLimits, defaultContainerLimits } from './limits.ts'
import { locationLists } from './locations/resource.ts'
import { publishedVersions } from './published-versions.ts'
import type {
  LentIdentities,
  Repositories,
  SecretStore,
  ShareAccounts,
  Streams,
} from './services.ts'
import { sweepOrphans } from './sweep-orphans.ts'

export interface ContainerInstanceParts {
  readonly engine: ContainerEngine
  /** Of the plane: committed resources. */
  readonly reader: Reader
  readonly seal: Seal
  readonly clock: Clock
  readonly ids: Ids
  readonly timers: Timers
  readonly log: Log
  /** Shown as the tenant of identities. */
  readonly tenantId: string
  /** Where the ports of `Public` groups are published. Default: this machine alone. */
  readonly hostAddress?: string
  /** What `Public` groups show as their address where `hostAddress` is every address. */
  readonly publicAddress?: string
  /** Behind label and location in `fqdn`. Nothing here answers for such names. */
  readonly domainSuffix?: string
  /** The folder of file shares, on the engine's machine: `{subscription}/{group}/{account}/{share}`. */
  readonly shareRoot?: string
  /** Registries whose images groups may run, or folders of them; empty or left out: any. */
  readonly allowedRegistries?: readonly string[]
  /** Storage accounts; without it a share is of an account of that name in the group's own resource group. */
  readonly shareAccounts?: ShareAccounts
  /** Cores of the engine's machine; CPU limits above are set to it. */
  readonly cpusMax?: number
  /** Resolves secret references; without it groups that use any fail to be made. */
  readonly secrets?: SecretStore
  /** Clones git repositories; without it groups that mount any fail to be made. */
  readonly repositories?: Repositories
  /** Carries `exec` and `attach`; without it both are refused. */
  readonly streams?: Streams
  /** The directory: groups have identities of their own in it. */
  readonly workloads: WorkloadIdentities
  /** User-assigned identities; without it each is as one that is not there. */
  readonly identities?: LentIdentities
  /** Told what ran, from when to when; without it nothing is charged. */
  readonly meter?: UsageMeter
  readonly limits?: Partial<ContainerLimits>
}

export function containerInstanceProvider(parts: ContainerInstanceParts): Provider {
  const { engine, seal } = parts
  const limits = { ...defaultContainerLimits, ...parts.limits }
  const naming = {
    publicAddress: parts.publicAddress ?? '127.0.0.1',
    domainSuffix: parts.domainSuffix ?? 'containers.local',
  }
  return {
    start: () => hourly(parts.timers, () => sweepOrphans(parts)),
    namespace: 'ContainerInstance',
    alikeVersions: publishedVersions,
    description: 'Groups of containers that share a network, volumes and a life.',
    errors: containerErrors.entries,
    types: [
      containerGroups({
        engine,
        seal,
        limits,
        naming,
        reader: parts.reader,
        clock: parts.clock,
        ids: parts.ids,
        timers: parts.timers,
        log: parts.log,
        tenantId: parts.tenantId,
        hostAddress: parts.hostAddress ?? '127.0.0.1',
        shareRoot: parts.shareRoot,
        cpusMax: parts.cpusMax,
        secrets: parts.secrets,
        repositories: parts.repositories,
        meter: parts.meter,
        workloads: parts.workloads,
        identities: parts.identities,
        shareAccounts: parts.shareAccounts,
        allowedRegistries: parts.allowedRegistries ?? [],
      }),
      containers({ engine, limits, streams: parts.streams }),
      ...containerGroupProfiles({ seal, limits }),
      ...locationLists({ engine, limits }),
    ],
  }
}

const hourMilliseconds = 3_600_000

/** Now and every hour; disposing waits for the work under way. */
function hourly(timers: Timers, work: () => Promise<unknown>): AsyncDisposable {
  let underway: Promise<unknown> = Promise.resolve()
  let timer: { cancel(): void } | undefined
  const next = (): void => {
    underway = work()
    timer = timers.after(hourMilliseconds, next)
  }
  next()
  return {
    async [Symbol.asyncDispose]() {
      timer?.cancel()
      await underway
    },
  }
}
