/**
 * The container engine port: what a reconciler needs to make a group of containers real, look at it, and
 * remove every trace of it. It refuses to know what a group *should* be: it interprets no resource id, holds
 * no rule of the contract, and decides nothing that `nextStep` or its caller can decide.
 *
 * **Names.** A *group* is an opaque token of the caller (`isToken`); the engine derives the names of all it
 * makes from the installation's token, the group and the part, so a step repeated by a process that knows
 * nothing of the first attempt finds what is already there. Several installations may share one engine: all that
 * is made carries the labels of `labelsOf`, and nothing without them is ever touched.
 *
 * **Steps.** `pull`, `create`, `start`, `restart`, `stop`, `remove` are idempotent: the process may be killed
 * at any moment inside one, and calling it again ends in the same state. They do not lock: two callers
 * working on one group at once are kept apart by the caller's lease; a step that meets the other's half-done
 * work says `busy` or ends well, and `remove` called last always wins.
 *
 * **Secrets.** A `GroupSpec` holds none and may be stored, hashed and logged. `GroupContents` holds them, for
 * the length of one `create`; no engine puts them in labels, errors, logs or files of its own.
 *
 * **Errors.** Exactly `EngineError`. Anything else thrown is a fault of ours.
 */

/** The kinds of errors, by what the caller can do about them. */
export type EngineErrorKind =
  /** The group, part or image does not exist. */
  | 'absent'
  /**
   * Something else holds what is needed (a host port, a name that is being removed). The same call may succeed
   * later.
   */
  | 'busy'
  /** The engine refuses; the same call never succeeds. */
  | 'refused'
  /** The engine or a registry did not answer, or failed itself. */
  | 'unavailable'

const messageMax = 2000

/**
 * The only error of this port. The message is for people and holds no secret. What an engine says may be in it, so it is
 * cut and control characters are taken out.
 */
export class EngineError extends Error {
  readonly kind: EngineErrorKind
  readonly retry: 'later' | 'never'

  constructor(kind: EngineErrorKind, message: string, options?: ErrorOptions) {
    super(message.slice(0, messageMax).replace(/[\p{Cc}\p{Cs}]+/gu, ' '), options)
    this.name = 'EngineError'
    this.kind = kind
    this.retry = kind === 'busy' || kind === 'unavailable' ? 'later' : 'never'
  }
}

const tokenPattern = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/

/** Installation, group, part and volume names: 1 to 64 of `a-z`, `0-9` and inner `-`. */
export function isToken(text: string): boolean {
  return tokenPattern.test(text)
}

/** The labels of everything an engine makes for an installation. `part` is left out on volumes and the like. */
export function labelsOf(
  installation: string,
  group: string,
  hash: string,
  part?: string,
): Readonly<Record<string, string>> {
  return {
    'armature.installation': installation,
    'armature.group': group,
    'armature.hash': hash,
    ...(part === undefined ? {} : { 'armature.part': part }),
  }
}

/** What this engine is and what it does by itself. The caller does the rest. */
export interface EngineDescription {
  readonly kind: 'docker' | 'kubernetes' | 'simulated'
  /** For people: `Podman Engine 4.3.1 at unix:///run/podman/podman.sock`. */
  readonly title: string
  readonly version: string
  /** False when nothing really runs. */
  readonly runsPrograms: boolean
  /** The engine pulls images by itself (`pull` does nothing). */
  readonly pullsByItself: boolean
  /** The engine starts parts in order by itself (`start` does nothing). */
  readonly startsByItself: boolean
  /**
   * The engine restarts parts that have ended, with pauses that grow, and counts that in `restartCount`. Otherwise it
   * never restarts one, and the caller does, with `restart`.
   */
  readonly restartsByItself: boolean
  /** The engine runs liveness and readiness probes; otherwise the caller does, with `probe`. */
  readonly probesByItself: boolean
  /** The engine keeps the parts and logs of a stopped group. */
  readonly keepsStopped: boolean
  /** The engine can mount folders of the host (`host` volumes). */
  readonly hostFolders: boolean
  /** The engine counts what running parts use; otherwise `stats` is `refused`. */
  readonly measures: boolean
  /** The engine can give GPUs to a part; otherwise a spec that asks for one is `refused`. */
  readonly gpu: boolean
}

/** The source of a mounted folder. Names are tokens, unique in the group. */
export type VolumeSpec =
  /** An empty folder shared by the parts and removed with the group. Any user may write to it. */
  | { readonly kind: 'empty'; readonly name: string }
  /** Files of `GroupContents.files`, kept only in memory (tmpfs), never on a disk; for secrets. */
  | { readonly kind: 'files'; readonly name: string; readonly fileMode: number }
  /** Unpacked once from the tar stream of `GroupContents.archives`, such as a clone of a git repository. */
  | { readonly kind: 'archive'; readonly name: string }
  /** A folder of the engine's host, as an absolute path. The caller decides whether it may be used. */
  | { readonly kind: 'host'; readonly name: string; readonly folder: string }

