/**
 * Converts a group to the engine port's spec. Pure; secrets are only named here, and what this installation cannot
 * do is reported before anything is tried.
 */

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type {
  ContainerSpec,
  EngineDescription,
  GroupSpec,
  MountSpec,
  ProbeSchedule,
  SecuritySpec,
  VolumeSpec,
} from '#engines/containers/engine.ts'
import { parseResourceId, resourceGroupOf, subscriptionOf } from '#kernel/resource-id.ts'
import { type ContainerCode, refuseContainer } from '../../errors.ts'
import {
  allContainers,
  type ContainerGroup,
  hashOf,
} from '../../resources/container-groups/model.ts'
import type {
  ContainerProperties,
  ProbeShape,
  SecurityContext,
  Volume,
} from '../../resources/container-groups/versions/shapes.ts'
import type { Failure } from '../engine-failure.ts'
import { type AllowedRegistries, engineImage, isAllowedImage } from './image-policy.ts'

/** What the installation provides to groups. */
export interface GroupHostContext {
  /** The address of published `Public` ports. */
  readonly hostAddress: string
  /** Ports of it that no group gets: the engine chooses others, as where somebody has them. */
  readonly keptPorts: readonly number[]
  /** The folder of file shares, `{subscription}/{group}/{account}/{share}`; undefined: there are no shares. */
  readonly shareRoot: string | undefined
  /** The cores of the engine's machine: a larger limit is none, and some engines refuse it. */
  readonly cpusMax: number | undefined
  readonly processesPerContainerMax: number
  readonly resolvesSecrets: boolean
  readonly clonesRepositories: boolean
  readonly allowedRegistries: AllowedRegistries
}

const bytesPerGB = 1024 ** 3
/** A smaller value is rounded to 0 somewhere, and engines read 0 as no limit. */
const cpuMin = 0.01
const memoryBytesMin = 6 * 1024 ** 2

export function specOf(model: ContainerGroup, around: GroupHostContext): GroupSpec {
  const { properties } = model
  const { ipAddress, dnsConfig, volumes = [], restartPolicy } = properties
  const all = allContainers(model)
  const configMaps = all.filter(({ properties: { configMap } }) => keyValues(configMap).length > 0)
  const isPublic = ipAddress?.type === 'Public'
  return {
    hash: hashOf(model),
    hostname: hostnameOf(model.place),
    restart: restartOf(restartPolicy),
    parts: all.map(({ init, name, properties: one }) =>
      partOf(model, { name, init, one, configMap: configMapIndex(configMaps, name) }, around),
    ),
    volumes: [
      ...volumes.map((volume, at) => volumeOf(model, volume, at, around)),
      ...configMaps.map(
        (_, at): VolumeSpec => ({ kind: 'files', name: `c${at}`, fileMode: 0o444 }),
      ),
    ],
    ports: (ipAddress?.ports ?? []).map(({ port, protocol }) => ({
      port,
      protocol: protocol === 'UDP' ? 'udp' : 'tcp',
      ...(isPublic ? { publish: publishedAt(port, protocol, around) } : {}),
    })),
    ...(dnsConfig === undefined
      ? {}
      : {
          dns: {
            servers: dnsConfig.nameServers,
            searchDomains: splitWords(dnsConfig.searchDomains),
            options: splitWords(dnsConfig.options),
          },
        }),
  }
}

function publishedAt(
  port: number,
  protocol: string | undefined,
  { hostAddress: address, keptPorts }: Pick<GroupHostContext, 'hostAddress' | 'keptPorts'>,
): { readonly address: string; readonly port?: number } {
  return protocol !== 'UDP' && keptPorts.includes(port) ? { address } : { address, port }
}

/** The same group after some of its host ports were taken: the engine chooses others. */
export function withAnyHostPort(spec: GroupSpec): GroupSpec {
  return {
    ...spec,
    ports: spec.ports.map((port) =>
      port.publish === undefined ? port : { ...port, publish: { address: port.publish.address } },
    ),
  }
}

export function restartOf(policy: string | undefined): GroupSpec['restart'] {
  if (policy === 'Never') return 'never'
  return policy === 'OnFailure' ? 'on-failure' : 'always'
}

/** The last segment of the id in the form of a host name. */
function hostnameOf(place: string): string {
  return (place.split('/').at(-1) ?? '').slice(0, 63)
}

/** The words of a text that lists them, such as `dnsConfig`. */
export function splitWords(text: string | undefined): readonly string[] {
  return (text ?? '').split(/[\s,]+/).filter((word) => word !== '')
}

export function keyValues(
  configMap: ContainerProperties['configMap'],
): readonly (readonly [string, string])[] {
  return Object.entries(configMap?.keyValuePairs ?? {})
}

/** The folder where the key-value pairs of a container are mounted, each as a file. */
export function configMapPath(container: string): string {
  return `/mnt/configmap/${container}`
}

