/**
 * The database engine port: what a reconciler needs to look at database servers, judge whether a migration
 * can work, run it, steer it and remove every trace of it. It refuses to know what a migration *should* do
 * next: it interprets no resource id, holds no state machine of the contract, and waits for nobody's consent
 * (the caller asks for consents, and puts them into the specification).
 *
 * **Names.** A *migration* is an opaque token of the caller (`isToken`), never used again for another one.
 * The names of all that is made on the two servers derive from it, so a process that knows nothing of the
 * first try finds what is already there; nothing without those names or marks is ever dropped.
 *
 * **Who works.** `run` starts a worker: a process of its own that carries the data and outlives the caller.
 * The worker alone touches the two servers on the migration's behalf (`inspect`, `survey` and `validate`
 * look, and change nothing; `setUpReplication` says what it changes). What it has done stands in a durable
 * record that `observe` reads; what it is asked to do (`cutover`, `cancel`) stands in another. Both survive
 * crashes of either process: after a crash of the caller the worker goes on and `observe` finds it; after a
 * crash of the worker `observe` says `lost` and the next `run` starts another, which resumes, starts a
 * database over, or cleans up, by what the record and the servers' catalogs say.
 *
 * **Secrets.** A `MigrationSpec` holds none and may be stored and logged. `Credentials` are held for one
 * call or, in the worker, in memory; no engine writes them to a file, an argument list, a log or an error.
 * (An online migration's subscription holds the source's password on the target server until it is dropped.)
 *
 * **Errors.** Exactly `DatabaseEngineError`. Anything else thrown is a fault of ours.
 */

/** What went wrong, by what the caller can do about it. */
export type DatabaseEngineErrorKind =
  /** The migration or server asked for is not there. */
  | 'absent'
  /** Something else holds what is needed: the same call may work later. */
  | 'busy'
  /** The server or the engine understood and will not: the same call never works. */
  | 'refused'
  /** A server did not answer, or failed itself. */
  | 'unavailable'

/** The numbers of the migration service that clients match on (facts 8.5); more may come. */
export type ErrorNumber = number

/** The only error of this port. The message is for people and holds no secret. */
export class DatabaseEngineError extends Error {
  readonly kind: DatabaseEngineErrorKind
  readonly retry: 'later' | 'never'
  /** Where the facts give a number: 603000 connection, 603001 TLS, 603100 authentication and so on. */
  readonly number: ErrorNumber | undefined

  constructor(
    kind: DatabaseEngineErrorKind,
    message: string,
    options: ErrorOptions & { readonly number?: ErrorNumber | undefined } = {},
  ) {
    super(message, options)
    this.name = 'DatabaseEngineError'
    this.kind = kind
    this.retry = kind === 'busy' || kind === 'unavailable' ? 'later' : 'never'
    this.number = options.number
  }
}

const tokenPattern = /^[a-z0-9]{1,40}$/

/** Migration tokens: 1 to 40 of `a-z` and `0-9` (a UUID without its hyphens is one). */
export function isToken(text: string): boolean {
  return tokenPattern.test(text)
}

export type SslMode =
  /** TLS when the server offers it, without looking at its certificate. */
  | 'prefer'
  /** TLS or nothing, without looking at the certificate. */
  | 'require'
  /** The certificate must come from a known authority. */
  | 'verify-ca'
  /** And must be of this host. */
  | 'verify-full'

/** Where a server is and as whom to speak to it. */
export interface ServerAddress {
  readonly host: string
  readonly port: number
  readonly user: string
  /** A database to connect to before any other is known; `postgres` when left out. */
  readonly database?: string
  readonly sslMode: SslMode
  /** PEM of the authorities to trust in the `verify` modes; those of the system when left out. */
  readonly rootCertificates?: string
}

/** A server and the password for it, for calls that look. */
export interface ServerAccess {
  readonly address: ServerAddress
  readonly password: string
}

interface ServerDatabase {
  readonly name: string
  readonly owner: string
  readonly encoding: string
  readonly collation: string
  readonly sizeBytes: number
}

