/**
 * Says a group's spec in the words of a Docker API: the bodies that create its sandbox, its parts and its
 * volumes. Pure; it refuses what such an engine cannot do, before anything is made.
 */

import {
  EngineError,
  type GroupContents,
  type GroupSpec,
  labelsOf,
  type PartSpec,
  type VolumeSpec,
} from '../engine.ts'
import type { Json } from '../json.ts'
import { machinePowerOf } from '../machine-powers.ts'
import { checkTexts } from '../safe-text.ts'
import { checkToken, type Names, sandboxName, volumeName } from './names.ts'
import { pauseImage } from './pause-image.ts'

/** Where the sandbox holds the volumes it fills and keeps alive. */
export const volumesFolder = '/volumes'

/** What the operator opened, beyond what every installation may. */
export interface DockerPowers {
  /** Parts may be privileged. */
  readonly allowPrivileged: boolean
  /** The engine has GPUs and the runtime for them. */
  readonly gpu: boolean
  /** Takes a seccomp profile as text (Docker); Podman wants a file on its host. */
  readonly seccompText: boolean
  /** A container that joins a network may have a host name (Podman); in Docker it shares the sandbox's. */
  readonly joinerHostname: boolean
}

export function checkSpec(spec: GroupSpec, contents: GroupContents, powers: DockerPowers): void {
  checkTexts(spec)
  const volumes = new Set(spec.volumes.map((volume) => volume.name))
  if (!/^[a-z0-9]{1,64}$/.test(spec.hash)) refused('the hash of the spec is malformed')
  if (volumes.size !== spec.volumes.length) refused('two volumes have one name')
  if (new Set(spec.parts.map((part) => part.name)).size !== spec.parts.length) {
    refused('two containers have one name')
  }
  for (const volume of spec.volumes) checkVolume(volume, contents)
  for (const part of spec.parts) {
    checkToken(part.name)
    for (const mount of part.mounts) {
      if (!volumes.has(mount.volume)) refused(`there is no volume '${mount.volume}'`)
    }
    const power = machinePowerOf(part)
    if (power !== undefined && !powers.allowPrivileged) {
      refused(`'${part.name}' asks ${power}, which the operator has not allowed`)
    }
    if (part.security?.seccompProfile !== undefined && !powers.seccompText) {
      refused(
        `'${part.name}' brings a seccomp profile, which this engine takes from its own host only`,
      )
    }
    if ((part.gpu ?? 0) > 0 && !powers.gpu) {
      refused(`'${part.name}' asks for ${part.gpu} GPUs, and this engine has none`)
    }
  }
}

function checkVolume(volume: VolumeSpec, contents: GroupContents): void {
  checkToken(volume.name)
  if (volume.kind === 'archive' && !contents.archives?.has(volume.name)) {
    refused(`volume '${volume.name}' came without its archive`)
  }
  if (volume.kind !== 'files') return
  const files = contents.files?.get(volume.name)
  if (files === undefined) refused(`volume '${volume.name}' came without its files`)
  for (const file of files ?? []) {
    if (!/^[^/\0]{1,99}$/.test(file.name) || file.name === '.' || file.name === '..') {
      refused(`a file of volume '${volume.name}' has a name that cannot be written`)
    }
  }
}

function refused(message: string): void {
  throw new EngineError('refused', message)
}

/** Undefined for a folder of the host, which needs no volume. */
export function volumeBody(names: Names, spec: GroupSpec, volume: VolumeSpec): Json {
  if (volume.kind === 'host') return undefined
  // Secrets stay in memory. No `size`: Podman takes it for a disk quota and refuses.
  const options = { type: 'tmpfs', device: 'tmpfs', o: 'mode=0755,nodev,nosuid,noexec' }
  return {
    Name: volumeName(names, volume.name),
    Driver: 'local',
    DriverOpts: volume.kind === 'files' ? options : {},
    Labels: labelsOf(names.installation, names.group, spec.hash),
  }
}

