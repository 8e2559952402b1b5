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

/** What went wrong, by what the caller can do about it. */
export type EngineErrorKind =
  /** The group, part or image asked for is not there. */
  | 'absent'
  /** Something else holds what is needed (a host port, a name half removed): the same call may work later. */
  | 'busy'
  /** The engine understood and will not: the same call never works. */
  | 'refused'
  /** The engine or the registry behind it did not answer, or failed itself. */
  | 'unavailable'

/** The only error of this port. The message is for people and holds no secret. */
export class EngineError extends Error {
  readonly kind: EngineErrorKind
  readonly retry: 'later' | 'never'

  constructor(kind: EngineErrorKind, message: string, options?: ErrorOptions) {
    super(message, options)
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

/** The labels on everything an engine makes for an installation. `part` is left out on volumes and the like. */
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

/** What this engine is and does by itself, so that the caller does the rest. */
export interface EngineDescription {
  readonly kind: 'docker' | 'kubernetes' | 'simulated'
  /** For people: `Podman Engine 4.3.1 at unix:///run/podman/podman.sock`. */
  readonly title: string
  readonly version: string
  /** False where nothing really runs. */
  readonly runsPrograms: boolean
  /** Pulls images without being asked (`pull` then does nothing). */
  readonly pullsByItself: boolean
  /** Starts parts in order without being asked (`start` then does nothing). */
  readonly startsByItself: boolean
  /** Runs liveness and readiness probes; otherwise the caller does, by `probe`. */
  readonly probesByItself: boolean
  /** Still shows the parts and logs of a stopped group. */
  readonly keepsStopped: boolean
  /** Binds folders of the host (`host` volumes). */
  readonly hostFolders: boolean
  /** Can give GPUs to a part; a spec that asks for one is `refused` otherwise. */
  readonly gpu: boolean
}

/** Where a mounted folder comes from. Names are tokens, unique in the group. */
export type VolumeSpec =
  /** An empty folder shared by the parts, gone with the group. Writable by any user. */
  | { readonly kind: 'empty'; readonly name: string }
  /** Files of `GroupContents.files`, kept in memory (tmpfs) only, never on a disk; for secrets. */
  | { readonly kind: 'files'; readonly name: string; readonly fileMode: number }
  /** Unpacked once from the tar stream of `GroupContents.archives`; a clone of a git repository, say. */
  | { readonly kind: 'archive'; readonly name: string }
  /** A folder of the engine's host, absolute. Whether it may be given is the caller's rule. */
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
  /** Capabilities on top of those that every container has; allowed as `privileged` is. */
  readonly addCapabilities?: readonly string[]
  readonly dropCapabilities?: readonly string[]
  readonly user?: number
  readonly group?: number
  /** A seccomp profile as JSON text; `refused` where the engine takes none by its API. */
  readonly seccompProfile?: string
}

/** One container. */
export interface PartSpec {
  /** A token, unique among all parts, `init` ones included. */
  readonly name: string
  /** Runs to its end, with code 0, before the next part is started. In the order of `GroupSpec.parts`. */
  readonly init: boolean
  readonly image: string
  /** Replaces the image's entry point and command when given and not empty. */
  readonly command?: readonly string[]
  /** Not for secrets: see `GroupContents.environment`. */
  readonly environment: readonly { readonly name: string; readonly value: string }[]
  readonly mounts: readonly MountSpec[]
  /** Upper bounds; left out is unbounded. `cpu` is in cores. */
  readonly limits: {
    readonly cpu?: number
    readonly memoryBytes?: number
    readonly processes?: number
  }
  /** How many GPUs. */
  readonly gpu?: number
  readonly security?: SecuritySpec
  /** Run by the engine only where it `probesByItself`; the caller gives the others to `probe`. */
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
  /** Given: reachable at this address of the host. `port` left out lets the engine choose one. */
  readonly publish?: { readonly address: string; readonly port?: number }
}

interface DnsSpec {
  readonly servers: readonly string[]
  readonly searchDomains: readonly string[]
  readonly options: readonly string[]
}

/** Containers that share one network (localhost included), one set of volumes and one life. No secret in it. */
export interface GroupSpec {
  /** Opaque, at most 64 of `a-z0-9`. Another hash is another spec; the engine compares it, and no more. */
  readonly hash: string
  readonly hostname?: string
  /**
   * What the engine does by itself when a part ends, also while no control plane runs. `init` parts of an
   * `always` group behave as `on-failure`.
   */
  readonly restart: 'always' | 'on-failure' | 'never'
  readonly parts: readonly PartSpec[]
  readonly volumes: readonly VolumeSpec[]
  readonly ports: readonly PortSpec[]
  readonly dns?: DnsSpec
}

export interface VolumeFile {
  /** One segment: no `/`, not `.` or `..`. */
  readonly name: string
  readonly bytes: Uint8Array
}

/** What goes into a group beside its spec. Held for one call, never stored, never logged. */
export interface GroupContents {
  /**
   * Secret variables: part, then name. They win over `PartSpec.environment`. Whoever may inspect the engine
   * can read a container's environment: prefer `files` where the image allows.
   */
  readonly environment?: ReadonlyMap<string, ReadonlyMap<string, string>>
  /** For each `files` volume. */
  readonly files?: ReadonlyMap<string, readonly VolumeFile[]>
  /** For each `archive` volume; a fresh tar stream at each call, since a step may be repeated. */
  readonly archives?: ReadonlyMap<string, () => AsyncIterable<Uint8Array>>
  /** For the registries of the group's images, where the engine `pullsByItself`; others are told at `pull`. */
  readonly credentials?: readonly RegistryCredentials[]
}

/** For the registry an image names. Sent to the engine over its own connection, never stored. */
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
export type PartState =
  /** Made, never started. */
  | { readonly kind: 'created' }
  /** Ended or not yet up, and the engine will start it by itself. */
  | {
      readonly kind: 'waiting'
      readonly reason: string
      /** It waits for an image that was asked for in vain; the engine goes on asking. */
      readonly imageMissing?: true
    }
  | { readonly kind: 'running'; readonly startedAt: number }
  | ({ readonly kind: 'terminated' } & Termination)

export interface ObservedPart {
  readonly name: string
  readonly hash: string
  readonly state: PartState
  /** Restarts made by the engine since the part was created. */
  readonly restartCount: number
  /** The run before the present one, as far as the engine still knows: all but its end may be unknown. */
  readonly previous?: {
    readonly startedAt?: number
    readonly finishedAt: number
    readonly exitCode?: number
  }
  /** The image's own id, as it was when the part was created. */
  readonly imageId: string
}

/** All the engine holds of a group, at one look. */
export interface ObservedGroup {
  /** Nothing at all is held: no part, volume or secret. */
  readonly empty: boolean
  /** The hash on the container that holds the shared network; undefined when there is none. */
  readonly hash: string | undefined
  /**
   * `up`: the shared network and the secrets are in place. `down`: they are gone (stopped, crashed, host
   * restarted) and do not come back: remove and create anew. `none`: never made.
   */
  readonly sandbox: 'none' | 'up' | 'down'
  /** In the order the parts were specified. */
  readonly parts: readonly ObservedPart[]
  /** The group's address on the engine's own network. */
  readonly address: string | undefined
  readonly published: readonly {
    readonly port: number
    readonly protocol: 'tcp' | 'udp'
    readonly address: string
    readonly hostPort: number
  }[]
  /** Those of the images asked about that need no pull. */
  readonly imagesPresent: ReadonlySet<string>
}

/** Something with the installation's labels, for the sweep of what nobody owns any more. */
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
  /** Only the last so many lines. */
  readonly tail?: number
  /** Each line opens with the time it was written. */
  readonly timestamps?: boolean
  /** Only lines written at or after this time. */
  readonly sinceMs?: number
  /** Goes on until the part ends or `signal` fires; otherwise ends with the last line written. */
  readonly follow?: boolean
  readonly signal?: AbortSignal
}