/** What a server says of itself. */
export interface ServerFacts {
  /** `15.18`. */
  readonly version: string
  readonly major: number
  /** Was this connection encrypted? */
  readonly encrypted: boolean
  readonly superuser: boolean
  /** In milliseconds since 1970, by the server. */
  readonly startedAt: number
  readonly sharedBuffersBytes: number
  readonly connectionsMax: number
  readonly walLevel: string
  /** Sum over all databases that may be connected to. */
  readonly dataBytes: number
  /** Without templates and those that refuse connections, in the order of their names. */
  readonly databases: readonly ServerDatabase[]
}

/** A database to be made. What is left out is the server's own. */
export interface DatabaseWanted {
  readonly name: string
  readonly encoding?: string
  readonly collation?: string
}

/** One setting of a server, of those that its user may see. */
export interface ServerSetting {
  readonly name: string
  readonly value: string
  readonly type: 'bool' | 'enum' | 'integer' | 'real' | 'string'
  /** What it is where nobody sets it. */
  readonly builtIn: string
  readonly unit: string
  readonly description: string
  /** Of an `enum`. */
  readonly words: readonly string[]
  /** Of a number. */
  readonly least: string | null
  readonly most: string | null
  /** Who set it: `default`, `configuration file`, … */
  readonly source: string
  /** Nobody can. */
  readonly isFixed: boolean
  readonly needsRestart: boolean
  readonly awaitsRestart: boolean
}

/**
 * Does cutover keep writers out of the source? `none`: the user has stopped them. `cutover`: while it drains; then the
 * source is as it was, and an application that comes back to it writes what the target will not have. `stay`: from
 * then on, until its owner opens it; a cutover that is broken off opens it in any case.
 */
export type Fence = 'none' | 'cutover' | 'stay'

/** How much is compared before a database counts as migrated. A difference fails the database. */
export type Verification =
  | 'none'
  /** Rows of every table. */
  | 'counts'
  /** And a checksum over every row: reads everything on both sides once more. */
  | 'checksums'

/** All that a migration is to do. No secret in it. Once run it never changes. */
export interface MigrationSpec {
  readonly mode: 'offline' | 'online'
  readonly source: ServerAddress
  readonly target: ServerAddress
  /**
   * Online: the source as the *target server* reaches it, where that differs from how we do
   * (facts A.7, 9: `127.0.0.1` means something else in there).
   */
  readonly sourceFromTarget?: { readonly host: string; readonly port: number }
  /**
   * Online, in the `verify` modes: the file *at the target server* that holds the authorities it trusts the source
   * by, or `system` for those of its operating system (from version 16). Its own default when left out.
   */
  readonly authoritiesAtTarget?: string
  /** Migrated one after the other up to `databasesAtOnce`, in this order. Each named once; at least one. */
  readonly databases: readonly string[]
  /**
   * A database of that name at the target that this migration did not make may be dropped. Without it such
   * a database fails with number 603101 and is left alone.
   */
  readonly overwrite: boolean
  /** Roles, memberships and passwords (these where the source's user may read them) are made first. */
  readonly roles: boolean
  /** Online: tables without a replica identity may get one for as long as the migration lasts. */
  readonly setUpReplication: boolean
  readonly fence: Fence
  readonly verify: Verification
  /** Gather the target's planner statistics after the copy. */
  readonly analyze: boolean
  /** Pairs of connections that copy tables of one database, 1 to 16. */
  readonly tablesAtOnce: number
  /** Databases that are copied at the same time, 1 to 16; those that wait for their cutover do not count. */
  readonly databasesAtOnce: number
  /** What the target is said to have in all; a copy that will not go in is not begun. Not judged when left out. */
  readonly targetStorageBytes?: number
}

/** Held for one call, and by the worker in memory. */
export interface Credentials {
  readonly sourcePassword: string
  readonly targetPassword: string
}

export type FindingState = 'Failed' | 'Succeeded' | 'Warning'

