/**
 * Turns a group's spec into what Podman's own API takes, where every value has a type. Podman's other API, the
 * Docker-compatible one, writes mounts and commands as text and reads that again: it creates no container here.
 * Pure; it expects a spec that `checkSpec` let pass.
 */

import { type ContainerSpec, type GroupSpec, labelsOf, type MountSpec } from '../engine.ts'
import type { Json } from '../json.ts'
import { withoutCapabilities } from '../privileges.ts'
import { accountsParent } from './file-look.ts'
import { containerName, type Names, sandboxName, volumeName } from './names.ts'
import { pauseImage } from './pause-image.ts'
import { engineMount } from './seccomp.ts'
import {
  type Creation,
  containerLabels,
  type Dialect,
  environmentOf,
  isReadOnly,
  killedFirst,
  type PartMaterial,
  sandboxVolumes,
  unstartedLabels,
  userOf,
  volumesFolder,
} from './to-docker.ts'

export const podman: Dialect = {
  api: 'libpod',
  seccompText: false,
  sandbox: (names, spec, network) =>
    creation(sandboxName(names), sandboxBody(names, spec, network)),
  part: (names, spec, part, material) =>
    creation(containerName(names, part.name), partBody(names, spec, part, material)),
  unstarted: (names, part, { image, engineFolder }) =>
    creation(containerName(names, part.name), {
      image,
      entrypoint: ['/none'],
      // To read out of it, Podman looks up the user of a container, whom its accounts may not have.
      user: '0:0',
      labels: { ...unstartedLabels(names, part), ...ownLabels },
      ...ownWays,
      netns: { nsmode: 'none' },
      ...(engineFolder === undefined ? {} : { mounts: [readOnlyBind(engineFolder, engineMount)] }),
      restart_policy: 'no',
    }),
  // Podman unpacks below a folder that is a volume, and does not see volumes below a folder.
  openVolume: (volume) => ({ folder: `${volumesFolder}/${volume}`, entry: './' }),
}

function creation(name: string, body: Readonly<Record<string, Json>>): Creation {
  return { name, body: { name, ...body } }
}

function sandboxBody(
  names: Names,
  spec: GroupSpec,
  network: string | undefined,
): Readonly<Record<string, Json>> {
  return {
    image: pauseImage,
    entrypoint: ['/pause'],
    ...hostnameBody(spec),
    labels: labelsOf(names.installation, names.group, spec.hash),
    portmappings: spec.ports.flatMap(({ port, protocol, publish }) =>
      publish === undefined
        ? []
        : [
            {
              container_port: port,
              protocol,
              host_ip: publish.address,
              ...(publish.port === undefined ? {} : { host_port: publish.port }),
            },
          ],
    ),
    volumes: sandboxVolumes(names, spec).map(({ source, path }) => ({ Name: source, Dest: path })),
    ...(spec.dns === undefined
      ? {}
      : {
          dns_server: spec.dns.servers,
          dns_search: spec.dns.searchDomains,
          dns_option: spec.dns.options,
        }),
    ...(network === undefined ? {} : { netns: { nsmode: 'bridge' }, Networks: { [network]: {} } }),
    read_only_filesystem: true,
    cap_drop: ['ALL'],
    no_new_privileges: true,
    restart_policy: 'no',
  }
}

/**
 * What Podman else does by what a command, an image or its own environment says: it gives a command named `init` the host's
 * control groups to write to, makes a volume without a name for each path that an image declares, runs an image's
 * checks beside the container's limits, and lets containers write to files that it keeps in memory of the host and reads.
 */
const ownWays = {
  systemd: 'false',
  image_volume_mode: 'ignore',
  healthconfig: { Test: ['NONE'] },
  env_host: false,
  httpproxy: false,
  use_image_hosts: true,
  use_image_resolve_conf: true,
}

/** Labels of an image hold where the container has none: this one lets a timer of the host restart units of it. */
const ownLabels = { 'io.containers.autoupdate': 'disabled' }

