/**
 * Container groups on a Kubernetes cluster: a group is a Pod, with Secrets for what is secret and a Service
 * where a port is to be reached from outside. It keeps no state of its own. What a cluster does by itself
 * (pull, start, restart, probe) it leaves to the cluster; it has been tried on no real one yet.
 */

import type { Outbound } from '#outbound/outbound.ts'
import { checkSpec } from '../check-spec.ts'
import {
  type ContainerEngine,
  type EngineDescription,
  EngineError,
  type EngineEvent,
  type ExecRequest,
  type GroupContents,
  type GroupSpec,
  type GroupStats,
  isToken,
  type LocalImage,
  type LogOptions,
  type ObservedContainer,
  type ObservedGroup,
  type OwnedObject,
  type Probe,
  type ProbeOutcome,
  type Session,
} from '../engine.ts'
import { textAt } from '../json.ts'
import { probeByExec, probeByHttp } from '../probe.ts'
import { requireRegistry } from '../registry.ts'
import { checkCluster } from './check-cluster.ts'
import { KubernetesClient, type KubernetesTarget } from './client.ts'
import { readEvents } from './events.ts'
import { openExec } from './exec.ts'
import { GroupStore } from './group-store.ts'
import { attachByLog, readLogs } from './logs.ts'
import { annotationOf, type Names, namesOf } from './names.ts'
import { isTerminating, partsOf, readGroup } from './observation.ts'
import { podDifferences } from './pod-differences.ts'
import { podBody, type ServiceType, secretBodies, serviceBody } from './to-kubernetes.ts'

export interface KubernetesEngineOptions {
  readonly target: KubernetesTarget
  /** A token: the same for every replica of one installation, and for no other installation. */
  readonly installation: string
  /** How published ports are reached. Default: `LoadBalancer`. */
  readonly serviceType?: ServiceType
  /**
   * Secrets of the namespace with registry credentials, in addition to those of groups: the cluster pulls by
   * itself.
   */
  readonly imagePullSecrets?: readonly string[]
  /** Allows specs with `privileged`. Off by default. */
  readonly allowPrivileged?: boolean
  /** The resource name of the nodes' GPUs (`nvidia.com/gpu`); when left out, there are none. */
  readonly gpuResource?: string
  /** The operator states that every node has the folders that `host` volumes name. */
  readonly hostFolders?: boolean
  /** The policy for registries that images may be pulled from; all of them when left out. */
  readonly outbound?: Outbound
}

/** How long the cluster may take to end a Pod, in addition to the Pod's own grace. */
const killSeconds = 30
/** Zero would let the cluster forget a Pod that still runs. */
const removeGraceSeconds = 1

export class KubernetesEngine implements ContainerEngine {
  readonly #client: KubernetesClient
  readonly #store: GroupStore
  readonly #options: KubernetesEngineOptions

  constructor(options: KubernetesEngineOptions) {
    if (!isToken(options.installation)) {
      throw new EngineError('refused', `'${options.installation}' is not a token`)
    }
    this.#client = new KubernetesClient(options.target)
    this.#store = new GroupStore(this.#client, options.installation)
    this.#options = options
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client[Symbol.asyncDispose]()
  }