export interface MountSpec {
  readonly volume: string
  readonly path: string
  readonly readOnly: boolean
}

export interface SecuritySpec {
  /** `refused` unless the operator opened the engine with `allowPrivileged`. */
  readonly privileged?: boolean
  readonly allowPrivilegeEscalation?: boolean
  /** Capabilities beyond those that every container has; allowed like `privileged`. */
  readonly addCapabilities?: readonly string[]
  readonly dropCapabilities?: readonly string[]
  readonly user?: number
  readonly group?: number
  /** A seccomp profile as JSON text; `refused` when the engine's API takes none. */
  readonly seccompProfile?: string
}

/** One container. */
export interface ContainerSpec {
  /** A token, unique among all parts, `init` ones included. */
  readonly name: string
  /** Runs to its end, with exit code 0, before the next part is started. In the order of `GroupSpec.parts`. */
  readonly init: boolean
  readonly image: string
  /** Replaces the image's entry point and command when given and not empty. */
  readonly command?: readonly string[]
  /** Not for secrets: see `GroupContents.environment`. */
  readonly environment: readonly { readonly name: string; readonly value: string }[]
  readonly mounts: readonly MountSpec[]
  /** Upper bounds; unbounded when left out. `cpu` is in cores. */
  readonly limits: {
    readonly cpu?: number
    readonly memoryBytes?: number
    readonly processes?: number
  }
  /** How many GPUs. */
  readonly gpu?: number
  readonly security?: SecuritySpec
  /** The engine runs it only when it `probesByItself`; otherwise the caller uses `probe`. */
  readonly liveness?: ProbeSchedule
  readonly readiness?: ProbeSchedule
}

export interface ProbeSchedule {
  readonly probe: Probe
  readonly initialDelaySeconds: number
  readonly periodSeconds: number
  readonly timeoutSeconds: number
  readonly failureThreshold: number
  readonly successThreshold: number
}

export interface PortSpec {
  readonly port: number
  readonly protocol: 'tcp' | 'udp'
  /** When given, the part is reachable at this address of the host. Without `port` the engine chooses one. */
  readonly publish?: { readonly address: string; readonly port?: number }
}

interface DnsSpec {
  readonly servers: readonly string[]
  readonly searchDomains: readonly string[]
  readonly options: readonly string[]
}

/** Containers that share one network (localhost included), one set of volumes and one life. It holds no secret. */
export interface GroupSpec {
  /**
   * At most 64 characters of `a-z0-9`, without meaning. A different hash means a different spec; the engine only
   * compares it.
   */
  readonly hash: string
  readonly hostname?: string
  /**
   * What the engine does by itself when a part ends, also while no control plane runs. `init` parts of an
   * `always` group behave as `on-failure`.
   */
  readonly restart: 'always' | 'on-failure' | 'never'
  readonly parts: readonly ContainerSpec[]
  readonly volumes: readonly VolumeSpec[]
  readonly ports: readonly PortSpec[]
  readonly dns?: DnsSpec
}

export interface VolumeFile {
  /** One path segment: no `/`, not `.` or `..`. */
  readonly name: string
  readonly bytes: Uint8Array
}

/** The contents of a group beside its spec. Held for one call, never stored, never logged. */
export interface GroupContents {
  /**
   * Secret variables, by part and name. They override `ContainerSpec.environment`. Whoever may inspect the engine can
   * read a container's environment, so prefer `files` where the image allows it.
   */
  readonly environment?: ReadonlyMap<string, ReadonlyMap<string, string>>
  /** By `files` volume. */
  readonly files?: ReadonlyMap<string, readonly VolumeFile[]>
  /** By `archive` volume. Each call returns a new tar stream, since a step may be repeated. */
  readonly archives?: ReadonlyMap<string, () => AsyncIterable<Uint8Array>>
  /**
   * Credentials for the registries of the group's images, for an engine that `pullsByItself`; others get them at
   * `pull`.
   */
  readonly credentials?: readonly RegistryCredentials[]
}

/** Credentials for the registry in an image's name. Sent only to the engine, never stored. */
export interface RegistryCredentials {
  readonly server: string
  readonly username: string
  readonly password: string
}

export interface Termination {
  readonly exitCode: number
  readonly startedAt: number
  readonly finishedAt: number
  /**
   * `OutOfMemory` is a likelihood: killed by signal 9 under a memory limit (facts B.2: the engine's own flag
   * cannot be trusted). `CannotStart`: the engine could not run the command.
   */
  readonly reason: 'Completed' | 'Error' | 'OutOfMemory' | 'CannotStart'
}