function configMapIndex(maps: readonly { readonly name: string }[], name: string): number {
  return maps.findIndex((one) => one.name === name)
}

function partOf(
  model: ContainerGroup,
  {
    name,
    init,
    one,
    configMap,
  }: {
    readonly name: string
    readonly init: boolean
    readonly one: ContainerProperties
    readonly configMap: number
  },
  around: GroupHostContext,
): ContainerSpec {
  const gpu = Math.max(
    one.resources?.requests?.gpu?.count ?? 0,
    one.resources?.limits?.gpu?.count ?? 0,
  )
  const liveness = scheduleOf(one.livenessProbe)
  const readiness = scheduleOf(one.readinessProbe)
  return {
    name,
    init,
    image: engineImage(one.image ?? '', around.allowedRegistries),
    ...(one.command === undefined ? {} : { command: one.command }),
    environment: (one.environmentVariables ?? []).map((each) => ({
      name: each.name,
      // Secret ones are overridden by the contents.
      value: each.value ?? '',
    })),
    mounts: mountsOf(model, name, one, configMap),
    limits: limitsOf(model, one, around),
    ...(gpu > 0 ? { gpu } : {}),
    ...(one.securityContext === undefined ? {} : { security: securityOf(one.securityContext) }),
    ...(liveness === undefined ? {} : { liveness }),
    ...(readiness === undefined ? {} : { readiness }),
  }
}

function mountsOf(
  { properties: { volumes = [] } }: ContainerGroup,
  container: string,
  one: ContainerProperties,
  configMap: number,
): readonly MountSpec[] {
  const mounts = (one.volumeMounts ?? []).map(({ name, mountPath, readOnly }): MountSpec => {
    const at = volumes.findIndex((volume) => volume.name === name)
    const shared = volumes[at]?.azureFile?.readOnly === true
    return { volume: `v${at}`, path: mountPath, readOnly: readOnly === true || shared }
  })
  return configMap < 0
    ? mounts
    : [...mounts, { volume: `c${configMap}`, path: configMapPath(container), readOnly: true }]
}

/** A container without a limit may use what the whole group requested (facts 4.7). */
function limitsOf(
  { properties: { containers } }: ContainerGroup,
  one: ContainerProperties,
  around: GroupHostContext,
): ContainerSpec['limits'] {
  const total = (amount: 'cpu' | 'memoryInGB'): number =>
    containers.reduce((sum, each) => sum + (each.properties?.resources?.requests?.[amount] ?? 0), 0)
  const cpu = one.resources?.limits?.cpu ?? total('cpu')
  const memoryInGB = one.resources?.limits?.memoryInGB ?? total('memoryInGB')
  return {
    cpu: Math.max(cpuMin, Math.min(cpu, around.cpusMax ?? cpu)),
    memoryBytes: Math.max(memoryBytesMin, Math.round(memoryInGB * bytesPerGB)),
    processes: around.processesPerContainerMax,
  }
}

function securityOf(security: SecurityContext): SecuritySpec {
  const { privileged, allowPrivilegeEscalation, capabilities, runAsUser, runAsGroup } = security
  const profile = security.seccompProfile
  return {
    ...(privileged === undefined ? {} : { privileged }),
    ...(allowPrivilegeEscalation === undefined ? {} : { allowPrivilegeEscalation }),
    ...(capabilities?.add === undefined ? {} : { addCapabilities: capabilities.add }),
    ...(capabilities?.drop === undefined ? {} : { dropCapabilities: capabilities.drop }),
    ...(runAsUser === undefined ? {} : { user: runAsUser }),
    ...(runAsGroup === undefined ? {} : { group: runAsGroup }),
    ...(profile === undefined ? {} : { seccompProfile: Buffer.from(profile, 'base64').toString() }),
  }
}

/** Missing values get the defaults of the probes that this shape comes from. */
export function scheduleOf(probe: ProbeShape | undefined): ProbeSchedule | undefined {
  if (probe === undefined) return undefined
  const { exec, httpGet } = probe
  if (exec === undefined && httpGet === undefined) return undefined
  return {
    probe:
      httpGet === undefined
        ? { kind: 'exec', command: exec?.command ?? [] }
        : {
            kind: 'http',
            scheme: httpGet.scheme?.toLowerCase() === 'https' ? 'https' : 'http',
            port: httpGet.port,
            path: httpGet.path ?? '/',
            headers: (httpGet.httpHeaders ?? []).map(({ name = '', value = '' }) => ({
              name,
              value,
            })),
          },
    initialDelaySeconds: probe.initialDelaySeconds ?? 0,
    periodSeconds: probe.periodSeconds ?? 10,
    timeoutSeconds: probe.timeoutSeconds ?? 1,
    failureThreshold: probe.failureThreshold ?? 3,
    successThreshold: probe.successThreshold ?? 1,
  }
}

