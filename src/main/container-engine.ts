/**
 * Chooses the container engine: the configured one, or with `auto` a Docker Engine API that answers, else the
 * simulated one. The store records the choice, and a later `auto` keeps it: it waits for a Docker Engine API that is
 * away, since groups made anew elsewhere would be other groups. A driver is loaded only when it is used.
 */

import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { DockerTarget } from '#engines/containers/docker/client.ts'
import type { ContainerEngine } from '#engines/containers/engine.ts'
import type { Clock, Timers } from '#kernel/ports.ts'
import type { Outbound } from '#outbound/outbound.ts'
import type { Sql } from '#stores/store.ts'
import type { Config } from '../config.ts'
import { recordEngine, recordedEngine, recordFirstEngine } from '../installation/engine-record.ts'

export interface ChosenEngine {
  readonly engine: ContainerEngine
  /** Printed at start: the engine, and how another is chosen where that may be wanted. */
  readonly title: string
  /** Whether the engine is away and groups wait for it. */
  readonly isAwaited?: true
  /** The cores of the engine's machine, if it is this one. */
  readonly cpusMax: number | undefined
}

interface EngineDependencies {
  readonly installation: string
  readonly sql: Sql
  readonly outbound: Outbound
  readonly clock: Clock
  readonly timers: Timers
}

const simulated = 'simulated'
const kubernetes = 'kubernetes'

/** Throws an `Error` for the operator when the configured engine is not there. */
export async function chooseContainerEngine(
  config: Config,
  deps: EngineDependencies,
): Promise<ChosenEngine> {
  if (config.containers === 'kubernetes') return openKubernetes(config, deps)
  const place = config.containers === 'simulated' ? {} : await findPlace(config, deps.sql)
  return place.target === undefined
    ? openSimulated(config, deps, place.note)
    : openDocker(config, deps, place.target, place.away)
}

/** Where groups are made. */
interface Place {
  /** Undefined: the simulated engine. */
  readonly target?: DockerTarget
  /** Why it does not answer. */
  readonly away?: string
  /** Added to the title. */
  readonly note?: string
}

async function findPlace(config: Config, sql: Sql): Promise<Place> {
  const { containers, dockerHost, runtimeFolder } = config
  const recorded = containers === 'auto' ? await recordedEngine(sql) : undefined
  if (recorded === kubernetes) {
    throw new Error(
      'ARMATURE_CONTAINERS=auto, but the container groups of this installation were made on Kubernetes. Set ARMATURE_CONTAINERS to kubernetes, or to the engine on which they are to be made anew.',
    )
  }
  if (recorded === simulated) {
    return { note: 'as on the first start with this store; ARMATURE_CONTAINERS=docker changes it' }
  }
  const { findDocker, parseDockerHost, usualSockets } = await import(
    '#engines/containers/docker/find-docker.ts'
  )
  const { formatTarget } = await import('#engines/containers/docker/client.ts')
  const address = dockerHost ?? recorded
  const { target, passedOver } = await findDocker({
    ...(address === undefined ? {} : { dockerHost: address }),
    sockets: usualSockets(runtimeFolder),
  })
  const tried = passedOver.map(({ address, reason }) => `${address} (${reason})`).join('; ')
  if (containers === 'docker') {
    if (target !== undefined) return { target }
    throw new Error(`ARMATURE_CONTAINERS=docker, but no Docker Engine API answers. Tried: ${tried}`)
  }
  if (recorded !== undefined && address !== undefined) {
    return target === undefined ? { target: parseDockerHost(address), away: tried } : { target }
  }
  // One process may begin with the simulation and find an engine later. Replicas must agree.
  if (target === undefined && sql.dialect === 'sqlite') return {}
  const mine = target === undefined ? simulated : formatTarget(target)
  if ((await recordFirstEngine(sql, mine)) !== mine) return findPlace(config, sql)
  return target === undefined ? {} : { target }
}

async function openDocker(
  config: Config,
  { installation, sql, outbound }: EngineDependencies,
  target: DockerTarget,
  away: string | undefined,
): Promise<ChosenEngine> {
  const { DockerEngine } = await import('#engines/containers/docker/docker-engine.ts')
  const engine = new DockerEngine({
    target,
    installation,
    allowPrivileged: config.containersPrivileged,
    outbound,
    ...(config.containersNetwork === undefined ? {} : { network: config.containersNetwork }),
  })
  const cpusMax = availableParallelism()
  if (away !== undefined) {
    const title = `waiting for ${away}, where container groups were made; ARMATURE_DOCKER_HOST names another engine, ARMATURE_CONTAINERS=simulated simulates them`
    return { engine, title, isAwaited: true, cpusMax }
  }
  const { title } = await engine.describe()
  const { formatTarget } = await import('#engines/containers/docker/client.ts')
  await recordEngine(sql, formatTarget(target))
  return { engine, title, cpusMax }
}

async function openSimulated(
  { home }: Config,
  { installation, clock, timers }: EngineDependencies,
  note: string | undefined,
): Promise<ChosenEngine> {
  const { SimulatedEngine } = await import('#engines/containers/simulated/simulated-engine.ts')
  const folder = join(home, 'simulated-containers')
  const engine = new SimulatedEngine({ folder, installation, clock, timers })
  const { title } = await engine.describe()
  return { engine, title: note === undefined ? title : `${title}, ${note}`, cpusMax: undefined }
}

const inClusterFolder = '/var/run/secrets/kubernetes.io/serviceaccount'

async function openKubernetes(
  config: Config,
  { installation, sql, outbound }: EngineDependencies,
): Promise<ChosenEngine> {
  const { findKubernetes } = await import('#engines/containers/kubernetes/find-kubernetes.ts')
  const { kubeconfig, kubernetesNamespace: namespace, containersPrivileged } = config
  const found = await findKubernetes({
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    inClusterFolder,
    ...(namespace === undefined ? {} : { namespace }),
  })
  if (found.target === undefined) {
    const tried = found.passedOver.map(({ address, reason }) => `${address} (${reason})`)
    throw new Error(
      `ARMATURE_CONTAINERS=kubernetes, but no cluster was found. Tried: ${tried.join('; ')}`,
    )
  }
  const { KubernetesEngine } = await import('#engines/containers/kubernetes/kubernetes-engine.ts')
  const engine = new KubernetesEngine({
    target: found.target,
    installation,
    allowPrivileged: containersPrivileged,
    outbound,
  })
  const { title } = await engine.describe()
  await recordEngine(sql, kubernetes)
  return { engine, title, cpusMax: undefined }
}
