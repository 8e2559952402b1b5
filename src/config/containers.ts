/** Settings of the container engine, and of what a container group may use. */

import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { canonicalHost, isLoopback, plainAddress } from '#outbound/address.ts'
import { choice, flag, text, type Wrong } from './setting.ts'

const none = ''

/**
 * What containers publish when nothing is set: an address that only this machine reaches, and where the server is not. Other
 * systems have no second loopback address.
 */
const apart = process.platform === 'linux' ? '127.0.0.2' : '127.0.0.1'

const registryPattern = /^[A-Za-z0-9][A-Za-z0-9.-]*(?::\d{1,5})?(?:\/[a-z0-9][a-z0-9._-]*)*\/?$/

export interface ContainersConfig {
  readonly containers: 'auto' | 'docker' | 'kubernetes' | 'simulated'
  /** A kubeconfig as JSON. A server inside a cluster needs none. */
  readonly kubeconfig: string | undefined
  readonly kubernetesNamespace: string | undefined
  /** The only engine that is tried when given; otherwise the usual sockets are tried. */
  readonly dockerHost: string | undefined
  /** The folder of the user's own services and their sockets, from the system's own variable. */
  readonly runtimeFolder: string | undefined
  /** Whether groups may use privileged containers. */
  readonly containersPrivileged: boolean
  /** The engine's network that groups join; undefined: its default one. */
  readonly containersNetwork: string | undefined
  /** The address at which ports of `Public` groups are published. */
  readonly containersAddress: string
  /** The registries, or folders of them, whose images groups may run; empty: any. */
  readonly containersRegistries: readonly string[]
  /** The folder of file shares that groups may mount; an absolute path. */
  readonly containersShares: string | undefined
}

export const containersSettings = {
  containers: choice(['auto', 'docker', 'kubernetes', 'simulated'], {
    default: 'auto',
    description:
      'What runs container groups: a Docker Engine API (Docker, Podman), a Kubernetes cluster, or a simulation that says so. `auto` takes the first Docker Engine API that answers, else the simulation. Later starts keep that API, and wait for it while it is away; replicas keep the simulation, too.',
  }),
  dockerHost: text(
    'empty, `unix:///path` or `tcp://host:port`',
    (v) => v === none || /^(unix|tcp|http):\/\//.test(v),
    {
      default: none,
      description:
        'Where the Docker Engine API is. Empty is DOCKER_HOST if that is set, else the usual sockets.',
    },
  ),
  kubeconfig: text('empty, or a file', (v) => !v.includes('\0'), {
    default: none,
    description:
      'For `kubernetes`: a kubeconfig as JSON (`kubectl config view --raw --flatten -o json`). Empty is the service account of the pod this runs in.',
  }),
  kubernetesNamespace: text('empty, or a namespace', (v) => /^[a-z0-9-]{0,63}$/.test(v), {
    default: none,
    description:
      'For `kubernetes`: where pods are made. Empty is what the kubeconfig or the pod says.',
  }),
  containersPrivileged: flag({
    default: 'false',
    description: 'Let groups be privileged or choose a seccomp profile: they own the machine then.',
  }),
  containersRegistries: text(
    'empty, or registries separated by commas, each a host with a port or a folder if need be',
    (v) => v === none || v.split(',').every((one) => registryPattern.test(one.trim())),
    {
      default: none,
      description:
        'Registries whose images container groups may run, separated by commas: `registry.example:5000`, or a folder of one, `docker.io/library`. Empty is any image.',
    },
  ),
  containersNetwork: text(
    'empty, or the name of a network',
    (v) => v === none || /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/.test(v),
    {
      default: none,
      description:
        'A network of the Docker Engine API that container groups join in place of its usual one. Make it first; it decides what groups reach: each other, the outside, this machine. Empty is the engine’s usual one.',
    },
  ),
  containersAddress: text(
    'empty, or an IP address',
    (v) => v === none || (isIP(v) !== 0 && !v.includes('%')),
    {
      default: none,
      description:
        'The address of the engine’s machine at which `Public` groups publish their ports. Take one by which nobody reaches this server: a browser sends the cookies of its sign-in to every port of a host. Empty is `127.0.0.2` on Linux, `127.0.0.1` elsewhere: this machine only.',
    },
  ),
  containersShares: text('empty, or a folder', (v) => !v.includes('\0'), {
    default: none,
    description:
      'The folder of file shares on the engine’s machine: `{subscription}/{resource group}/{account}/{share}` below it, the group being the account’s. Empty is none: groups that mount a share fail.',
  }),
} as const

