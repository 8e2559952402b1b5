/**
 * A container engine where nothing runs: it follows the same states as a real one, by the clock and by
 * `ARMATURE_SIMULATE`, outlives the process that drives it, and says in every title, log and session that it
 * is simulated. It refuses to pretend that a program did something.
 */

import type { Clock, Timers } from '#kernel/ports.ts'
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
  type ObservedGroup,
  type OwnedObject,
  type Probe,
  type ProbeOutcome,
  type Session,
} from '../engine.ts'
import { imageProblem } from '../safe-text.ts'
import { type Change, EventQueue } from './event-queue.ts'
import { addressOf, hostPortOf, imageIdOf } from './fake-metadata.ts'
import { GroupFiles, type SimulatedContainer, type SimulatedGroup } from './group-file.ts'
import { logLines } from './log-lines.ts'
import { advance, endRun, nextChange, stateOf } from './restart-policy.ts'
import { readScript } from './script.ts'
import { simulatedSession } from './simulated-session.ts'

interface SimulatedEngineOptions {
  /** The folder of the group files; created if needed. */
  readonly folder: string
  readonly installation: string
  readonly clock: Clock
  readonly timers: Timers
}

/** Pulling an image with this in its name fails. */
const unpullable = 'pull-error'

export class SimulatedEngine implements ContainerEngine {
  readonly #files: GroupFiles
  readonly #installation: string
  readonly #clock: Clock
  readonly #board: EventQueue

  constructor(options: SimulatedEngineOptions) {
    if (!isToken(options.installation)) throw new Error('the installation is no token')
    this.#files = new GroupFiles(options.folder)
    this.#installation = options.installation
    this.#clock = options.clock
    this.#board = new EventQueue(options, {
      groups: () => this.#files.list(this.#installation).map(({ group }) => group),
      next: (group) => this.#nextOf(group),
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#board.close()
  }

  async describe(): Promise<EngineDescription> {
    return {
      kind: 'simulated',
      title: 'simulated containers (no container engine: nothing really runs)',
      version: '1',
      runsPrograms: false,
      measures: false,
      pullsByItself: false,
      startsByItself: false,
      restartsByItself: true,
      probesByItself: false,
      keepsStopped: true,
      hostFolders: true,
      gpu: false,
    }
  }