  async describe(): Promise<EngineDescription> {
    const call = { method: 'GET', path: '/version', doing: 'ask for the version' } as const
    const version = textAt(await this.#client.json(call), 'gitVersion')
    const { server, namespace } = this.#client.target
    return {
      kind: 'kubernetes',
      title: `Kubernetes ${version} at ${server}, namespace ${namespace}`,
      version,
      runsPrograms: true,
      pullsByItself: true,
      startsByItself: true,
      restartsByItself: true,
      probesByItself: true,
      keepsStopped: false,
      measures: false,
      hostFolders: this.#options.hostFolders ?? false,
      gpu: this.#options.gpuResource !== undefined,
    }
  }

  async observe(group: string): Promise<ObservedGroup> {
    this.#names(group)
    const { pods, services, secrets } = await this.#store.holding(group)
    return readGroup(pods[0], services[0], secrets.length > 0)
  }

  /** The nodes pull when a container starts, with the credentials of the group and of `imagePullSecrets`. */
  async pull(): Promise<void> {}

  async create(group: string, spec: GroupSpec, contents: GroupContents = {}): Promise<void> {
    const names = this.#names(group)
    checkSpec(spec, contents, {
      allowPrivileged: this.#options.allowPrivileged ?? false,
      gpu: this.#options.gpuResource !== undefined,
      seccompText: false,
    })
    checkCluster(spec, this.#options.hostFolders ?? false)
    if (await this.#isMade(names, spec)) return
    for (const { image } of spec.parts) await requireRegistry(image, this.#options.outbound)
    // The Pod is created last, when everything it needs exists.
    for (const { name, body } of secretBodies(names, spec, contents)) {
      const made = await this.#store.create('secrets', name, body)
      if (made !== undefined) continue
      // An earlier attempt left it; its contents may be out of date.
      if ((await this.#store.get('secrets', names, name)) === undefined) throw halfRemoved()
      await this.#store.replace('secrets', name, body)
    }
    await this.#makeService(names, spec)
    const pod = podBody(names, spec, contents, {
      imagePullSecrets: this.#options.imagePullSecrets ?? [],
      gpuResource: this.#options.gpuResource,
    })
    const made = await this.#store.create('pods', names.name, pod)
    if (made === undefined && !(await this.#isMade(names, spec))) throw halfRemoved()
    if (made === undefined) return
    const found = podDifferences(pod, made)
    if (found.length === 0) return
    await this.remove(group)
    throw new EngineError(
      'refused',
      `the cluster made something else than was asked for, and it was removed: ${found.slice(0, 5).join('; ')}`,
    )
  }

  /** Whether the Pod of this spec exists; `busy` when another one has its name. */
  async #isMade(names: Names, spec: GroupSpec): Promise<boolean> {
    const pod = await this.#store.get('pods', names, names.name)
    if (pod === undefined) return false
    if (isTerminating(pod)) throw halfRemoved()
    if (annotationOf(pod, 'hash') === spec.hash) return true
    throw new EngineError('busy', 'a pod of another spec is in the way')
  }

  async #makeService(names: Names, spec: GroupSpec): Promise<void> {
    const type = this.#options.serviceType ?? 'LoadBalancer'
    const body = serviceBody(names, spec, type)
    const found = await this.#store.get('services', names, names.name)
    if (found !== undefined) {
      if (body !== undefined && annotationOf(found, 'hash') === spec.hash) return
      await this.#store.delete('services', found)
    }
    if (body === undefined) return
    const made = await this.#store.create('services', names.name, body)
    if (made === undefined) throw halfRemoved()
  }

  /** The cluster starts them. What it made was compared in `create`. */
  async start(): Promise<void> {}

  /** `refused` for a part that was not started again since: a cluster restarts containers by itself. */
  async restart(
    group: string,
    part: string,
    options: { readonly startedAt: number },
  ): Promise<void> {
    const { state } = await this.#part(group, part)
    if (state.kind === 'running' && state.startedAt > options.startedAt) return
    throw new EngineError('refused', 'a cluster restarts containers by itself, not on demand')
  }

  async stop(group: string, graceSeconds: number): Promise<void> {
    await this.#end(group, graceSeconds)
  }

  async remove(group: string): Promise<void> {
    await this.#end(group, removeGraceSeconds)
  }

  /** The Pod is deleted first: it must not run without what it needs. */
  async #end(group: string, graceSeconds: number): Promise<void> {
    this.#names(group)
    const pods = await this.#store.list('pods', group)
    await this.#store.endPods(pods, graceSeconds, killSeconds)
    const { pods: fresh, services, secrets } = await this.#store.holding(group)
    if (fresh.length > 0) {
      throw new EngineError('busy', 'the group is being made anew while it is removed')
    }
    await Promise.all([
      ...services.map((each) => this.#store.delete('services', each)),
      ...secrets.map((each) => this.#store.delete('secrets', each)),
    ])
  }

  async list(): Promise<readonly OwnedObject[]> {
    const { pods, services, secrets } = await this.#store.holding()
    const kinds = [
      ['container', pods],
      ['service', services],
      ['secret', secrets],
    ] as const
    return kinds.flatMap(([kind, found]) =>
      found.map((each) => ({
        kind,
        id: textAt(each, 'metadata', 'name'),
        group: annotationOf(each, 'group'),
        part: undefined,
        hash: annotationOf(each, 'hash'),
      })),
    )
  }

  /** Always empty: images are on the nodes, which this engine does not ask. */
  async images(): Promise<readonly LocalImage[]> {
    return []
  }

  async *logs(group: string, part: string, options: LogOptions = {}): AsyncIterable<Uint8Array> {
    await this.#part(group, part)
    yield* readLogs(this.#client, this.#names(group).name, part, options)
  }

  async exec(group: string, part: string, request: ExecRequest): Promise<Session> {
    await this.#runningPart(group, part)
    return await openExec(this.#client, this.#names(group).name, part, request)
  }

  async attach(group: string, part: string): Promise<Session> {
    await this.#runningPart(group, part)
    return attachByLog(this.#client, this.#names(group).name, part, async () => {
      const { state } = await this.#part(group, part)
      return state.kind === 'terminated' ? state.exitCode : undefined
    })
  }

  /** An explicit probe. The cluster runs the probes of a spec itself. */
  async probe(
    group: string,
    part: string,
    probe: Probe,
    timeoutSeconds: number,
  ): Promise<ProbeOutcome> {
    const { state } = await this.#part(group, part)
    const address = (await this.observe(group)).address
    if (state.kind !== 'running' || address === undefined) {
      return { healthy: false, message: 'the container does not run' }
    }
    if (probe.kind === 'http') return await probeByHttp(address, probe, timeoutSeconds)
    return await probeByExec(() => this.exec(group, part, probe), timeoutSeconds)
  }

  /** `refused` for an existing group: a cluster measures a rate, not the sum the port asks for. */
  async stats(group: string): Promise<GroupStats> {
    if ((await this.#store.list('pods', this.#names(group).group)).length === 0) {
      throw new EngineError('absent', 'there is no such group')
    }
    throw new EngineError('refused', 'a cluster tells no processor time of containers')
  }

  events(signal: AbortSignal): AsyncIterable<EngineEvent> {
    return readEvents(this.#client, this.#options.installation, signal)
  }

  async #part(group: string, part: string): Promise<ObservedContainer> {
    const names = this.#names(group)
    const pod = await this.#store.get('pods', names, names.name)
    const found = partsOf(pod).find((each) => each.name === part)
    if (found === undefined) throw new EngineError('absent', `there is no container '${part}'`)
    return found
  }

  async #runningPart(group: string, part: string): Promise<void> {
    const { state } = await this.#part(group, part)
    if (state.kind === 'running') return
    throw new EngineError('busy', `the container '${part}' does not run`)
  }

  #names(group: string): Names {
    return namesOf(this.#options.installation, group)
  }
}

function halfRemoved(): EngineError {
  return new EngineError('busy', 'what is left of the group is still being removed')
}
