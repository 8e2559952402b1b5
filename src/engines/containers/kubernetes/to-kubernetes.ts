/**
 * Turns a group's spec into what a cluster takes: a Pod, Secrets and a Service. Pure; it expects a spec that
 * `checkSpec` and `checkCluster` let pass.
 */

import type {
  ContainerSpec,
  GroupContents,
  GroupSpec,
  Probe,
  ProbeSchedule,
  VolumeFile,
  VolumeSpec,
} from '../engine.ts'
import type { Json } from '../json.ts'
import { metadataOf, type Names, secretName } from './names.ts'

export type ServiceType = 'LoadBalancer' | 'NodePort'

interface ClusterContext {
  /** Secrets of the namespace with credentials for registries, made by the operator. */
  readonly imagePullSecrets: readonly string[]
  readonly gpuResource: string | undefined
}

export function podBody(
  names: Names,
  spec: GroupSpec,
  contents: GroupContents,
  cluster: ClusterContext,
): Json {
  const metadata = metadataOf(names, spec.hash, names.name)
  const containers = (init: boolean) =>
    spec.parts
      .filter((part) => part.init === init)
      .map((part) => containerBody(names, spec, part, { contents, cluster }))
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...metadata,
      annotations: {
        ...metadata.annotations,
        'armature.parts': spec.parts.map((part) => part.name).join(','),
      },
    },
    spec: {
      restartPolicy: { always: 'Always', 'on-failure': 'OnFailure', never: 'Never' }[spec.restart],
      // Programs of a group have no need of the cluster's API.
      automountServiceAccountToken: false,
      // Most clusters have none by default.
      securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
      enableServiceLinks: false,
      ...(spec.hostname === undefined ? {} : { hostname: spec.hostname }),
      ...dnsBody(spec),
      ...pullSecretsBody(names, contents, cluster),
      initContainers: containers(true),
      containers: containers(false),
      volumes: spec.volumes.map((volume) => volumeBody(names, volume, contents)),
    },
  }
}

function pullSecretsBody(
  names: Names,
  { credentials = [] }: GroupContents,
  cluster: ClusterContext,
): Readonly<Record<string, Json>> {
  const own = credentials.length === 0 ? [] : [secretName(names, registries)]
  const all = [...own, ...cluster.imagePullSecrets]
  return all.length === 0 ? {} : { imagePullSecrets: all.map((name) => ({ name })) }
}

function dnsBody({ dns }: GroupSpec): Readonly<Record<string, Json>> {
  if (dns === undefined) return {}
  return {
    // A group without its own name servers uses the cluster's.
    dnsPolicy: dns.servers.length === 0 ? 'ClusterFirst' : 'None',
    dnsConfig: {
      nameservers: dns.servers,
      searches: dns.searchDomains,
      options: dns.options.map((option) => {
        const [name, ...value] = option.split(':')
        return value.length === 0 ? { name } : { name, value: value.join(':') }
      }),
    },
  }
}

function containerBody(
  names: Names,
  spec: GroupSpec,
  part: ContainerSpec,
  { contents, cluster }: { readonly contents: GroupContents; readonly cluster: ClusterContext },
): Json {
  const secrets = contents.environment?.get(part.name) ?? new Map<string, string>()
  const fileVolumes = new Set(
    spec.volumes.filter((volume) => volume.kind === 'files').map((volume) => volume.name),
  )
  const command = part.command ?? []
  const limits = limitsBody(part, cluster)
  const probe = (schedule: ProbeSchedule | undefined, name: string) =>
    schedule === undefined || part.init ? {} : { [name]: probeBody(schedule) }
  return {
    name: part.name,
    image: part.image,
    ...(command.length === 0 ? {} : { command: command.map(literal) }),
    env: [
      ...part.environment
        .filter(({ name }) => !secrets.has(name))
        .map(({ name, value }) => ({ name, value: literal(value) })),
      ...[...secrets.keys()].map((name) => ({
        name,
        valueFrom: { secretKeyRef: { name: names.name, key: variableKey(part.name, name) } },
      })),
    ],
    ...(Object.keys(limits).length === 0 ? {} : { resources: { limits } }),
    volumeMounts: part.mounts.map((mount) => ({
      name: mount.volume,
      mountPath: mount.path,
      readOnly: mount.readOnly || fileVolumes.has(mount.volume),
    })),
    ...probe(part.liveness, 'livenessProbe'),
    ...probe(part.readiness, 'readinessProbe'),
    ...securityBody(part),
  }
}

/** Kubernetes expands `$(NAME)` in commands and values; a doubled dollar is a dollar. */
function literal(text: string): string {
  return text.replaceAll('$', '$$$$')
}

function limitsBody(
  part: ContainerSpec,
  cluster: ClusterContext,
): Readonly<Record<string, string>> {
  const { cpu, memoryBytes } = part.limits
  return {
    ...(cpu === undefined ? {} : { cpu: `${Math.max(1, Math.round(cpu * 1000))}m` }),
    ...(memoryBytes === undefined ? {} : { memory: String(memoryBytes) }),
    ...((part.gpu ?? 0) > 0 && cluster.gpuResource !== undefined
      ? { [cluster.gpuResource]: String(part.gpu) }
      : {}),
  }
}