export interface TerminalSize {
  readonly rows: number
  readonly columns: number
}

/**
 * A process or a container one talks with. Disposing closes the connection and ends what an exec began, where the engine
 * can; an attached container goes on.
 */
export interface Session extends AsyncDisposable {
  /** What it writes, both streams, as it comes. Ends when it ends. Read once. */
  readonly output: AsyncIterable<{ readonly stream: 'out' | 'error'; readonly bytes: Uint8Array }>
  /** Resolves when the engine has taken the bytes. `refused` for a session without input. */
  write(bytes: Uint8Array): Promise<void>
  /** No more input. */
  end(): void
  /** Does nothing without a terminal. */
  resize(size: TerminalSize): Promise<void>
  /** The exit code, once `output` has ended; undefined for an attached part that still runs. */
  exitCode(): Promise<number | undefined>
}

export interface ExecRequest {
  readonly command: readonly string[]
  /** A terminal of this size; both streams come as `out`. */
  readonly terminal?: TerminalSize
  /** Takes input by `write`. */
  readonly input?: boolean
}

export type Probe =
  | { readonly kind: 'exec'; readonly command: readonly string[] }
  | {
      readonly kind: 'http'
      readonly scheme: 'http' | 'https'
      readonly port: number
      readonly path: string
      readonly headers: readonly { readonly name: string; readonly value: string }[]
    }

