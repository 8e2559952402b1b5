/**
 * Compares what an engine says it made with what was asked for: mounts, ports, user, capabilities, privilege,
 * namespaces, limits of memory and of processes. Pure. It is asked before anything of a caller runs, and stands behind the checks of texts: should
 * an engine read more out of a body than we wrote into it, the difference is seen here.
 */

import type { ContainerSpec, GroupSpec, MountSpec } from '../engine.ts'
import { at, booleanAt, entriesAt, type Json, listAt, numberAt, textAt } from '../json.ts'
import { isOrdinary, plainCapability, withoutCapabilities } from '../privileges.ts'
import { plainPath } from '../safe-text.ts'
import type { OwnFile } from './host-side.ts'
import { type Names, volumeName } from './names.ts'
import { isReadOnly, sandboxVolumes, userOf } from './to-docker.ts'

/** The expected values of an inspection. */
export interface Expected {
  readonly mounts: readonly ExpectedMount[]
  /** By `port/protocol`, the requested bindings. A host port that is left out is the engine's choice. */
  readonly ports: ReadonlyMap<string, { readonly address: string; readonly hostPort?: number }>
  /**
   * The names by which the joined network may be reported. Undefined: a network of its own, neither another
   * container's nor the host's.
   */
  readonly network?: readonly string[]
  /** The only network, if the operator chose one. */
  readonly networkName?: string
  /** Undefined: the image's user. */
  readonly user?: string
  readonly privileged: boolean
  readonly addCapabilities: readonly string[]
  readonly dropCapabilities: readonly string[]
  readonly noNewPrivileges: boolean
  readonly devices: boolean
  readonly limits: ContainerSpec['limits']
}

interface ExpectedMount {
  readonly type: 'volume' | 'bind'
  /** The name of a volume, or a folder of the host. */
  readonly source: string
  readonly path: string
  readonly readOnly: boolean
}

export function expectedSandbox(
  names: Names,
  spec: GroupSpec,
  network: string | undefined,
): Expected {
  return {
    ...(network === undefined ? {} : { networkName: network }),
    mounts: sandboxVolumes(names, spec).map((one) => ({ type: 'volume', readOnly: false, ...one })),
    ports: new Map(
      spec.ports.flatMap(({ port, protocol, publish }) =>
        publish === undefined
          ? []
          : [
              [
                `${port}/${protocol}`,
                {
                  address: publish.address,
                  ...(publish.port === undefined ? {} : { hostPort: publish.port }),
                },
              ] as const,
            ],
      ),
    ),
    privileged: false,
    addCapabilities: [],
    dropCapabilities: ['ALL'],
    noNewPrivileges: true,
    devices: false,
    limits: {},
  }
}

/**
 * `sandbox`: the names by which an engine may report the container whose network is joined. `files`: those of the sandbox that the
 * container has.
 */
export function expectedContainer(
  names: Names,
  spec: GroupSpec,
  part: ContainerSpec,
  { sandbox, files }: { readonly sandbox: readonly string[]; readonly files: readonly OwnFile[] },
): Expected {
  const { security = {} } = part
  return {
    mounts: [
      ...part.mounts.map((mount) => expectedMount(names, spec, mount)),
      ...files.map((file) => ({ type: 'bind', readOnly: true, ...file }) as const),
    ],
    ports: new Map(),
    network: sandbox.map((name) => `container:${name}`),
    ...(security.user === undefined ? {} : { user: userOf(security.user, security.group) }),
    privileged: security.privileged ?? false,
    addCapabilities: security.addCapabilities ?? [],
    dropCapabilities: withoutCapabilities(part),
    noNewPrivileges: security.allowPrivilegeEscalation === false,
    devices: (part.gpu ?? 0) > 0,
    limits: part.limits,
  }
}

function expectedMount(names: Names, spec: GroupSpec, mount: MountSpec): ExpectedMount {
  const volume = spec.volumes.find((each) => each.name === mount.volume)
  const rest = { path: plainPath(mount.path), readOnly: isReadOnly(spec, mount) }
  return volume?.kind === 'host'
    ? { type: 'bind', source: plainPath(volume.folder), ...rest }
    : { type: 'volume', source: volumeName(names, mount.volume), ...rest }
}

/**
 * Descriptions of the differences; empty when the container is as requested. `imageVolumes`: paths that the image
 * declares.
 */
export function differences(
  expected: Expected,
  container: Json,
  imageVolumes: ReadonlySet<string>,
): readonly string[] {
  return [
    ...mountDifferences(expected, container, imageVolumes),
    ...portDifferences(expected, container),
    ...powerDifferences(expected, container),
    ...namespaceDifferences(expected, container),
    ...limitDifferences(expected, container),
  ]
}

/** Mounted paths that were not requested. Those that an image declares have a volume without a name. */
export function unaskedPaths(expected: Expected, container: Json): readonly string[] {
  const asked = new Set(expected.mounts.map(({ path }) => path))
  return listAt(container, 'Mounts')
    .map((mount) => plainPath(textAt(mount, 'Destination')))
    .filter((path) => !asked.has(path))
}