function probeBody(schedule: ProbeSchedule): Json {
  return {
    ...tryBody(schedule.probe),
    initialDelaySeconds: schedule.initialDelaySeconds,
    periodSeconds: schedule.periodSeconds,
    timeoutSeconds: schedule.timeoutSeconds,
    failureThreshold: schedule.failureThreshold,
    successThreshold: schedule.successThreshold,
  }
}

function tryBody(probe: Probe): Readonly<Record<string, Json>> {
  if (probe.kind === 'exec') return { exec: { command: probe.command.map(literal) } }
  return {
    httpGet: {
      scheme: probe.scheme.toUpperCase(),
      port: probe.port,
      path: probe.path,
      httpHeaders: probe.headers,
    },
  }
}

function securityBody({ security }: ContainerSpec): Readonly<Record<string, Json>> {
  if (security === undefined) return {}
  const { privileged, allowPrivilegeEscalation, addCapabilities, dropCapabilities } = security
  return {
    securityContext: {
      ...(privileged === undefined ? {} : { privileged }),
      ...(allowPrivilegeEscalation === undefined ? {} : { allowPrivilegeEscalation }),
      capabilities: { add: addCapabilities ?? [], drop: dropCapabilities ?? [] },
      ...(security.user === undefined ? {} : { runAsUser: security.user }),
      ...(security.group === undefined ? {} : { runAsGroup: security.group }),
    },
  }
}

function volumeBody(names: Names, volume: VolumeSpec, contents: GroupContents): Json {
  if (volume.kind === 'host') return { name: volume.name, hostPath: { path: volume.folder } }
  if (volume.kind !== 'files') return { name: volume.name, emptyDir: {} }
  return {
    name: volume.name,
    secret: {
      secretName: secretName(names, volume.name),
      items: filesOf(contents, volume.name).map((file, index) => ({
        key: fileKey(index),
        path: file.name,
        mode: volume.fileMode,
      })),
    },
  }
}

/** No volume has this name: volume names are tokens, without a dot. */
const registries = 'registry.credentials'

/**
 * One Secret for the secret variables, one for each volume of files, one for registries; none where it would be
 * empty.
 */
export function secretBodies(
  names: Names,
  spec: GroupSpec,
  contents: GroupContents,
): readonly { readonly name: string; readonly body: Json }[] {
  const variables = spec.parts.flatMap((part) =>
    [...(contents.environment?.get(part.name) ?? [])].map(
      ([name, value]) => [variableKey(part.name, name), Buffer.from(value)] as const,
    ),
  )
  const volumes = spec.volumes.filter((volume) => volume.kind === 'files')
  const secret = (name: string, entries: readonly (readonly [string, Uint8Array])[]) => ({
    name,
    body: {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'Opaque',
      metadata: metadataOf(names, spec.hash, name),
      data: Object.fromEntries(
        entries.map(([key, bytes]) => [key, Buffer.from(bytes).toString('base64')]),
      ),
    },
  })
  return [
    ...(variables.length === 0 ? [] : [secret(names.name, variables)]),
    ...volumes.map(({ name }) =>
      secret(
        secretName(names, name),
        filesOf(contents, name).map((file, index) => [fileKey(index), file.bytes] as const),
      ),
    ),
    ...registryBodies(names, spec, contents),
  ]
}

function registryBodies(
  names: Names,
  spec: GroupSpec,
  { credentials = [] }: GroupContents,
): readonly { readonly name: string; readonly body: Json }[] {
  if (credentials.length === 0) return []
  const name = secretName(names, registries)
  const auths = credentials.map(({ server, username, password }) => [
    server,
    { username, password, auth: Buffer.from(`${username}:${password}`).toString('base64') },
  ])
  const config = JSON.stringify({ auths: Object.fromEntries(auths) })
  return [
    {
      name,
      body: {
        apiVersion: 'v1',
        kind: 'Secret',
        type: 'kubernetes.io/dockerconfigjson',
        metadata: metadataOf(names, spec.hash, name),
        data: { '.dockerconfigjson': Buffer.from(config).toString('base64') },
      },
    },
  ]
}

function filesOf(contents: GroupContents, volume: string): readonly VolumeFile[] {
  return contents.files?.get(volume) ?? []
}

/** Keys allow fewer characters than file names, so the Pod maps them back. */
function fileKey(index: number): string {
  return `file-${index}`
}

/** No part's name contains an underscore, so these keys never collide. */
function variableKey(part: string, name: string): string {
  return `${part}_${name}`
}

const nodePortMin = 30_000
const nodePortMax = 32_767

/** Undefined when no port is published. */
export function serviceBody(names: Names, spec: GroupSpec, type: ServiceType): Json {
  const ports = spec.ports.flatMap(({ port, protocol, publish }) =>
    publish === undefined ? [] : [{ port, protocol, wanted: publish.port }],
  )
  if (ports.length === 0) return undefined
  const fixed = (wanted: number | undefined) =>
    type === 'NodePort' && wanted !== undefined && wanted >= nodePortMin && wanted <= nodePortMax
      ? { nodePort: wanted }
      : {}
  const metadata = metadataOf(names, spec.hash, names.name)
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: {
      type,
      selector: metadata.labels,
      ports: ports.map(({ port, protocol, wanted }) => ({
        name: `${protocol}-${port}`,
        protocol: protocol.toUpperCase(),
        port: type === 'LoadBalancer' ? (wanted ?? port) : port,
        targetPort: port,
        ...fixed(wanted),
      })),
    },
  }
}