/**
 * The sandbox owns the network, the published ports and, while it runs, the mounts of all volumes: a tmpfs
 * volume lives as long as one running container has it.
 */
export function sandboxBody(names: Names, spec: GroupSpec): Json {
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
      PortBindings: portBindings,
      Mounts: spec.volumes
        .filter((volume) => volume.kind !== 'host')
        .map((volume) => ({
          Type: 'volume',
          Source: volumeName(names, volume.name),
          Target: `${volumesFolder}/${volume.name}`,
        })),
      ...(spec.dns === undefined
        ? {}
        : {
            Dns: spec.dns.servers,
            DnsSearch: spec.dns.searchDomains,
            DnsOptions: spec.dns.options,
          }),
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      RestartPolicy: { Name: 'no' },
    },
  }
}

export function partBody(
  names: Names,
  spec: GroupSpec,
  part: PartSpec,
  order: number,
  secrets: ReadonlyMap<string, string>,
  powers: DockerPowers,
): Json {
  const environment = new Map(part.environment.map(({ name, value }) => [name, value]))
  for (const [name, value] of secrets) environment.set(name, value)
  const security = part.security ?? {}
  const command = part.command ?? []
  return {
    Image: part.image,
    ...(spec.hostname !== undefined && powers.joinerHostname ? { Hostname: spec.hostname } : {}),
    ...(command.length === 0 ? {} : { Entrypoint: command, Cmd: [] }),
    Env: [...environment].map(([name, value]) => `${name}=${value}`),
    ...(security.user === undefined ? {} : { User: userOf(security.user, security.group) }),
    Labels: {
      ...labelsOf(names.installation, names.group, spec.hash, part.name),
      'armature.order': String(order),
    },
    HostConfig: {
      NetworkMode: `container:${sandboxName(names)}`,
      Mounts: part.mounts.map((mount) => mountBody(names, spec, mount)),
      RestartPolicy: { Name: policyOf(spec, part) },
      ...(part.limits.cpu === undefined ? {} : { NanoCpus: Math.round(part.limits.cpu * 1e9) }),
      ...(part.limits.memoryBytes === undefined ? {} : { Memory: part.limits.memoryBytes }),
      ...(part.limits.processes === undefined ? {} : { PidsLimit: part.limits.processes }),
      ...((part.gpu ?? 0) > 0
        ? { DeviceRequests: [{ Driver: '', Count: part.gpu, Capabilities: [['gpu']] }] }
        : {}),
      Privileged: security.privileged ?? false,
      CapAdd: security.addCapabilities ?? [],
      CapDrop: security.dropCapabilities ?? [],
      SecurityOpt: [
        ...(security.allowPrivilegeEscalation === false ? ['no-new-privileges'] : []),
        ...(security.seccompProfile === undefined ? [] : [`seccomp=${security.seccompProfile}`]),
      ],
      // Facts 4.7: 4 MB of logs. Two files, so that a rotation does not lose everything.
      LogConfig: { Type: 'json-file', Config: { 'max-size': '4m', 'max-file': '2' } },
    },
  }
}

function mountBody(names: Names, spec: GroupSpec, mount: PartSpec['mounts'][number]): Json {
  const volume = spec.volumes.find((each) => each.name === mount.volume)
  return volume?.kind === 'host'
    ? { Type: 'bind', Source: volume.folder, Target: mount.path, ReadOnly: mount.readOnly }
    : {
        Type: 'volume',
        Source: volumeName(names, mount.volume),
        Target: mount.path,
        // Files are the caller's to change, by another spec.
        ReadOnly: mount.readOnly || volume?.kind === 'files',
        VolumeOptions: { NoCopy: true },
      }
}

function userOf(user: number, group: number | undefined): string {
  return group === undefined ? String(user) : `${user}:${group}`
}

function policyOf(spec: GroupSpec, part: PartSpec): string {
  if (spec.restart === 'never') return 'no'
  return part.init ? 'on-failure' : spec.restart
}