function mountDifferences(
  expected: Expected,
  container: Json,
  imageVolumes: ReadonlySet<string>,
): readonly string[] {
  const actual = new Map(
    listAt(container, 'Mounts').map((mount) => [
      plainPath(textAt(mount, 'Destination')),
      {
        type: textAt(mount, 'Type'),
        source:
          textAt(mount, 'Type') === 'volume'
            ? textAt(mount, 'Name')
            : plainPath(textAt(mount, 'Source')),
        readOnly: !booleanAt(mount, 'RW'),
      },
    ]),
  )
  const missing: string[] = []
  const found: string[] = []
  for (const { type, source, path, readOnly } of expected.mounts) {
    const mount = actual.get(path)
    actual.delete(path)
    if (mount === undefined) missing.push(`nothing is mounted at ${path}`)
    else if (mount.type !== type || mount.source !== source) {
      found.push(`something else is mounted at ${path}`)
    } else if (mount.readOnly !== readOnly) {
      found.push(`${path} is ${readOnly ? 'writable' : 'not writable'}`)
    }
  }
  for (const [path, { type, source }] of actual) {
    const ofImage = type === 'volume' && /^[0-9a-f]{64}$/.test(source) && imageVolumes.has(path)
    if (!ofImage) found.push(`something is mounted at ${path}`)
  }
  return [...found, ...missing]
}

function portDifferences({ ports }: Expected, container: Json): readonly string[] {
  const actual = new Map(
    entriesAt(container, 'HostConfig', 'PortBindings').map(([key, bindings]) => [
      key,
      listAt(bindings),
    ]),
  )
  const found: string[] = []
  for (const [key, { address, hostPort }] of ports) {
    const bindings = actual.get(key) ?? []
    actual.delete(key)
    const isSame =
      bindings.length === 1 &&
      textAt(bindings[0], 'HostIp') === address &&
      (hostPort === undefined || textAt(bindings[0], 'HostPort') === String(hostPort))
    if (!isSame) found.push(`the port ${key} is published otherwise`)
  }
  for (const [key, bindings] of actual) {
    if (bindings.length > 0) found.push(`the port ${key} is published`)
  }
  return found
}

function powerDifferences(expected: Expected, container: Json): readonly string[] {
  const found: string[] = []
  const host = at(container, 'HostConfig')
  const user = textAt(container, 'Config', 'User')
  if (expected.user !== undefined && user !== expected.user) found.push(`the user is '${user}'`)
  if (booleanAt(host, 'Privileged') !== expected.privileged) {
    found.push(expected.privileged ? 'it is not privileged' : 'it is privileged')
  }
  if (expected.privileged) return found
  found.push(...capabilityDifferences(expected, container))
  const options = listAt(host, 'SecurityOpt').map(String)
  if (expected.noNewPrivileges && !options.some((one) => one.startsWith('no-new-privileges'))) {
    found.push('it may gain privileges')
  }
  if (options.some((one) => /unconfined|disable/.test(one))) {
    found.push('a protection of the engine is switched off')
  }
  if (!expected.devices && listAt(host, 'Devices').length > 0) found.push('it has devices')
  return found
}

/** An engine without the control groups for it takes a limit, tells nobody, and leaves it out. */
function limitDifferences({ limits }: Expected, container: Json): readonly string[] {
  const isKept = (asked: number | undefined, key: string): boolean => {
    const actual = numberAt(container, 'HostConfig', key)
    return asked === undefined || (actual > 0 && actual <= asked)
  }
  return [
    ...(isKept(limits.memoryBytes, 'Memory') ? [] : ['it has no limit of memory, or a larger one']),
    ...(isKept(limits.processes, 'PidsLimit')
      ? []
      : ['it has no limit of processes, or a larger one']),
  ]
}

function capabilityDifferences(expected: Expected, container: Json): readonly string[] {
  const asked = new Set(expected.addCapabilities.map(plainCapability))
  const dropped = new Set(expected.dropCapabilities.map(plainCapability))
  const keeps = (name: string): boolean =>
    asked.has(name) ||
    asked.has('ALL') ||
    (isOrdinary(name) && !dropped.has(name) && !dropped.has('ALL'))
  const bounding = at(container, 'BoundingCaps')
  if (bounding !== undefined) {
    // Podman's own API reports everything the container has.
    return listAt(bounding)
      .map((name) => plainCapability(String(name)))
      .filter((name) => !keeps(name))
      .map((name) => `it has the capability ${name}`)
  }
  const list = (key: string): readonly string[] =>
    listAt(container, 'HostConfig', key).map((name) => plainCapability(String(name)))
  return [
    ...list('CapAdd')
      .filter((name) => !asked.has(name) && !asked.has('ALL'))
      .map((name) => `it has the capability ${name}`),
    ...[...dropped]
      .filter((name) => !list('CapDrop').includes(name))
      .map((name) => `it keeps the capability ${name}`),
  ]
}

function namespaceDifferences(
  { network, networkName }: Expected,
  container: Json,
): readonly string[] {
  const found: string[] = []
  const mode = (key: string): string => textAt(container, 'HostConfig', key)
  for (const [key, name] of [
    ['PidMode', 'processes'],
    ['IpcMode', 'shared memory'],
    ['UTSMode', 'host name'],
    ['UsernsMode', 'users'],
  ] as const) {
    if (/^(?:host|container:.*|ns:.*)$/.test(mode(key))) {
      found.push(`it shares the ${name} of ${mode(key)}`)
    }
  }
  // Podman sets a container up for systemd by the name of its command, unless it is told not to.
  if (booleanAt(container, 'Config', 'SystemdMode')) {
    found.push('it may write to the control groups of the host')
  }
  const actual = mode('NetworkMode')
  const isSame =
    network === undefined ? !/^(?:host|container:.*|ns:.*)$/.test(actual) : network.includes(actual)
  if (!isSame) found.push(`its network is '${actual}'`)
  const joined = entriesAt(container, 'NetworkSettings', 'Networks').map(([name]) => name)
  if (networkName !== undefined && (joined.length !== 1 || joined[0] !== networkName)) {
    found.push(`it is on the networks '${joined.join(', ')}'`)
  }
  return found
}