/** Times are milliseconds since 1970 by the engine's clock. */
export type ContainerState =
  /** Made, never started. */
  | { readonly kind: 'created' }
  /** It has ended or is not up yet, and the engine will start it by itself. */
  | {
      readonly kind: 'waiting'
      readonly reason: string
      /** The image could not be pulled; the engine keeps trying. */
      readonly imageMissing?: true
    }
  | { readonly kind: 'running'; readonly startedAt: number }
  | ({ readonly kind: 'terminated' } & Termination)

export interface ObservedContainer {
  readonly name: string
  readonly hash: string
  readonly state: ContainerState
  /** Restarts made by the engine since the part was created. */
  readonly restartCount: number
  /** The run before the current one, as far as the engine still knows it; only its end is certain. */
  readonly previous?: {
    readonly startedAt?: number
    readonly finishedAt: number
    readonly exitCode?: number
  }
  /** The id of the image when the part was created. */
  readonly imageId: string
}

/** Everything the engine holds of a group. */
export interface ObservedGroup {
  /** The engine holds nothing: no part, volume or secret. */
  readonly empty: boolean
  /** The hash of the container that holds the shared network; undefined when there is none. */
  readonly hash: string | undefined
  /**
   * `up`: the shared network and the secrets are in place. `down`: they are gone (stopped, crashed, host
   * restarted) and do not come back: remove and create anew. `none`: never made.
   */
  readonly sandbox: 'none' | 'up' | 'down'
  /** In the order the parts were specified. */
  readonly parts: readonly ObservedContainer[]
  /** The group's address on the engine's own network. */
  readonly address: string | undefined
  readonly published: readonly {
    readonly port: number
    readonly protocol: 'tcp' | 'udp'
    readonly address: string
    readonly hostPort: number
  }[]
  /** The requested images that need no pull. */
  readonly imagesPresent: ReadonlySet<string>
}

/** An object with the installation's labels, for the sweep of orphans. */
export interface OwnedObject {
  readonly kind: 'container' | 'volume' | 'network' | 'secret' | 'service'
  readonly id: string
  readonly group: string
  readonly part: string | undefined
  readonly hash: string
}

export interface LocalImage {
  readonly name: string
  readonly id: string
  readonly sizeBytes: number
}

export interface LogOptions {
  /** Only this many last lines. */
  readonly tail?: number
  /** Each line begins with the time it was written. */
  readonly timestamps?: boolean
  /** Only lines written at or after this time. */
  readonly sinceMs?: number
  /** Continues until the part ends or `signal` fires; otherwise it ends with the last line. */
  readonly follow?: boolean
  readonly signal?: AbortSignal
}

export interface TerminalSize {
  readonly rows: number
  readonly columns: number
}

/**
 * A connection to a process or a container. Disposing closes it and ends the process of an exec, where the engine
 * can; an attached container continues.
 */
export interface Session extends AsyncDisposable {
  /** Its output, both streams, as it arrives. Ends when the process ends. Can be read once. */
  readonly output: AsyncIterable<{ readonly stream: 'out' | 'error'; readonly bytes: Uint8Array }>
  /** Resolves when the engine has taken the bytes. `refused` for a session without input. */
  write(bytes: Uint8Array): Promise<void>
  /** Ends the input. */
  end(): void
  /** Does nothing without a terminal, or when the command has ended. */
  resize(size: TerminalSize): Promise<void>
  /** The exit code, after `output` has ended; undefined for an attached part that still runs. */
  exitCode(): Promise<number | undefined>
}

export interface ExecRequest {
  readonly command: readonly string[]
  /** Uses a terminal of this size; both streams come as `out`. */
  readonly terminal?: TerminalSize
  /** Takes input by `write`. */
  readonly input?: boolean
  /** Resolves when another command may begin that ends this one. */
  readonly turn?: (() => Promise<void>) | undefined
}

export type Probe =
  | ({ readonly kind: 'exec' } & Pick<ExecRequest, 'command' | 'turn'>)
  | {
      readonly kind: 'http'
      readonly scheme: 'http' | 'https'
      readonly port: number
      readonly path: string
      readonly headers: readonly { readonly name: string; readonly value: string }[]
    }

/** The result of one attempt. `message` is shown to the user in an event. */
export interface ProbeOutcome {
  readonly healthy: boolean
  readonly message: string
}

/** What the running parts of a group use, counted by the engine. */
export interface GroupStats {
  readonly running: readonly ContainerStats[]
  /** The network that the parts share, if the engine counts it. */
  readonly network?: NetworkStats
}