  async observe(group: string, images: readonly string[] = []): Promise<ObservedGroup> {
    const held = this.#look(group)
    const now = this.#clock.now()
    const here = new Set(this.#files.images())
    const up = held?.sandbox === 'up'
    return {
      empty: held === undefined,
      hash: held?.hash,
      sandbox: held?.sandbox ?? 'none',
      parts: (held?.parts ?? []).map((part) => ({
        name: part.name,
        hash: held?.hash ?? '',
        state: stateOf(part, now),
        restartCount: part.restartCount,
        ...(part.previous === undefined || part.ended !== undefined
          ? {}
          : {
              previous: {
                startedAt: part.previous.startedAt,
                finishedAt: part.previous.finishedAt,
                exitCode: part.previous.exitCode,
              },
            }),
        imageId: imageIdOf(part.image),
      })),
      address: up ? addressOf(group) : undefined,
      published: up
        ? held.ports.flatMap((port) =>
            port.publish === undefined
              ? []
              : [
                  {
                    port: port.port,
                    protocol: port.protocol,
                    address: port.publish.address,
                    hostPort: port.publish.port ?? hostPortOf(group, port),
                  },
                ],
          )
        : [],
      imagesPresent: new Set(images.filter((image) => here.has(image))),
    }
  }

  async pull(image: string): Promise<void> {
    if (image.includes(unpullable)) {
      throw new EngineError('absent', `simulated: no registry knows the image '${image}'`)
    }
    const problem = imageProblem(image)
    if (problem !== undefined) throw new EngineError('refused', `the image is invalid: ${problem}`)
    this.#files.addImage(image)
  }

  async create(group: string, spec: GroupSpec, contents: GroupContents = {}): Promise<void> {
    const held = this.#look(group)
    this.#checkSpec(spec, contents)
    if (held !== undefined && (held.hash !== spec.hash || held.sandbox === 'down')) {
      throw new EngineError('busy', 'containers of an earlier version are still there')
    }
    if (held !== undefined) return
    this.#checkPorts(group, spec)
    this.#save({
      installation: this.#installation,
      group,
      hash: spec.hash,
      sandbox: 'up',
      ports: spec.ports,
      volumes: spec.volumes.filter(({ kind }) => kind !== 'host').map(({ name }) => name),
      parts: spec.parts.map((part) => ({
        name: part.name,
        image: part.image,
        command: part.command ?? [],
        script: readScript(part),
        restart: part.init && spec.restart === 'always' ? 'on-failure' : spec.restart,
        restartCount: 0,
      })),
    })
    for (const part of spec.parts) this.#tell(group, part.name, 'created')
  }

  async start(group: string, _spec: GroupSpec, parts: readonly string[]): Promise<void> {
    // Read and written once: the file of a group of many containers may be long.
    const held = this.#look(group)
    const startedAt = this.#clock.now()
    const due = parts
      .map((name) => partOf(held, name))
      .filter((part) => part.startedAt === undefined)
    const started = new Set(due.filter(({ script }) => !script.startError))
    if (held !== undefined && started.size > 0) {
      const written = held.parts.map((part) => (started.has(part) ? { ...part, startedAt } : part))
      this.#save({ ...held, parts: written })
    }
    for (const { name } of started) this.#tell(group, name, 'started')
    const broken = due.find(({ script }) => script.startError)
    if (broken !== undefined) {
      throw new EngineError('refused', `simulated: the command of '${broken.name}' cannot be run`)
    }
  }

  async restart(
    group: string,
    part: string,
    options: { readonly startedAt: number; readonly graceSeconds: number },
  ): Promise<void> {
    const found = this.#part(group, part)
    if ((found.startedAt ?? 0) > options.startedAt) return
    const now = this.#clock.now()
    const { ended, ...rest } = found
    const previous = ended ?? (found.startedAt === undefined ? undefined : endedBy(found, now))
    // Strictly later than the ended run, or a repeated step would not see that it was done.
    const startedAt = Math.max(now, options.startedAt + 1)
    this.#write(group, { ...rest, startedAt, ...(previous === undefined ? {} : { previous }) })
    this.#tell(group, part, 'started')
  }

  async stop(group: string, _graceSeconds: number): Promise<void> {
    const held = this.#look(group)
    if (held === undefined) return
    const now = this.#clock.now()
    this.#save({
      ...held,
      sandbox: 'down',
      parts: held.parts.map((part) =>
        part.startedAt === undefined || part.ended !== undefined
          ? part
          : {
              ...part,
              ended:
                part.startedAt > now ? (part.previous ?? endedBy(part, now)) : endedBy(part, now),
            },
      ),
    })
    for (const part of held.parts) this.#tell(group, part.name, 'died')
  }

  async remove(group: string): Promise<void> {
    const held = this.#look(group)
    this.#files.remove(this.#installation, group)
    this.#board.expect(group)
    for (const part of held?.parts ?? []) this.#tell(group, part.name, 'removed')
  }

  async list(): Promise<readonly OwnedObject[]> {
    return this.#files.list(this.#installation).flatMap(({ group, hash, parts, volumes }) => [
      { kind: 'container' as const, id: group, group, part: undefined, hash },
      ...parts.map(({ name }) => ({
        kind: 'container' as const,
        id: `${group}_${name}`,
        group,
        part: name,
        hash,
      })),
      ...volumes.map((name) => ({
        kind: 'volume' as const,
        id: `${group}_${name}`,
        group,
        part: undefined,
        hash,
      })),
    ])
  }

  async images(): Promise<readonly LocalImage[]> {
    return this.#files.images().map((name) => ({ name, id: imageIdOf(name), sizeBytes: 0 }))
  }

  async *logs(group: string, part: string, options: LogOptions = {}): AsyncIterable<Uint8Array> {
    let written = 0
    for (;;) {
      const now = this.#clock.now()
      const found = this.#part(group, part)
      const lines = logLines(found, now).filter(({ at }) => at >= (options.sinceMs ?? 0))
      const first = written === 0 ? Math.max(0, lines.length - (options.tail ?? Infinity)) : written
      for (const { at, text } of lines.slice(first)) {
        const stamp = options.timestamps === true ? `${new Date(at).toISOString()} ` : ''
        yield Buffer.from(`${stamp}${text}\n`)
      }
      written = lines.length
      const running = stateOf(found, now).kind === 'running'
      if (options.follow !== true || !running || options.signal?.aborted === true) return
      await this.#board.change(options.signal)
    }
  }

  async exec(group: string, part: string, request: ExecRequest): Promise<Session> {
    const found = this.#runningPart(group, part)
    const failing = this.#probeFails(found)
    const text = `simulated: would run ${JSON.stringify(request.command)}; nothing really runs\n`
    return simulatedSession(text, failing ? 1 : 0, request.input ?? false)
  }

  async attach(group: string, part: string): Promise<Session> {
    const found = this.#runningPart(group, part)
    const last = logLines(found, this.#clock.now()).at(-1)
    return simulatedSession(`${last?.text ?? ''}\n`, undefined, false)
  }

  async probe(group: string, part: string, _probe: Probe): Promise<ProbeOutcome> {
    const found = this.#part(group, part)
    if (stateOf(found, this.#clock.now()).kind !== 'running') {
      return { healthy: false, message: 'the container does not run' }
    }
    return this.#probeFails(found)
      ? { healthy: false, message: 'simulated: the probe fails, as its script says' }
      : { healthy: true, message: 'simulated: the probe succeeds' }
  }

  async stats(group: string): Promise<GroupStats> {
    if (this.#look(group) === undefined) {
      throw new EngineError('absent', 'there is no such group')
    }
    throw new EngineError('refused', 'nothing runs in a simulated engine, so it measures nothing')
  }

  events(signal: AbortSignal): AsyncIterable<EngineEvent> {
    return this.#board.follow(signal)
  }

  /** A switch for tests and operators: ends the current run of a part with this exit code. */
  endContainer(group: string, part: string, exitCode: number): void {
    const found = this.#part(group, part)
    const now = this.#clock.now()
    if (stateOf(found, now).kind !== 'running') {
      throw new EngineError('busy', `the container '${part}' does not run`)
    }
    this.#write(group, { ...found, ...endRun(found, exitCode, now) })
    this.#tell(group, part, 'died', exitCode)
  }

  /** A switch: does what a crash of the host would do. */
  loseSandbox(group: string): void {
    const held = this.#look(group)
    if (held !== undefined) this.#save({ ...held, sandbox: 'down' })
  }

  #checkSpec(spec: GroupSpec, contents: GroupContents): void {
    checkSpec(spec, contents, { allowPrivileged: false, gpu: false, seccompText: true })
    const here = new Set(this.#files.images())
    for (const part of spec.parts) {
      if (!here.has(part.image) || readScript(part).pullError) {
        throw new EngineError('absent', `simulated: the image '${part.image}' is not here`)
      }
    }
  }

  #checkPorts(group: string, spec: GroupSpec): void {
    const wanted = new Set(spec.ports.map(hostPlace).filter((place) => place !== undefined))
    if (wanted.size === 0) return
    const taken = this.#files
      .list(this.#installation)
      .filter((each) => each.group !== group && each.sandbox === 'up')
      .flatMap((each) => each.ports.map(hostPlace))
      .find((place) => place !== undefined && wanted.has(place))
    if (taken !== undefined) throw new EngineError('busy', `simulated: ${taken} is already in use`)
  }

  #probeFails(part: SimulatedContainer): boolean {
    const after = part.script.probeFailAfterMs
    return after !== undefined && this.#clock.now() >= (part.startedAt ?? 0) + after
  }

  /** The current group. Changes that only time brings need not be written. */
  #look(group: string): SimulatedGroup | undefined {
    if (!isToken(group)) throw new EngineError('refused', `'${group}' is not a token`)
    const held = this.#files.read(this.#installation, group)
    if (held === undefined) return undefined
    const now = this.#clock.now()
    return { ...held, parts: held.parts.map((part) => ({ ...part, ...advance(part, now) })) }
  }

  #part(group: string, name: string): SimulatedContainer {
    return partOf(this.#look(group), name)
  }

  #runningPart(group: string, name: string): SimulatedContainer {
    const part = this.#part(group, name)
    if (stateOf(part, this.#clock.now()).kind === 'running') return part
    throw new EngineError('busy', `the container '${name}' does not run`)
  }

  #write(group: string, part: SimulatedContainer): void {
    const held = this.#look(group)
    if (held === undefined) return
    const parts = held.parts.map((each) => (each.name === part.name ? part : each))
    this.#save({ ...held, parts })
  }

  #tell(
    group: string,
    part: string,
    what: 'created' | 'started' | 'died' | 'removed',
    exitCode?: number,
  ): void {
    const at = this.#clock.now()
    const code = exitCode === undefined ? {} : { exitCode }
    this.#board.publish({ kind: 'part', group, part, what, at, ...code })
  }

  #save(group: SimulatedGroup): void {
    this.#files.write(group)
    this.#board.expect(group.group)
  }

  /** The next change of a group that only time brings, for the events. */
  #nextOf(group: string): Change | undefined {
    const now = this.#clock.now()
    const held = this.#look(group)
    let first: Change | undefined
    for (const part of held?.sandbox === 'up' ? held.parts : []) {
      const at = nextChange(part, now)
      if (at === undefined || (first !== undefined && first.at <= at)) continue
      const what = (part.startedAt ?? 0) > now ? 'started' : 'died'
      const code = what === 'died' ? { exitCode: part.script.end?.exitCode ?? 0 } : {}
      first = { at, event: { kind: 'part', group, part: part.name, what, at, ...code } }
    }
    return first
  }
}

function partOf(held: SimulatedGroup | undefined, name: string): SimulatedContainer {
  const part = held?.parts.find((each) => each.name === name)
  if (part === undefined) throw new EngineError('absent', `there is no container '${name}'`)
  return part
}

function endedBy(part: SimulatedContainer, now: number): NonNullable<SimulatedContainer['ended']> {
  // 143: the exit code of a program that ends at SIGTERM.
  return {
    exitCode: 143,
    startedAt: part.startedAt ?? now,
    finishedAt: now,
    reason: 'Error',
  }
}

function hostPlace(port: GroupSpec['ports'][number]): string | undefined {
  return port.publish?.port === undefined
    ? undefined
    : `${port.publish.address}:${port.publish.port}/${port.protocol}`
}