function volumeOf(
  model: ContainerGroup,
  volume: Volume,
  at: number,
  around: GroupHostContext,
): VolumeSpec {
  const name = `v${at}`
  if (volume.azureFile !== undefined) {
    return { kind: 'host', name, folder: shareFolder(model, volume, around.shareRoot) }
  }
  if (volume.gitRepo !== undefined) return { kind: 'archive', name }
  if (volume.secret !== undefined || volume.secretReference !== undefined) {
    return { kind: 'files', name, fileMode: 0o444 }
  }
  return { kind: 'empty', name }
}

/**
 * The folder of a share: below the resource group of its account, so that accounts of the same name in two groups
 * have two shares.
 */
export function shareFolder(
  { place, shareOwners = {} }: Pick<ContainerGroup, 'place' | 'shareOwners'>,
  { name, azureFile }: Volume,
  shareRoot: string | undefined,
): string {
  const id = parseResourceId(Object.hasOwn(shareOwners, name) ? (shareOwners[name] ?? '') : place)
  const subscription = id === undefined ? undefined : subscriptionOf(id)
  const group = id === undefined ? undefined : resourceGroupOf(id)
  return join(
    shareRoot ?? '/',
    subscription ?? 'none',
    folderName(group ?? 'none'),
    azureFile?.storageAccountName.toLowerCase() ?? 'none',
    azureFile?.shareName.toLowerCase() ?? 'none',
  )
}

/** Names of resource groups allow characters that are unsuitable for folders. */
function folderName(group: string): string {
  const name = group.toLowerCase()
  return /^[a-z0-9_-][a-z0-9_.-]*$/.test(name)
    ? name
    : `~${createHash('sha256').update(name).digest('hex').slice(0, 40)}`
}

/** Why this group can never be created here, whatever the engine says; undefined when it can be tried. */
export function impossibleReason(
  model: ContainerGroup,
  around: GroupHostContext,
  engine: Pick<EngineDescription, 'runsPrograms' | 'hostFolders' | 'gpu'>,
): Failure | undefined {
  const { properties } = model
  const refuse = (code: ContainerCode, params: Record<string, string>): Failure => ({
    code,
    message: refuseContainer[code](params).message,
    retry: 'never',
  })
  if (model.missingProfile !== undefined) {
    return refuse('ContainerGroupProfileNotFound', { id: model.missingProfile })
  }
  const all = allContainers(model)
  const bare = all.find((one) => (one.properties.image ?? '') === '')
  if (bare !== undefined) return refuse('ImageNotSpecified', { name: bare.name })
  const foreign = all.find(
    (one) => !isAllowedImage(one.properties.image ?? '', around.allowedRegistries),
  )
  if (foreign !== undefined) {
    const { name, properties: own } = foreign
    const allowed = around.allowedRegistries.join(', ')
    return refuse('ImageNotAllowed', { image: own.image ?? '', name, allowed })
  }
  const osType = properties.osType ?? 'Linux'
  if (osType !== 'Linux' && engine.runsPrograms) return refuse('OsVersionNotSupported', { osType })
  const share = properties.volumes?.find((volume) => volume.azureFile !== undefined)?.azureFile
  const sharesFiles = around.shareRoot !== undefined && engine.hostFolders
  // A simulated group mounts nothing, and needs no folder for it.
  if (share !== undefined && !sharesFiles && engine.runsPrograms) {
    const reason = engine.hostFolders
      ? 'this installation has no folder for file shares'
      : 'this container engine mounts no folders of its host'
    return refuse('FileShareNotAvailable', { share: share.shareName, reason })
  }
  const repository = properties.volumes?.find((volume) => volume.gitRepo !== undefined)
  if (repository !== undefined && !around.clonesRepositories) {
    const reason = 'this installation clones no repositories'
    return refuse('GitRepositoryNotAvailable', { volume: repository.name, reason })
  }
  const reference = referenceNames(model)[0]
  if (reference !== undefined && !around.resolvesSecrets) {
    const reason = 'this installation has no secret store'
    return refuse('SecretNotAvailable', { name: reference, reason })
  }
  return undefined
}

/** The secret references that something in the group uses. */
function referenceNames({ properties }: ContainerGroup): readonly string[] {
  return [
    ...allContainers({ properties }).flatMap((one) =>
      (one.properties.environmentVariables ?? []).map((each) => each.secureValueReference),
    ),
    ...(properties.imageRegistryCredentials ?? []).map((one) => one.passwordReference),
    ...(properties.volumes ?? []).flatMap((volume) => [
      volume.azureFile?.storageAccountKeyReference,
      ...Object.values(volume.secretReference ?? {}),
    ]),
  ].filter((name) => name !== undefined)
}
