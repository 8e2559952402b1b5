/**
 * Chooses the container engine: the configured one, or with `auto` a Docker Engine API that answers, else the
 * simulated one. A driver is loaded only when it is used. The result says which engine was chosen and why.
 */

import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { ContainerEngine } from '#engines/containers/engine.ts'
import type { Clock, Timers } from '#kernel/ports.ts'
import type { Outbound } from '#outbound/outbound.ts'
import type { Config } from '../config.ts'

export interface ChosenEngine {
  readonly engine: ContainerEngine
  /** Printed at start: the engine, and what was passed over. */
  readonly title: string
  /** The cores of the engine's machine, if it is this one. */
  readonly cpusMax: number | undefined
}

/** Throws an `Error` for the operator when the configured engine is not there. */
export async function chooseContainerEngine(
  config: Config,
  installation: string,
  { clock, timers }: { readonly clock: Clock; readonly timers: Timers },
  outbound: Outbound,
): Promise<ChosenEngine> {
  const { containers, dockerHost, runtimeFolder, home } = config
  if (containers === 'kubernetes') return kubernetes(config, installation, outbound)
  const passedOver: string[] = []
  if (containers !== 'simulated') {
    const { findDocker, usualSockets } = await import('#engines/containers/docker/find-docker.ts')
    const found = await findDocker({
      ...(dockerHost === undefined ? {} : { dockerHost }),
      sockets: usualSockets(runtimeFolder),
    })
    if (found.target !== undefined) {
      const { DockerEngine } = await import('#engines/containers/docker/docker-engine.ts')
      const engine = new DockerEngine({
        target: found.target,
        installation,
        allowPrivileged: config.containersPrivileged,
        outbound,
        ...(config.containersNetwork === undefined ? {} : { network: config.containersNetwork }),
      })
      const { title } = await engine.describe()
      return { engine, title, cpusMax: availableParallelism() }
    }
    passedOver.push(...found.passedOver.map(({ address, reason }) => `${address} (${reason})`))
    if (containers === 'docker') {
      throw new Error(
        `ARMATURE_CONTAINERS=docker, but no Docker Engine API answers. Tried: ${passedOver.join('; ')}`,
      )
    }
  }
  const { SimulatedEngine } = await import('#engines/containers/simulated/simulated-engine.ts')
  const folder = join(home, 'simulated-containers')
  const engine = new SimulatedEngine({ folder, installation, clock, timers })
  const { title } = await engine.describe()
  return { engine, title, cpusMax: undefined }
}

const inClusterFolder = '/var/run/secrets/kubernetes.io/serviceaccount'

async function kubernetes(
  config: Config,
  installation: string,
  outbound: Outbound,
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
  return { engine, title, cpusMax: undefined }
}