/** One check of a validation. Messages say what is wrong and what to do about it. */
export interface Finding {
  /** Stable and free of spaces: `ServerVersion`, `ReplicaIdentity`. */
  readonly type: string
  /** The worst of its messages; `Succeeded` without any. */
  readonly state: FindingState
  readonly messages: readonly { readonly state: FindingState; readonly message: string }[]
}

export interface ValidationReport {
  /** The worst of all findings. */
  readonly state: FindingState
  readonly startedAt: number
  readonly endedAt: number
  readonly server: readonly Finding[]
  readonly databases: readonly {
    readonly name: string
    readonly startedAt: number
    readonly endedAt: number
    readonly findings: readonly Finding[]
  }[]
}

/** What a caller must know to ask its user for consents. */
export interface Survey {
  /** Those of the source that could be migrated: no templates, not the maintenance database. */
  readonly sourceDatabases: readonly string[]
  /** Of the databases asked about: those the target has, and whether this migration made them. */
  readonly targetDatabases: readonly { readonly name: string; readonly made: boolean }[]
  /** Of the databases asked about: those the source has not. */
  readonly missing: readonly string[]
  readonly replication: ReplicationReadiness
}

/** Can the source replicate logically? */
export type ReplicationReadiness =
  | { readonly kind: 'ready' }
  /** `setUpReplication` (for settings) and `MigrationSpec.setUpReplication` (for tables) would mend it. */
  | { readonly kind: 'consent-needed'; readonly reasons: readonly string[] }
  /** The settings are written; the server's operator must restart it. */
  | { readonly kind: 'restart-needed'; readonly reasons: readonly string[] }

/** Where a database is. In this order, though offline skips some; the last four are ends. */
export type DatabasePhase =
  | 'queued'
  /** Target database, replica identities, publication, slot, snapshot. */
  | 'preparing'
  | 'schema'
  | 'copying'
  /** Indexes, constraints, triggers, views. */
  | 'indexing'
  /** Offline: sequences, statistics, verification. */
  | 'finishing'
  /** Online: changes flow; waits for `cutover`. */
  | 'replicating'
  | 'cutting-over'
  /** Cancel was asked for and its traces are being removed. */
  | 'canceling'
  /** It failed and its traces are being removed. */
  | 'cleaning-up'
  | 'succeeded'
  | 'failed'
  | 'canceled'

export function isEnd(phase: DatabasePhase): boolean {
  return phase === 'succeeded' || phase === 'failed' || phase === 'canceled'
}

export interface ObservedTable {
  /** `schema.table`, quoted where SQL would need it. */
  readonly name: string
  readonly state: 'queued' | 'loading' | 'completed' | 'errored'
  /** Of the table on the source's disk, the base for a share done. */
  readonly bytesTotal: number
  /** Bytes of copied rows on the wire; may end above or below `bytesTotal`. */
  readonly bytesCopied: number
  /** Known when completed. */
  readonly rows: number | undefined
  /** Since the table was begun; over all its time once completed. */
  readonly bytesPerSecond: number
  readonly message?: string
}

/** The counters of the contract's per-database record (facts A.5), unclamped. */
export interface DatabaseCounters {
  readonly fullLoadQueuedTables: number
  readonly fullLoadLoadingTables: number
  readonly fullLoadCompletedTables: number
  readonly fullLoadErroredTables: number
  /**
   * Row changes seen at the source since the snapshot; cumulative. Estimated from its statistics, which
   * count rolled-back changes too.
   */
  readonly incomingChanges: number
  /** Row changes made at the target: the sum of the three below. */
  readonly appliedChanges: number
  readonly cdcInsertCounter: number
  readonly cdcUpdateCounter: number
  readonly cdcDeleteCounter: number
  /** Age of the oldest change that the target has not confirmed; undefined outside the online phase. */
  readonly latencySeconds: number | undefined
}

