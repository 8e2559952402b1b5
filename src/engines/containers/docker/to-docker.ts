/**
 * Converts a group's spec into Docker's form: the bodies that create its sandbox and its parts, and the body of a
 * volume, which Podman accepts too. Pure. It expects a spec that passed `checkSpec`.
 */

import {
  type ContainerSpec,
  type GroupSpec,
  labelsOf,
  type MountSpec,
  type VolumeSpec,
} from '../engine.ts'
import type { Json } from '../json.ts'
import { withoutCapabilities } from '../privileges.ts'
import type { Call } from './client.ts'
import { accountsFolder, type OwnFile } from './host-side.ts'
import { accountsVolume, containerName, type Names, sandboxName, volumeName } from './names.ts'
import { pauseImage } from './pause-image.ts'

/** The folder of the sandbox where the volumes are mounted. */
export const volumesFolder = '/volumes'

/** Where the machine's memory ends, the kernel kills programs of callers before anything else, and they cannot change that. */
export const killedFirst = 1000

/** The call that creates a container. */
export type Creation = Pick<Call, 'query' | 'body'> & { readonly name: string }

/** What the creation of a part needs beside its group. */
export interface PartMaterial {
  /** Variables that override those of the spec. */
  readonly secrets: ReadonlyMap<string, string>
  /** The id of the image. */
  readonly image: string
  /** For Podman: the working folder that the image says. */
  readonly workingFolder: string
  /** Files of the sandbox that the part has. */
  readonly files: readonly OwnFile[]
  /** Whether the image has the folder of accounts. */
  readonly hasFolder: boolean
  /** For Podman: where its host has the seccomp profile of containers; undefined where the engine's own is used. */
  readonly profile?: string
}

/** What a container is made of that is never started. */
interface Unmade {
  readonly image: string
  /** For Podman: a folder of its host that is read out of it. */
  readonly engineFolder: string | undefined
}

/** How one product creates the containers of a group. */
export interface Dialect {
  /** The API that creates and inspects containers. */
  readonly api: 'docker' | 'libpod'
  /** Whether it takes a seccomp profile as text. */
  readonly seccompText: boolean
  /** `network` is one that the operator made; undefined: the engine's default one. */
  sandbox(names: Names, spec: GroupSpec, network: string | undefined): Creation
  part(names: Names, spec: GroupSpec, part: ContainerSpec, material: PartMaterial): Creation
  /**
   * A container of a part's image out of which files are read. It is never started. Its hash is of no spec, so that what an interrupted
   * attempt left counts as outdated.
   */
  unstarted(names: Names, part: ContainerSpec, of: Unmade): Creation
  /** The entry of an archive that changes the mode of a volume, and the folder of the sandbox where it is unpacked. */
  openVolume(volume: string): { readonly folder: string; readonly entry: string }
}

export const docker: Dialect = {
  api: 'docker',
  seccompText: true,
  sandbox: (names, spec, network) =>
    creation(sandboxName(names), sandboxBody(names, spec, network)),
  part: (names, spec, part, material) =>
    creation(containerName(names, part.name), partBody(names, spec, part, material)),
  unstarted: (names, part, { image }) =>
    creation(containerName(names, part.name), {
      Image: image,
      Entrypoint: ['/none'],
      Labels: unstartedLabels(names, part),
      HostConfig: { NetworkMode: 'none' },
    }),
  // Docker leaves the folder itself as it is.
  openVolume: (volume) => ({ folder: volumesFolder, entry: `${volume}/` }),
}

function creation(name: string, body: Json): Creation {
  return { name, query: { name }, body }
}

/** Undefined for a folder of the host, which needs no volume. */
export function volumeBody(names: Names, spec: GroupSpec, volume: VolumeSpec): Json {
  if (volume.kind === 'host') return undefined
  // Secrets stay in memory. There is no `size`: Podman reads it as a disk quota and refuses.
  const options = { type: 'tmpfs', device: 'tmpfs', o: 'mode=0755,nodev,nosuid,noexec' }
  return named(volumeName(names, volume.name), names, spec, volume.kind === 'files' ? options : {})
}

/** The volume of `accountsFolder`. */
export function accountsBody(names: Names, spec: GroupSpec): Json {
  return named(accountsVolume(names), names, spec, {})
}

function named(name: string, names: Names, spec: GroupSpec, options: Json): Json {
  const labels = labelsOf(names.installation, names.group, spec.hash)
  return { Name: name, Driver: 'local', DriverOpts: options, Labels: labels }
}

/** The volumes of a group by their names on the engine, and where the sandbox has them. */
export function sandboxVolumes(
  names: Names,
  spec: GroupSpec,
): readonly { readonly source: string; readonly path: string }[] {
  return [
    ...spec.volumes
      .filter((volume) => volume.kind !== 'host')
      .map(({ name }) => ({ source: volumeName(names, name), path: `${volumesFolder}/${name}` })),
    { source: accountsVolume(names), path: accountsFolder },
  ]
}

/**
 * The sandbox owns the network, the published ports and, while it runs, the mounts of all volumes: a tmpfs volume
 * exists as long as one running container uses it.
 */