export interface ContainerStats {
  readonly name: string
  /** When it was counted, by the engine's clock, in milliseconds since 1970. */
  readonly at: number
  /** Processor time since the part started. */
  readonly cpuNanoseconds: number
  readonly memoryBytes: number
}

export interface NetworkStats {
  readonly at: number
  /** Since the group was started. */
  readonly receivedBytes: number
  readonly transmittedBytes: number
}

/**
 * Something may have changed. Events can be lost and repeated; `observe` returns the actual state. `ready` is the
 * first event: later changes are reported, so an observation after it misses nothing.
 */
export type EngineEvent =
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'part'
      readonly group: string
      readonly part: string | undefined
      readonly what: 'created' | 'started' | 'died' | 'removed' | 'changed'
      readonly at: number
      /** Comes with `died`, if the engine reports it: the only way to learn the exit code of each run. */
      readonly exitCode?: number
    }

export interface ContainerEngine extends AsyncDisposable {
  /** Called at start and by readiness checks. Changes nothing. `unavailable` when nobody answers. */
  describe(): Promise<EngineDescription>

  /**
   * Observes everything the engine holds of `group`, and which of `images` need no pull. Changes nothing. An
   * unknown group gives an empty observation, not an error.
   */
  observe(group: string, images?: readonly string[]): Promise<ObservedGroup>

  /**
   * Brings `image` to the engine unless it is there; with `refresh`, asks the registry in any case.
   * `absent`: the registry knows no such image. `refused`: it wants other credentials, or the name is
   * malformed. `unavailable`: it does not answer.
   */
  pull(
    image: string,
    options?: {
      readonly credentials?: RegistryCredentials
      readonly refresh?: boolean
      readonly signal?: AbortSignal
    },
  ): Promise<void>

  /**
   * Makes everything of the group, up to parts that are ready to be started: volumes, the shared network
   * with its published ports, file contents, parts. What is there with the same hash is kept, so a broken
   * try is completed. `busy` when something of another hash is in the way (remove it first) or a host port
   * is taken; `absent` when an image is missing; `refused` when the spec asks for what this engine cannot.
   */
  create(group: string, spec: GroupSpec, contents?: GroupContents): Promise<void>

  /**
   * Starts those of `parts` that were never started; others are left alone, so a part that ended at once
   * is not run twice. `refused` when a command cannot be run; the others are started all the same. Where the
   * engine made a part otherwise than `spec` says, the whole group is removed and nothing is started:
   * `refused`. An engine that starts parts by itself makes sure of that in `create`.
   */
  start(group: string, spec: GroupSpec, parts: readonly string[]): Promise<void>

  /**
   * Restarts a part, unless it was started again since `startedAt` (as last observed): for a failed liveness probe,
   * a part the engine has given up, or one of an engine that does not restart by itself. `absent` when there is no such part.
   */
  restart(
    group: string,
    part: string,
    options: { readonly startedAt: number; readonly graceSeconds: number },
  ): Promise<void>

  /**
   * Stops all parts at once, politely for `graceSeconds`, then by force, and frees their processors, memory,
   * address and host ports. Nothing starts again by itself. A missing group is no error.
   */
  stop(group: string, graceSeconds: number): Promise<void>

  /** Removes everything of the group at once, running or not, whatever its hash. A missing group is no error. */
  remove(group: string): Promise<void>

  /**
   * Everything with the installation's labels, in no order. Images are not included. Where an engine does not answer for a
   * container, it may name each group by its volumes alone.
   */
  list(): Promise<readonly OwnedObject[]>

  /** Images that need no pull. */
  images(): Promise<readonly LocalImage[]>

  /**
   * The part's output as written, both streams, chunk by chunk, never held in memory. Rotated output is gone.
   * `absent` when there is no such part; a part that never started has no output.
   */
  logs(group: string, part: string, options?: LogOptions): AsyncIterable<Uint8Array>

  /** Runs a command inside a running part. `absent` without such a part, `busy` while it does not run. */
  exec(group: string, part: string, request: ExecRequest): Promise<Session>

  /** Follows a running part's output from now on, without input. Errors as `exec`. */
  attach(group: string, part: string): Promise<Session>

  /**
   * Tries a probe once. A part that does not run, a wrong status and a timeout are unhealthy; only an engine that
   * cannot try throws. HTTP goes to the group's own address, from this process.
   */
  probe(group: string, part: string, probe: Probe, timeoutSeconds: number): Promise<ProbeOutcome>

  /**
   * Statistics of the running parts. `absent` when the engine holds nothing of the group; `refused` by an engine that
   * does not measure.
   */
  stats(group: string): Promise<GroupStats>

  /** Ends when `signal` fires. Throws `unavailable` when the engine goes away; call it again, then observe. */
  events(signal: AbortSignal): AsyncIterable<EngineEvent>
}