export interface ObservedDatabase {
  readonly name: string
  readonly phase: DatabasePhase
  /** 1 for the first try. A crash before the online phase starts the database over, three times at most. */
  readonly attempt: number
  readonly startedAt: number | undefined
  readonly endedAt: number | undefined
  /** What it does, waits for, or failed of. */
  readonly message: string
  /** What stands in its way though nothing has failed; told within ten seconds. Empty when nothing does. */
  readonly warning: string
  /** With `failed` (and on the way there), where the facts give one. */
  readonly number: ErrorNumber | undefined
  readonly counters: DatabaseCounters
  readonly bytesTotal: number
  readonly bytesCopied: number
  readonly bytesPerSecond: number
  /** Those loading and errored first, then the largest; at most `observedTablesMax`. */
  readonly tables: readonly ObservedTable[]
  /** Online: WAL not yet confirmed by the target, and WAL the source keeps for it. */
  readonly bytesBehind: number | undefined
  readonly walHeldBytes: number | undefined
  /** From fence to done, once cut over. */
  readonly pauseMilliseconds: number | undefined
  /** What was compared, once it was. */
  readonly verified:
    | { readonly how: Verification; readonly tables: number; readonly rows: number }
    | undefined
}

export const observedTablesMax = 100

/** What has come of one table. */
export interface ReportedTable {
  readonly name: string
  readonly rows: number
  /** Of its rows on the wire. */
  readonly bytes: number
  readonly milliseconds: number
}

/** What has come of one database; whole once it is at an end. */
export interface DatabaseReport {
  readonly name: string
  readonly outcome: DatabasePhase
  readonly attempts: number
  readonly startedAt: number | undefined
  readonly endedAt: number | undefined
  readonly bytesCopied: number
  /** Row changes made at the target after the copy. */
  readonly appliedChanges: number
  readonly pauseMilliseconds: number | undefined
  readonly verified: ObservedDatabase['verified']
  /** What did not come along, and why. */
  readonly leftOut: readonly string[]
  readonly message: string
  /** The largest first; of the migration at most `reportedTablesMax`. */
  readonly tables: readonly ReportedTable[]
  readonly tablesNotShown: number
}

export const reportedTablesMax = 2000

/** A trace on a server that could not be removed yet; the worker tries again. */
export interface PendingCleanUp {
  readonly side: 'source' | 'target'
  readonly database: string
  readonly kind: 'subscription' | 'slot' | 'publication' | 'replica-identity' | 'fence' | 'database'
  readonly name: string
  /** Why not, the last time. */
  readonly reason: string
  /** Where the facts give one. */
  readonly number?: ErrorNumber
  readonly tries: number
}

export interface ObservedMigration {
  /**
   * `none`: never run, or forgotten. `running`: a worker is at it. `lost`: it ended in the middle, so call
   * `run` again. `ended`: all databases are at an end, nothing pending.
   */
  readonly worker: 'none' | 'running' | 'lost' | 'ended'
  /** When the worker last wrote, milliseconds since 1970; at most two seconds ago while it runs. */
  readonly updatedAt: number | undefined
  /** In the order of the specification. Empty with `none`. */
  readonly databases: readonly ObservedDatabase[]
  /** What `cutover` and `cancel` have asked for so far. */
  readonly asked: { readonly cutover: readonly string[]; readonly cancel: readonly string[] }
  readonly pendingCleanUps: readonly PendingCleanUp[]
  /** Why the worker as a whole cannot go on now (a server away, the lock held elsewhere); it tries again. */
  readonly message: string
}

interface DatabaseEngineDescription {
  /** For people: `PostgreSQL, client 15.18 in /usr/lib/postgresql/15/bin`. */
  readonly title: string
  /** Of the client programs found: sources up to this major version can be migrated. */
  readonly clientMajor: number | undefined
}

export interface DatabaseEngine extends AsyncDisposable {
  /** Asked at start and by readiness checks. Changes nothing. Never fails for missing client programs. */
  describe(): Promise<DatabaseEngineDescription>