/** One attempt. The user reads `message` in an event. */
export interface ProbeOutcome {
  readonly healthy: boolean
  readonly message: string
}

export interface PartStats {
  readonly name: string
  readonly cpuNanoseconds: number
  readonly memoryBytes: number
}

/**
 * Something may have changed. Events can be lost and repeated; `observe` answers the actual state. `ready` is the
 * first event: later changes are reported, so one look after it misses nothing.
 */
export type EngineEvent =
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'part'
      readonly group: string
      readonly part: string | undefined
      readonly what: 'created' | 'started' | 'died' | 'removed' | 'changed'
      readonly at: number
      /** With `died`, where the engine reports it: the only way to learn the code of each run. */
      readonly exitCode?: number
    }

export interface ContainerEngine extends AsyncDisposable {
  /** Asked at start and by readiness checks. Changes nothing. `unavailable` when nobody answers. */
  describe(): Promise<EngineDescription>

  /**
   * Looks at all the engine holds of `group`, and which of `images` need no pull. Changes nothing. A group
   * never heard of is an empty observation, not an error.
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
   * Stops and starts one part, unless it was started again since `startedAt` (as last observed): for a
   * failed liveness probe, or a part the engine has given up. `absent` when there is no such part.
   */
  restart(
    group: string,
    part: string,
    options: { readonly startedAt: number; readonly graceSeconds: number },
  ): Promise<void>

  /**
   * Ends all parts at once, politely for `graceSeconds`, then by force, and gives up their processors,
   * memory, address and host ports. Nothing starts again by itself. Nothing there is fine.
   */
  stop(group: string, graceSeconds: number): Promise<void>

  /** Removes everything of the group at once, running or not, whatever its hash. Nothing there is fine. */
  remove(group: string): Promise<void>

  /** Everything that carries the installation's labels, in no order. Images are not owned. */
  list(): Promise<readonly OwnedObject[]>

  /** Images that need no pull. */
  images(): Promise<readonly LocalImage[]>

  /**
   * The part's output as written, both streams, chunk by chunk as read: never held in memory. What the
   * engine has rotated away is gone. `absent` when there is no such part; a part never started has none.
   */
  logs(group: string, part: string, options?: LogOptions): AsyncIterable<Uint8Array>

  /** Runs a command inside a running part. `absent` without such a part, `busy` while it does not run. */
  exec(group: string, part: string, request: ExecRequest): Promise<Session>

  /** Follows a running part's output from now on. It takes no input. Errors as `exec`. */
  attach(group: string, part: string): Promise<Session>

  /**
   * Tries a probe once. A part that does not run, a wrong status and a timeout are unhealthy; only an engine
   * that cannot even try throws. HTTP goes to the group's own address, from where this process runs.
   */
  probe(group: string, part: string, probe: Probe, timeoutSeconds: number): Promise<ProbeOutcome>

  /** Statistics of the running parts. `absent` when nothing of the group is there. */
  stats(group: string): Promise<readonly PartStats[]>

  /** Ends when `signal` fires; throws `unavailable` when the engine goes away (ask again, then look). */
  events(signal: AbortSignal): AsyncIterable<EngineEvent>
}