const memoryFolder = ['rw', 'mode=0755', 'nosuid', 'nodev']
const logBytesMax = 4 * 1024 * 1024
const cpuPeriod = 100_000

function partBody(
  names: Names,
  spec: GroupSpec,
  part: ContainerSpec,
  { secrets, image, workingFolder, files, hasFolder, profile }: PartMaterial,
): Readonly<Record<string, Json>> {
  const security = part.security ?? {}
  const command = part.command ?? []
  const { cpu, memoryBytes, processes } = part.limits
  const isHost = (mount: MountSpec) => folderOf(spec, mount) !== undefined
  return {
    image,
    ...(command.length === 0 ? {} : { entrypoint: command, command: [] }),
    ...hostnameBody(spec),
    env: Object.fromEntries(environmentOf(part, secrets)),
    ...(security.user === undefined ? {} : { user: userOf(security.user, security.group) }),
    labels: { ...containerLabels(names, spec, part), ...ownLabels },
    ...ownWays,
    netns: { nsmode: 'container', value: sandboxName(names) },
    volumes: part.mounts
      .filter((mount) => !isHost(mount))
      .map((mount) => ({
        Name: volumeName(names, mount.volume),
        Dest: mount.path,
        Options: [...accessOf(spec, mount), 'nocopy'],
      })),
    mounts: [
      ...part.mounts.filter(isHost).map((mount) => ({
        type: 'bind',
        source: folderOf(spec, mount),
        destination: mount.path,
        options: [...accessOf(spec, mount), 'rbind'],
      })),
      // A program may move a folder that is not of its image, with what is mounted in it, but no place of a mount.
      ...(hasFolder ? [] : [{ type: 'tmpfs', destination: accountsParent, options: memoryFolder }]),
      ...files.map(({ source, path }) => readOnlyBind(source, path)),
    ],
    work_dir: workingFolder,
    // `restartsByItself` of the description says why.
    restart_policy: 'no',
    resource_limits: {
      ...(cpu === undefined
        ? {}
        : { cpu: { quota: Math.max(1000, Math.round(cpu * cpuPeriod)), period: cpuPeriod } }),
      ...(memoryBytes === undefined ? {} : { memory: { limit: memoryBytes } }),
      ...(processes === undefined ? {} : { pids: { limit: processes } }),
    },
    oom_score_adj: killedFirst,
    ...((part.gpu ?? 0) > 0 ? { devices: gpus(part.gpu ?? 0) } : {}),
    // Podman gives a privileged container none, unless it is told one.
    ...(profile === undefined || security.privileged === true
      ? {}
      : { seccomp_profile_path: profile }),
    privileged: security.privileged ?? false,
    cap_add: security.addCapabilities ?? [],
    cap_drop: withoutCapabilities(part),
    no_new_privileges: security.allowPrivilegeEscalation === false,
    // 4 MB of logs (facts 4.7).
    log_configuration: { driver: 'k8s-file', size: logBytesMax },
  }
}

/** A container that joins a network may have its own host name; it gets the sandbox's. */
function hostnameBody({ hostname }: GroupSpec): Readonly<Record<string, string>> {
  return hostname === undefined ? {} : { hostname }
}

function readOnlyBind(source: string, destination: string): Json {
  return { type: 'bind', source, destination, options: ['ro', 'bind'] }
}

function folderOf(spec: GroupSpec, mount: MountSpec): string | undefined {
  const volume = spec.volumes.find((each) => each.name === mount.volume)
  return volume?.kind === 'host' ? volume.folder : undefined
}

function accessOf(spec: GroupSpec, mount: MountSpec): readonly string[] {
  return [isReadOnly(spec, mount) ? 'ro' : 'rw']
}

/** Names GPUs by the container device interface, as Podman documents it. */
function gpus(count: number): Json {
  return Array.from({ length: count }, (_, at) => ({ path: `nvidia.com/gpu=${at}` }))
}