  /**
   * Connects and reads. `unavailable` (603000) when nobody answers, `refused` with 603001 when TLS is not
   * as `sslMode` demands and with 603100 when the user or password is wrong.
   */
  inspect(server: ServerAccess): Promise<ServerFacts>

  /** What the server is set to, by name. Errors as `inspect`. */
  settings(server: ServerAccess): Promise<readonly ServerSetting[]>

  /** Makes an empty database. `refused` when the server will not (a name in use, an unknown collation). Errors as `inspect`. */
  createDatabase(server: ServerAccess, wanted: DatabaseWanted): Promise<void>

  /** Drops a database with all sessions on it; none of that name is fine. Errors as `inspect`. */
  dropDatabase(server: ServerAccess, name: string): Promise<void>

  /** What consents the migration needs, looked up on both servers. Errors as `inspect`. */
  survey(migration: string, spec: MigrationSpec, credentials: Credentials): Promise<Survey>

  /**
   * Runs every check, server by server and database by database. What a check finds wrong, an unreachable
   * server included, is a finding and not an error. The structure of each database is restored into a scratch
   * database of the target, which is dropped again; nothing else is changed.
   */
  validate(
    spec: MigrationSpec,
    credentials: Credentials,
    signal?: AbortSignal,
  ): Promise<ValidationReport>

  /**
   * Writes the settings that logical replication needs on the source, for good: they take effect when its
   * operator restarts it. Nothing to write is fine. `refused` when the user may not. Errors as `inspect`.
   */
  setUpReplication(source: ServerAccess): Promise<ReplicationReadiness>

  /**
   * Sees to it that a worker is at the migration, unless all is ended. Idempotent; called at each look of
   * the reconciler. `refused` when the migration was run with another specification (another address or
   * user of a server is none: a changed one is taken by the next worker) or no client program is found.
   */
  run(migration: string, spec: MigrationSpec, credentials: Credentials): Promise<void>

  /** What is known of it, without asking the servers. A migration never heard of is `none`, no error. */
  observe(migration: string): Promise<ObservedMigration>

  /** What has come of it, database by database, without asking the servers. Empty for one never heard of. */
  report(migration: string): Promise<readonly DatabaseReport[]>

  /**
   * Asks the worker to end the online phase of these databases, now or as soon as each has reached it. Those
   * at an end are left alone. `absent` for a migration never run; `refused` for an offline one (603114).
   */
  cutover(migration: string, databases: readonly string[]): Promise<void>

  /**
   * Asks the worker to carry over what was altered at the source of these databases since they were copied: columns,
   * defaults, constraints, indexes, tables and partitions with their rows, sequences, functions. What cannot be carried
   * over goes on to hold the cutover. Those at an end are left alone. Errors as `cutover`.
   */
  catchUp(migration: string, databases: readonly string[]): Promise<void>

  /**
   * Asks the worker to begin these databases anew, which have failed, while it is at the others, which go on as they
   * are. Those that have not failed are left alone. `absent` for a migration never run; `refused` for one at its end.
   */
  retry(migration: string, databases: readonly string[]): Promise<void>

  /**
   * Asks the worker to end these databases wherever they are and to leave the source as it was. A database
   * past the point of no return of its cutover succeeds all the same. What was copied stays, unless
   * `dropTarget`. `absent` for a migration never run; then there is nothing to cancel.
   */
  cancel(
    migration: string,
    databases: readonly string[],
    options?: { readonly dropTarget?: boolean },
  ): Promise<void>

  /**
   * What is left on the servers of what this migration made, from their catalogs. Empty is clean. For tests,
   * operators and the last look before `forget`. Errors as `inspect`.
   */
  traces(
    migration: string,
    spec: MigrationSpec,
    credentials: Credentials,
  ): Promise<readonly PendingCleanUp[]>

  /** Removes the record. `busy` while a worker runs or is lost with something to clean up. Nothing is fine. */
  forget(migration: string): Promise<void>

  /** Tokens of all migrations with a record, for the sweep of what nobody owns any more. */
  list(): Promise<readonly string[]>
}
