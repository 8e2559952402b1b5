/** The answer for a group: its model and its observation. It never contains a secret, and cannot fail. */

import type { View } from '#plane/declare/wire.ts'
import { showEvent } from '../../../domain/groups/events.ts'
import { groupStateOf } from '../../../domain/groups/group-state.ts'
import type { ContainerRecord, Observed } from '../../../domain/groups/observation.ts'
import { withoutCredentials } from '../../../domain/sealed-secrets.ts'
import { type ContainerGroup, provisioningSeconds } from '../model.ts'
import type { GroupProperties, Volume } from './shapes.ts'

/** How the installation's addresses are named. */
export interface Naming {
  /** Shown for `Public` groups that are published on every address of the host. */
  readonly publicAddress: string
  /** The end of a name: `web.here.{suffix}`, after label and location. */
  readonly domainSuffix: string
}

/** Lists show groups without their instance view (facts 4.1). */
export interface ListedObserved extends Observed {
  readonly listed?: true
}

export function showGroup(
  model: ContainerGroup,
  view: Pick<View, 'state' | 'observed' | 'location'>,
  naming: Naming,
): Readonly<Record<string, unknown>> {
  // Only this type's reconciler and list write it.
  const observed = view.observed as ListedObserved | undefined
  const listed = observed?.listed === true
  const { properties, identity, zones } = model
  const { diagnostics, ipAddress, volumes } = properties
  return {
    ...(zones === undefined ? {} : { zones }),
    ...(identity === undefined ? {} : { identity: showIdentity(identity) }),
    properties: {
      ...properties,
      provisioningState: view.state,
      containers: properties.containers.map((one) => withView(one, observed, listed)),
      ...(properties.initContainers === undefined
        ? {}
        : {
            initContainers: properties.initContainers.map((one) => withView(one, observed, listed)),
          }),
      ...(volumes === undefined ? {} : { volumes: volumes.map(showVolume) }),
      ...(diagnostics === undefined ? {} : { diagnostics: showDiagnostics(diagnostics) }),
      ...(ipAddress === undefined
        ? {}
        : { ipAddress: { ...ipAddress, ...addressOf(model, view.location, observed, naming) } }),
      isCreatedFromStandbyPool: false,
      provisioningTimeoutInSeconds: provisioningSeconds,
      isCustomProvisioningTimeout: false,
      ...(listed
        ? {}
        : {
            instanceView: {
              events: (observed?.events ?? []).map(showEvent),
              state: stateOf(model, view.state, observed),
            },
          }),
    },
  }
}

/** A container that could not be created will not come. */
function stateOf(model: ContainerGroup, state: string, observed: Observed | undefined): string {
  const seen = groupStateOf(model, observed)
  return state === 'Failed' && seen === 'Pending' ? 'Failed' : seen
}

export function showIdentity(identity: NonNullable<ContainerGroup['identity']>): object {
  const { type, tenantId, principalId, userAssigned } = identity
  return {
    type,
    tenantId,
    ...(principalId === undefined ? {} : { principalId }),
    ...(Object.keys(userAssigned).length === 0 ? {} : { userAssignedIdentities: userAssigned }),
  }
}

/** Groups of earlier versions keep the credentials of a repository in its address. */
function showVolume(volume: Volume): Volume {
  const { gitRepo } = volume
  if (gitRepo === undefined) return volume
  return { ...volume, gitRepo: { ...gitRepo, repository: withoutCredentials(gitRepo.repository) } }
}

/** The contract: responses return only the workspace's id. */
function showDiagnostics({ logAnalytics }: NonNullable<GroupProperties['diagnostics']>): object {
  return logAnalytics === undefined
    ? {}
    : { logAnalytics: { workspaceId: logAnalytics.workspaceId } }
}

function addressOf(
  { domain, properties }: ContainerGroup,
  location: string | undefined,
  observed: Observed | undefined,
  naming: Naming,
): object {
  const isPublic = properties.ipAddress?.type === 'Public'
  const published = observed?.seen.published[0]?.address
  const anywhere = published === '0.0.0.0' || published === '::' || published === ''
  const up = observed?.seen.sandbox === 'up'
  const ip = isPublic
    ? anywhere
      ? naming.publicAddress
      : published
    : up
      ? observed?.seen.address
      : undefined
  const place = (location ?? '').replace(/\s/g, '').toLowerCase()
  return {
    ...(ip === undefined ? {} : { ip }),
    ...(domain === undefined ? {} : { fqdn: `${domain}.${place}.${naming.domainSuffix}` }),
  }
}

function withView(
  container: { readonly name: string; readonly properties?: object },
  observed: Observed | undefined,
  listed: boolean,
): object {
  const part =
    observed !== undefined && Object.hasOwn(observed.parts, container.name)
      ? observed.parts[container.name]
      : undefined
  return {
    ...container,
    properties: {
      ...container.properties,
      ...(listed || part === undefined ? {} : { instanceView: showContainer(part) }),
    },
  }
}

function showContainer(part: ContainerRecord): object {
  return {
    restartCount: part.restartCount,
    currentState: showState(part.state),
    ...(part.previous === undefined ? {} : { previousState: showPrevious(part.previous) }),
    events: part.events.map(showEvent),
  }
}

function showState(state: ContainerRecord['state']): object {
  switch (state.kind) {
    case 'absent':
      return { state: 'Waiting', detailStatus: '' }
    case 'created':
      return { state: 'Waiting', detailStatus: 'Created' }
    case 'waiting':
      return { state: 'Waiting', detailStatus: state.reason }
    case 'running':
      return { state: 'Running', startTime: time(state.startedAt), detailStatus: '' }
    case 'terminated':
      return {
        state: 'Terminated',
        startTime: time(state.startedAt),
        exitCode: state.exitCode,
        finishTime: time(state.finishedAt),
        detailStatus: state.reason,
      }
    default:
      return state satisfies never
  }
}

function showPrevious({
  startedAt,
  finishedAt,
  exitCode,
}: NonNullable<ContainerRecord['previous']>): object {
  return {
    state: 'Terminated',
    ...(startedAt === undefined ? {} : { startTime: time(startedAt) }),
    ...(exitCode === undefined ? {} : { exitCode }),
    finishTime: time(finishedAt),
    detailStatus: exitCode === undefined ? '' : exitCode === 0 ? 'Completed' : 'Error',
  }
}

function time(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}
