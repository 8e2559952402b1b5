/**
 * Container groups on Docker or Podman, through the API both speak. A group is a sandbox container that owns
 * the network and holds the volumes, and one container per part that joins it. It keeps no state of its own:
 * names and labels on the engine are all there is, so any process may carry on where another died.
 */

import { createRoom, inRoom } from '#kernel/room.ts'
import type { Outbound } from '#outbound/outbound.ts'
import { checkCommand, checkSpec } from '../check-spec.ts'
import {
  type ContainerEngine,
  type EngineDescription,
  EngineError,
  type EngineErrorKind,
  type EngineEvent,
  type ExecRequest,
  type GroupContents,
  type GroupSpec,
  type GroupStats,
  type LocalImage,
  type LogOptions,
  type ObservedGroup,
  type OwnedObject,
  type Probe,
  type ProbeOutcome,
  type RegistryCredentials,
  type Session,
} from '../engine.ts'
import { booleanAt, type Json, listAt, numberAt, textAt, timeAt } from '../json.ts'
import { probeByExec, probeByHttp } from '../probe.ts'
import { requireRegistry } from '../registry.ts'
import { DockerClient, type DockerTarget, formatTarget } from './client.ts'
import { GroupCreator } from './create-group.ts'
import { readEvents } from './events.ts'
import { Executions } from './executions.ts'
import { silentSeconds } from './file-look.ts'
import { hasCopies, readyProblem, requireOwnPlaces } from './host-side.ts'
import { inspectImage } from './inspect-image.ts'
import { readLogs } from './logs.ts'
import { mountedProblem, requireApart } from './mount-places.ts'
import { containerName, isOwned, namesOf, ownedFilter, withOwnHostname } from './names.ts'
import { labelOf, readGroup } from './observation.ts'
import { pauseImage } from './pause-image.ts'
import { pullImage } from './pull.ts'
import { inspectContainer, readContainers } from './read-containers.ts'
import { removeOwned } from './remove.ts'
import { openAttach } from './session.ts'
import { atOnce, changeEach, someAtOnce } from './some-at-once.ts'
import { readContainerStats, readNetwork } from './stats.ts'
import { type Dialect, docker } from './to-docker.ts'
import { podman } from './to-podman.ts'
import { Verifier } from './verifier.ts'

interface DockerEngineOptions {
  readonly target: DockerTarget
  /** A token: the same for every replica of one installation, and for no other installation. */
  readonly installation: string
  /** Allows specs with `privileged`. Off by default. */
  readonly allowPrivileged?: boolean
  /** A network of the engine that groups join instead of its default one. The operator made it. */
  readonly network?: string
  /** The operator states that the engine has GPUs and the runtime for them. */
  readonly gpu?: boolean
  /** The policy for registries that images may be pulled from; all of them when left out. */
  readonly outbound?: Outbound
}

/** How long the engine may take to list all containers. */
const listSeconds = 5
/** How long the engine may take to kill, in addition to a stop's own grace. */
const killSeconds = 30

/**
 * Containers that are being stopped at once: of a group, of all, and of these for groups of which none is. Whoever stops many groups
 * whose programs take no signal waits for themselves.
 */
const stops = { perOwnerMax: 60, sumMax: 180, spare: 60 }

export class DockerEngine implements ContainerEngine {
  readonly #client: DockerClient
  readonly #options: DockerEngineOptions
  readonly #verifier: Verifier
  readonly #maker: GroupCreator
  readonly #executions: Executions
  readonly #stops = createRoom(stops)
  #dialect: Promise<Dialect> | undefined
  #described: { readonly engine: string; readonly description: EngineDescription } | undefined

  constructor(options: DockerEngineOptions) {
    this.#client = new DockerClient(options.target)
    this.#options = options
    this.#verifier = new Verifier(this.#client, (group) => this.remove(group))
    this.#maker = new GroupCreator(this.#client, this.#verifier)
    this.#executions = new Executions(this.#client)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#executions.mostlySettled()
    await this.#client[Symbol.asyncDispose]()
  }

  /** Asks whether the engine is there. The rest is read anew when another one answers, or another version of it. */
  async describe(): Promise<EngineDescription> {
    const doing = 'ask for the version'
    const { engine, podman } = await this.#client.ping(doing)
    if (this.#described?.engine !== engine) {
      const version =
        podman === undefined
          ? await this.#client.json({ method: 'GET', path: '/version', doing })
          : undefined
      const number = podman ?? textAt(version, 'Version')
      // What stands between may leave the header of a Podman out.
      const components = listAt(version, 'Components').map((one) => textAt(one, 'Name'))
      const isPodman = podman !== undefined || components.includes('Podman Engine')
      const product = isPodman ? 'Podman' : 'Docker'
      this.#described = { engine, description: this.#describe(product, number) }
    }
    return this.#described.description
  }