/** Variables of other programs that name an engine. */
export type ContainerVariables = Pick<ContainersConfig, 'dockerHost' | 'runtimeFolder'>

type Named = {
  readonly [K in keyof typeof containersSettings]: Exclude<
    ReturnType<(typeof containersSettings)[K]['parse']>,
    Wrong
  >
}

export function arrangeContainers(
  named: Named,
  directory: string,
  variables: ContainerVariables,
): ContainersConfig {
  return {
    containers: named.containers,
    kubeconfig: named.kubeconfig === none ? undefined : resolve(directory, named.kubeconfig),
    kubernetesNamespace: named.kubernetesNamespace === none ? undefined : named.kubernetesNamespace,
    dockerHost: named.dockerHost === none ? variables.dockerHost : named.dockerHost,
    runtimeFolder: variables.runtimeFolder,
    containersPrivileged: named.containersPrivileged,
    containersNetwork: named.containersNetwork === none ? undefined : named.containersNetwork,
    containersAddress: named.containersAddress === none ? apart : named.containersAddress,
    containersRegistries: named.containersRegistries
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== ''),
    containersShares:
      named.containersShares === none ? undefined : resolve(directory, named.containersShares),
  }
}

/** Where the server listens, by the settings. */
interface Listeners {
  readonly host: string
  readonly port: number
  readonly tls: unknown
  readonly tlsPort: number
  readonly metrics: 'public' | 'nowhere' | { readonly host: string; readonly port: number }
}

/**
 * Whether a browser that has signed in sends its cookies to what containers publish, too: cookies know no ports (RFC 6265,
 * 8.5). Over https they are sent to nobody without a certificate; but who opens the listener of http beside it signs in
 * without https.
 */
export function shareCookies({
  host,
  publicUrl,
  containersAddress,
}: Pick<ContainersConfig, 'containersAddress'> & {
  readonly host: string
  readonly publicUrl: string | undefined
}): boolean {
  const address = canonical(containersAddress)
  const url = publicUrl === undefined ? undefined : new URL(publicUrl)
  const named = url === undefined || url.protocol === 'https:' ? [] : [url.hostname]
  const hosts = [host, ...named].map(canonical)
  if (hosts.includes(address)) return true
  // Every address of the machine is the server's, or the containers'. Only the machine itself reaches loopback.
  if (isAny(address)) return true
  return hosts.some(isAny) && !isLoopback(address)
}

/**
 * The ports of the server that what containers publish would take where it listens. While it is started anew nobody has
 * them, and a container that took one would keep it from starting and be sent the tokens of its clients.
 */
export function ownPorts(
  config: Listeners & Pick<ContainersConfig, 'containersAddress'>,
): readonly number[] {
  const { host, port, tls, tlsPort, metrics, containersAddress } = config
  const listeners = [
    { host, port },
    ...(tls === undefined ? [] : [{ host, port: tlsPort }]),
    ...(typeof metrics === 'string' ? [] : [metrics]),
  ]
  const address = canonical(containersAddress)
  const meets = (one: string): boolean => one === address || isAny(one) || isAny(address)
  return listeners.flatMap((one) =>
    one.port !== 0 && meets(canonical(one.host)) ? [one.port] : [],
  )
}

/** One spelling of each address. A name that is no address stays as it is. */
function canonical(host: string): string {
  const name = canonicalHost(host) ?? host
  return name === 'localhost' ? '127.0.0.1' : plainAddress(name)
}

function isAny(address: string): boolean {
  return address === '0.0.0.0' || address === '::'
}