function sandboxBody(names: Names, spec: GroupSpec, network: string | undefined): Json {
  const portBindings = Object.fromEntries(
    spec.ports.flatMap(({ port, protocol, publish }) =>
      publish === undefined
        ? []
        : [
            [
              `${port}/${protocol}`,
              [{ HostIp: publish.address, HostPort: publish.port ? String(publish.port) : '' }],
            ],
          ],
    ),
  )
  return {
    Image: pauseImage,
    Entrypoint: ['/pause'],
    ...(spec.hostname === undefined ? {} : { Hostname: spec.hostname }),
    Labels: labelsOf(names.installation, names.group, spec.hash),
    ExposedPorts: Object.fromEntries(Object.keys(portBindings).map((port) => [port, {}])),
    HostConfig: {
      ...(network === undefined ? {} : { NetworkMode: network }),
      PortBindings: portBindings,
      Mounts: sandboxVolumes(names, spec).map(({ source, path }) => ({
        Type: 'volume',
        Source: source,
        Target: path,
      })),
      ...(spec.dns === undefined
        ? {}
        : {
            Dns: spec.dns.servers,
            DnsSearch: spec.dns.searchDomains,
            DnsOptions: spec.dns.options,
          }),
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      RestartPolicy: { Name: 'no' },
    },
  }
}

function partBody(
  names: Names,
  spec: GroupSpec,
  part: ContainerSpec,
  { secrets, image, files }: PartMaterial,
): Json {
  const security = part.security ?? {}
  const command = part.command ?? []
  return {
    Image: image,
    ...(command.length === 0 ? {} : { Entrypoint: command, Cmd: [] }),
    Env: [...environmentOf(part, secrets)].map(([name, value]) => `${name}=${value}`),
    ...(security.user === undefined ? {} : { User: userOf(security.user, security.group) }),
    Labels: containerLabels(names, spec, part),
    // The engine would run an image's checks beside the container's limits.
    Healthcheck: { Test: ['NONE'] },
    HostConfig: {
      NetworkMode: `container:${sandboxName(names)}`,
      Mounts: [
        ...part.mounts.map((mount) => mountBody(names, spec, mount)),
        ...files.map(({ source, path }) => ({
          Type: 'bind',
          Source: source,
          Target: path,
          ReadOnly: true,
        })),
      ],
      // `restartsByItself` of the description says why.
      RestartPolicy: { Name: 'no' },
      ...(part.limits.cpu === undefined ? {} : { NanoCpus: Math.round(part.limits.cpu * 1e9) }),
      ...(part.limits.memoryBytes === undefined ? {} : { Memory: part.limits.memoryBytes }),
      ...(part.limits.processes === undefined ? {} : { PidsLimit: part.limits.processes }),
      OomScoreAdj: killedFirst,
      ...((part.gpu ?? 0) > 0
        ? { DeviceRequests: [{ Driver: '', Count: part.gpu, Capabilities: [['gpu']] }] }
        : {}),
      Privileged: security.privileged ?? false,
      CapAdd: security.addCapabilities ?? [],
      CapDrop: withoutCapabilities(part),
      SecurityOpt: [
        ...(security.allowPrivilegeEscalation === false ? ['no-new-privileges'] : []),
        ...(security.seccompProfile === undefined ? [] : [`seccomp=${security.seccompProfile}`]),
      ],
      // 4 MB of logs (facts 4.7), in two files, so that a rotation does not lose everything.
      LogConfig: { Type: 'json-file', Config: { 'max-size': '4m', 'max-file': '2' } },
    },
  }
}

/** Secrets override other variables. */
export function environmentOf(
  part: ContainerSpec,
  secrets: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const plain = part.environment.map(({ name, value }) => [name, value] as const)
  return new Map([...plain, ...secrets])
}

export function containerLabels(
  names: Names,
  spec: GroupSpec,
  part: ContainerSpec,
): Readonly<Record<string, string>> {
  return {
    ...labelsOf(names.installation, names.group, spec.hash, part.name),
    'armature.order': String(spec.parts.indexOf(part)),
  }
}

export function unstartedLabels(
  names: Names,
  part: ContainerSpec,
): Readonly<Record<string, string>> {
  return labelsOf(names.installation, names.group, 'unstarted', part.name)
}

function mountBody(names: Names, spec: GroupSpec, mount: MountSpec): Json {
  const volume = spec.volumes.find((each) => each.name === mount.volume)
  return volume?.kind === 'host'
    ? { Type: 'bind', Source: volume.folder, Target: mount.path, ReadOnly: isReadOnly(spec, mount) }
    : {
        Type: 'volume',
        Source: volumeName(names, mount.volume),
        Target: mount.path,
        ReadOnly: isReadOnly(spec, mount),
        VolumeOptions: { NoCopy: true },
      }
}

/** Files change by another spec, not by a running program. */
export function isReadOnly(spec: GroupSpec, mount: MountSpec): boolean {
  const volume = spec.volumes.find((each) => each.name === mount.volume)
  return mount.readOnly || volume?.kind === 'files'
}

export function userOf(user: number, group: number | undefined): string {
  return group === undefined ? String(user) : `${user}:${group}`
}