  #describe(product: 'Docker' | 'Podman', number: string): EngineDescription {
    return {
      kind: 'docker',
      title: `${product} ${number} at ${formatTarget(this.#options.target)}`,
      version: number,
      runsPrograms: true,
      pullsByItself: false,
      startsByItself: false,
      // Podman restarts at once and without an end. Docker reads accounts that nobody has looked at, also while it starts itself.
      restartsByItself: false,
      probesByItself: false,
      keepsStopped: true,
      hostFolders: true,
      measures: true,
      gpu: this.#options.gpu ?? false,
    }
  }

  async observe(group: string, images: readonly string[] = []): Promise<ObservedGroup> {
    const [containers, present] = await Promise.all([
      this.#inspectAll(group),
      this.#presentOf(new Set(images)),
    ])
    const volumes = containers.length > 0 ? [] : await this.#volumes(group)
    return readGroup(containers, volumes.length > 0, present)
  }

  async pull(
    image: string,
    options: {
      readonly credentials?: RegistryCredentials
      readonly refresh?: boolean
      readonly signal?: AbortSignal
    } = {},
  ): Promise<void> {
    if (options.refresh !== true && (await this.#presentOf(new Set([image]))).has(image)) return
    await requireRegistry(image, this.#options.outbound)
    const { api } = await this.#speak()
    await pullImage(this.#client, image, { ...options, api })
  }

  async create(group: string, spec: GroupSpec, contents: GroupContents = {}): Promise<void> {
    const names = this.#names(group)
    const dialect = await this.#speak()
    const { allowPrivileged = false, gpu = false } = this.#options
    checkSpec(spec, contents, { allowPrivileged, gpu, seccompText: dialect.seccompText })
    const lone = spec.parts.find(
      ({ security }) => security?.group !== undefined && security.user === undefined,
    )
    if (lone !== undefined) {
      throw new EngineError('refused', `'${lone.name}' has a group to run as, and no user`)
    }
    for (const part of spec.parts) {
      requireOwnPlaces(part)
      requireApart(part, spec)
    }
    const existing = await this.#inspectAll(group)
    const { network } = this.#options
    const named = network === undefined ? spec : withOwnHostname(spec, names)
    await this.#maker.make({ names, spec: named, contents, existing, dialect, network })
  }

  async start(group: string, spec: GroupSpec, parts: readonly string[]): Promise<void> {
    const containers = await someAtOnce(parts, atOnce.questions, (part) =>
      this.#inspectPart(group, part),
    )
    // Starting is not idempotent for a part that ends at once, but only parts that never started are started.
    const unstarted = parts.filter(
      (_, at) => timeAt(containers[at], 'State', 'StartedAt') === undefined,
    )
    if (unstarted.length === 0) return
    await this.#verifier.parts(this.#names(group), spec, unstarted, await this.#speak())
    await changeEach(unstarted, (part) =>
      this.#post(
        `/containers/${containerName(this.#names(group), part)}/start`,
        {},
        `start '${part}'`,
      ),
    )
  }

  async restart(
    group: string,
    part: string,
    options: { readonly startedAt: number; readonly graceSeconds: number },
  ): Promise<void> {
    const container = await this.#inspectPart(group, part)
    if ((timeAt(container, 'State', 'StartedAt') ?? 0) > options.startedAt) return
    // One of an earlier version: whoever asks for it makes the group anew.
    if (!hasCopies(container)) {
      await this.stop(group, options.graceSeconds)
      return await this.remove(group)
    }
    const path = `/containers/${textAt(container, 'Id')}`
    const doing = `restart '${part}'`
    const { graceSeconds } = options
    // Its program may change its files until it has ended, so it is looked at between the two.
    const query = { t: String(graceSeconds) }
    await this.#post(`${path}/stop`, query, doing, graceSeconds + killSeconds)
    const { api } = await this.#speak()
    const problem =
      (await mountedProblem(this.#client, api, container)) ??
      (api === 'libpod' ? await readyProblem(this.#client, container) : undefined)
    if (problem !== undefined) {
      throw new EngineError('refused', `the container is not started again: ${problem}`)
    }
    await this.#post(`${path}/start`, {}, doing)
  }

  async stop(group: string, graceSeconds: number): Promise<void> {
    const containers = await this.#list(group)
    const parts = containers.filter((each) => textAt(each, 'Labels', 'armature.part') !== '')
    const stopped = parts.filter((each) => textAt(each, 'State') !== 'created')
    await Promise.all(
      stopped.map((each) =>
        inRoom(this.#stops, group, () =>
          this.#unlessAbsent(
            this.#post(
              `/containers/${textAt(each, 'Id')}/stop`,
              { t: String(graceSeconds) },
              'stop a container',
              graceSeconds + killSeconds,
            ),
          ),
        ),
      ),
    )
    // The sandbox waits for nothing and holds the address and the ports, so it is killed last.
    for (const each of containers) {
      if (textAt(each, 'Labels', 'armature.part') !== '') continue
      if (textAt(each, 'State') === 'created') continue
      const path = `/containers/${textAt(each, 'Id')}/stop`
      await this.#unlessAbsent(this.#post(path, { t: '0' }, 'stop the sandbox', killSeconds))
    }
  }

  async remove(group: string): Promise<void> {
    namesOf(this.#options.installation, group)
    await removeOwned(
      this.#client,
      () => this.#list(group),
      () => this.#volumes(group),
    )
  }

  async list(): Promise<readonly OwnedObject[]> {
    // A program that holds its container holds Podman's list of all: then the groups are told by their volumes.
    const listing = this.#unless(['unavailable'], this.#list(undefined, listSeconds))
    const [containers = [], volumes] = await Promise.all([listing, this.#volumes()])
    return [
      ...containers.map((each) => owned('container', textAt(each, 'Id'), each)),
      ...volumes.map((each) => owned('volume', textAt(each, 'Name'), each)),
    ]
  }

  async images(): Promise<readonly LocalImage[]> {
    const images = await this.#client.json({
      method: 'GET',
      path: '/images/json',
      doing: 'list the images',
    })
    return listAt(images).flatMap((image) =>
      listAt(image, 'RepoTags')
        .filter((name) => typeof name === 'string')
        .filter((name) => name !== pauseImage && name !== '<none>:<none>')
        .map((name) => ({ name, id: textAt(image, 'Id'), sizeBytes: numberAt(image, 'Size') })),
    )
  }

  logs(group: string, part: string, options: LogOptions = {}): AsyncIterable<Uint8Array> {
    return readLogs(this.#client, containerName(this.#names(group), part), options)
  }

  async exec(group: string, part: string, request: ExecRequest): Promise<Session> {
    checkCommand(request.command, `for '${part}'`)
    const container = await this.#running(group, part)
    requireCopies(container)
    return await this.#executions.open(textAt(container, 'Id'), request)
  }

  async attach(group: string, part: string): Promise<Session> {
    return await openAttach(this.#client, textAt(await this.#running(group, part), 'Id'))
  }

  async probe(
    group: string,
    part: string,
    probe: Probe,
    timeoutSeconds: number,
  ): Promise<ProbeOutcome> {
    const container = await this.#inspectPart(group, part)
    if (!booleanAt(container, 'State', 'Running')) {
      return { healthy: false, message: 'the container does not run' }
    }
    if (probe.kind === 'exec') {
      requireCopies(container)
      const run = () => this.#executions.open(textAt(container, 'Id'), probe)
      return await probeByExec(run, timeoutSeconds)
    }
    const observed = readGroup(await this.#inspectAll(group), false, new Set())
    return observed.address === undefined
      ? { healthy: false, message: 'the container group has no address' }
      : await probeByHttp(observed.address, probe, timeoutSeconds)
  }

  async stats(group: string): Promise<GroupStats> {
    const containers = await this.#list(group, silentSeconds)
    if (containers.length === 0) throw new EngineError('absent', 'there is no such group')
    const found = containers.filter((each) => textAt(each, 'State') === 'running')
    const all = await someAtOnce(found, atOnce.questions, async (each) => ({
      part: textAt(each, 'Labels', 'armature.part'),
      stats: await this.#client.json({
        method: 'GET',
        path: `/containers/${textAt(each, 'Id')}/stats`,
        query: { stream: 'false', 'one-shot': 'true' },
        doing: 'read the statistics',
        silentSeconds,
      }),
    }))
    // The container without a part has the network, which the parts join.
    const sandbox = all.find(({ part }) => part === '')
    const network = sandbox === undefined ? undefined : readNetwork(sandbox.stats)
    return {
      running: all
        .filter(({ part }) => part !== '')
        .map(({ part, stats }) => readContainerStats(part, stats)),
      ...(network === undefined ? {} : { network }),
    }
  }

  events(signal: AbortSignal): AsyncIterable<EngineEvent> {
    return readEvents(this.#client, this.#options.installation, signal)
  }

  /** Only a success is remembered, so that an engine that starts later is found. */
  #speak(): Promise<Dialect> {
    this.#dialect ??= this.describe().then(({ title }) =>
      title.startsWith('Docker') ? docker : podman,
    )
    this.#dialect.catch(() => {
      this.#dialect = undefined
    })
    return this.#dialect
  }

  #names(group: string): ReturnType<typeof namesOf> {
    return namesOf(this.#options.installation, group)
  }

  async #list(group?: string, silentSeconds?: number): Promise<readonly Json[]> {
    if (group !== undefined) this.#names(group)
    const listed = await readContainers(this.#client, {
      path: '/containers/json',
      query: { all: '1', ...ownedFilter(this.#options.installation, group) },
      doing: 'list the containers',
      ...(silentSeconds === undefined ? {} : { silentSeconds }),
    })
    return listAt(listed).filter((each) => isOwned(each, this.#options.installation, group))
  }

  async #volumes(group?: string): Promise<readonly Json[]> {
    const answer = await this.#client.json({
      method: 'GET',
      path: '/volumes',
      query: ownedFilter(this.#options.installation, group),
      doing: 'list the volumes',
    })
    return listAt(answer, 'Volumes').filter((each) =>
      isOwned(each, this.#options.installation, group),
    )
  }

  async #inspectAll(group: string): Promise<readonly Json[]> {
    const listed = await this.#list(group)
    // A container that vanished between the two calls does not exist.
    const inspected = await someAtOnce(listed, atOnce.questions, (each) =>
      this.#unlessAbsent(inspectContainer(this.#client, textAt(each, 'Id'))),
    )
    return inspected.filter((each) => each !== undefined)
  }

  async #inspectPart(group: string, part: string): Promise<Json> {
    const container = await inspectContainer(this.#client, containerName(this.#names(group), part))
    // The name is ours by construction; the label proves that nobody else took it.
    if (labelOf(container, 'installation') !== this.#options.installation) {
      throw new EngineError('absent', `there is no container '${part}'`)
    }
    return container
  }

  async #running(group: string, part: string): Promise<Json> {
    const container = await this.#inspectPart(group, part)
    if (booleanAt(container, 'State', 'Running')) return container
    throw new EngineError('busy', `the container '${part}' does not run`)
  }

  async #presentOf(images: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    if (images.size === 0) return images
    const { api } = await this.#speak()
    const found = await someAtOnce([...images], atOnce.questions, async (image) => {
      const doing = `inspect the image '${image}'`
      const work = inspectImage(this.#client, image, { api, doing })
      // One with a fault is pulled again, which tells what is wrong with it, and gives it its own annotations again.
      return (await this.#unless(['absent', 'refused'], work)) === undefined ? [] : [image]
    })
    return new Set(found.flat())
  }

  async #post(
    path: string,
    query: Readonly<Record<string, string>>,
    doing: string,
    seconds = 60,
  ): Promise<void> {
    const call = { method: 'POST', kind: 'change', path, query, doing } as const
    await this.#client.json({ ...call, silentSeconds: seconds })
  }

  /** A missing container needs no stop and has no state. */
  #unlessAbsent<T>(work: Promise<T>): Promise<T | undefined> {
    return this.#unless(['absent'], work)
  }

  async #unless<T>(kinds: readonly EngineErrorKind[], work: Promise<T>): Promise<T | undefined> {
    try {
      return await work
    } catch (error) {
      if (error instanceof EngineError && kinds.includes(error.kind)) return undefined
      throw error
    }
  }
}

function requireCopies(container: Json): void {
  if (hasCopies(container)) return
  throw new EngineError(
    'refused',
    'the container was made by an earlier version, and no command can be begun in it: restart its group',
  )
}

function owned(kind: 'container' | 'volume', id: string, found: Json): OwnedObject {
  return {
    kind,
    id,
    group: textAt(found, 'Labels', 'armature.group'),
    part: textAt(found, 'Labels', 'armature.part') || undefined,
    hash: textAt(found, 'Labels', 'armature.hash'),
  }
}
