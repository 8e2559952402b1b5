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

/** The kinds of errors, by what the caller can do about them. */
export type DatabaseEngineErrorKind =
  /** The migration or server does not exist. */
  | 'absent'
  /** Something else holds what is needed: the same call may succeed later. */
  | 'busy'
  /** The server or the engine refuses; the same call never succeeds. */
  | 'refused'
  /** A server did not answer, or failed itself. */
  | 'unavailable'
  /** The engine ends, which says nothing of a server: the next process looks. */
  | 'ended'

/** The numbers of the migration service that clients compare (facts 8.5); more may come. */
export type ErrorNumber = number

/** The only error of this port. The message is for people and holds no secret. */
export class DatabaseEngineError extends Error {
  readonly kind: DatabaseEngineErrorKind
  readonly retry: 'later' | 'never'
  /** The number of the facts, if there is one: 603000 connection, 603001 TLS, 603100 authentication and so on. */
  readonly number: ErrorNumber | undefined

  constructor(
    kind: DatabaseEngineErrorKind,
    message: string,
    options: ErrorOptions & { readonly number?: ErrorNumber | undefined } = {},
  ) {
    super(message, options)
    this.name = 'DatabaseEngineError'
    this.kind = kind
    this.retry = kind === 'absent' || kind === 'refused' ? 'never' : 'later'
    this.number = options.number
  }
}

/** Migration tokens: 1 to 40 of `a-z` and `0-9` (a UUID without its hyphens is one). */
export function isToken(text: string): boolean {
  return /^[a-z0-9]{1,40}$/.test(text)
}

export type SslMode =
  /** Uses TLS when the server offers it, without checking its certificate. */
  | 'prefer'
  /** Requires TLS, without checking the certificate. */
  | 'require'
  /** Requires a certificate of a trusted authority. */
  | 'verify-ca'
  /** Also requires that the certificate is for this host. */
  | 'verify-full'

/** The address of a server and the user. */
export interface ServerAddress {
  readonly host: string
  readonly port: number
  readonly user: string
  /** The database to connect to before any other is known; `postgres` when left out. */
  readonly database?: string
  readonly sslMode: SslMode
  /** PEM of the authorities to trust in the `verify` modes; the system's when left out. */
  readonly rootCertificates?: string
}

/** A server and its password, for calls that only read. */
export interface ServerAccess {
  readonly address: ServerAddress
  readonly password: string
  readonly owner?: string // calls of one owner leave room for those of others
}

interface ServerDatabase {
  readonly name: string
  readonly owner: string
  readonly encoding: string
  readonly collation: string
  readonly sizeBytes: number
}

/** Facts that a server reports about itself. */
export interface ServerFacts {
  /** `15.18`. */
  readonly version: string
  readonly major: number
  /** Whether this connection is encrypted. */
  readonly encrypted: boolean
  readonly superuser: boolean
  /** Milliseconds since 1970, by the server's clock. */
  readonly startedAt: number
  readonly sharedBuffersBytes: number
  readonly connectionsMax: number
  readonly walLevel: string
  /** The sum over all databases that allow connections. */
  readonly dataBytes: number
  /** Without templates and those that refuse connections, in order of name. */
  readonly databases: readonly ServerDatabase[]
}

/** A database to be created. What is left out is the server's default. */
export interface DatabaseWanted {
  readonly name: string
  readonly encoding?: string
  readonly collation?: string
}

/** A setting of a server that its user may see. */
export interface ServerSetting {
  readonly name: string
  readonly value: string
  readonly type: 'bool' | 'enum' | 'integer' | 'real' | 'string'
  readonly builtIn: string
  readonly unit: string
  readonly description: string
  /** The values of an `enum`. */
  readonly words: readonly string[]
  readonly least: string | null
  readonly most: string | null
  /** Where the value comes from: `default`, `configuration file`, … */
  readonly source: string
  readonly isFixed: boolean
  readonly needsRestart: boolean
  readonly awaitsRestart: boolean
  readonly mayChange: boolean
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
  /** The number of rows of every table. */
  | 'counts'
  /** And a checksum over every row, which reads everything on both sides once more. */
  | 'checksums'

/** Everything a migration shall do, without secrets. It does not change after `run`. */
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
  /** Migrated in this order, `databasesAtOnce` at a time. At least one; no name twice. */
  readonly databases: readonly string[]
  /**
   * Whether a target database of the same name that this migration did not create may be dropped. Otherwise such a
   * database fails with number 603101 and is not touched.
   */
  readonly overwrite: boolean
  /** Roles, memberships and passwords are copied first (passwords only if the source's user may read them). */
  readonly roles: boolean
  /** Online: tables without a replica identity may get one while the migration runs. */
  readonly setUpReplication: boolean
  readonly fence: Fence
  readonly verify: Verification
  /** Gathers the target's planner statistics after the copy. */
  readonly analyze: boolean
  /** The number of connection pairs that copy tables of one database, 1 to 16. */
  readonly tablesAtOnce: number
  /** The number of databases copied at the same time, 1 to 16; those that wait for their cutover do not count. */
  readonly databasesAtOnce: number
  /** The target's total storage as registered. A copy that does not fit is not started. Not checked when left out. */
  readonly targetStorageBytes?: number
}

/** Held for one call, and in the worker's memory. */
export interface Credentials {
  readonly sourcePassword: string
  readonly targetPassword: string
  readonly owner?: string
}

export type FindingState = 'Failed' | 'Succeeded' | 'Warning'

/** One check of a validation. A message says what is wrong and how to fix it. */
export interface Finding {
  /** A stable name without spaces: `ServerVersion`, `ReplicaIdentity`. */
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
  /** Of the requested databases: those that exist at the target, and whether this migration created them. */
  readonly targetDatabases: readonly { readonly name: string; readonly made: boolean }[]
  /** Of the requested databases: those that do not exist at the source. */
  readonly missing: readonly string[]
  readonly replication: ReplicationReadiness
}

/** Whether the source can replicate logically. */
export type ReplicationReadiness =
  | { readonly kind: 'ready' }
  /** `setUpReplication` (for settings) or `MigrationSpec.setUpReplication` (for tables) would fix it. */
  | { readonly kind: 'consent-needed'; readonly reasons: readonly string[] }
  /** The settings are written; the server's operator must restart it. */
  | { readonly kind: 'restart-needed'; readonly reasons: readonly string[] }

/** The phases of a database, in this order; offline skips some. The last four are final. */
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
  /** Online: changes are replicated; waits for `cutover`. */
  | 'replicating'
  | 'cutting-over'
  /** A cancel was requested, and the migration's objects are being removed. */
  | 'canceling'
  /** It failed, and the migration's objects are being removed. */
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
  /** The table's size on the source's disk, for the share done. */
  readonly bytesTotal: number
  /** Bytes of copied rows on the wire; they may end above or below `bytesTotal`. */
  readonly bytesCopied: number
  /** Known when completed. */
  readonly rows: number | undefined
  /** Since the table was begun; the average over all its time once completed. */
  readonly bytesPerSecond: number
  readonly message?: string
}

/** The counters of the contract's per-database record (facts A.5), unclamped. */
export interface DatabaseCounters {
  readonly fullLoadQueuedTables: number
  readonly fullLoadLoadingTables: number
  readonly fullLoadCompletedTables: number
  readonly fullLoadErroredTables: number
  /** Row changes seen at the source since the snapshot, by its statistics, which also count rolled-back ones. */
  readonly incomingChanges: number
  /** Row changes applied at the target: the sum of the three below. */
  readonly appliedChanges: number
  readonly cdcInsertCounter: number
  readonly cdcUpdateCounter: number
  readonly cdcDeleteCounter: number
  /** The age of the oldest change that the target has not confirmed; undefined outside the online phase. */
  readonly latencySeconds: number | undefined
}

export interface ObservedDatabase {
  readonly name: string
  readonly phase: DatabasePhase
  /** 1 for the first attempt. A crash before the online phase starts the database over, three times at most. */
  readonly attempt: number
  readonly startedAt: number | undefined
  readonly endedAt: number | undefined
  /** What it does, waits for, or failed of. */
  readonly message: string
  /** What blocks it although nothing has failed; reported within ten seconds. Empty when nothing does. */
  readonly warning: string
  /** Set with `failed` (and on the way there), if the facts have a number. */
  readonly number: ErrorNumber | undefined
  readonly counters: DatabaseCounters
  readonly bytesTotal: number
  readonly bytesCopied: number
  readonly bytesPerSecond: number
  /** Tables that are loading or failed come first, then the largest; at most `observedTablesMax`. */
  readonly tables: readonly ObservedTable[]
  /** Online: WAL the target has not confirmed yet, and WAL the source keeps for it. */
  readonly bytesBehind: number | undefined
  readonly walHeldBytes: number | undefined
  /** From the fence to the end, after the cutover. */
  readonly pauseMilliseconds: number | undefined
  /** What was compared, after the comparison. */
  readonly verified:
    | { readonly how: Verification; readonly tables: number; readonly rows: number }
    | undefined
}

export const observedTablesMax = 100

/** The result of one table. */
export interface ReportedTable {
  readonly name: string
  readonly rows: number
  /** Bytes of its rows on the wire. */
  readonly bytes: number
  readonly milliseconds: number
  /** Absent where it was not compared. */
  readonly compared?: Omit<ComparedTable, 'name'>
}

export interface ComparedTable {
  readonly name: string
  readonly how: Verification
  /** The same at both ends, as all that was compared. */
  readonly rows: number
  /** Small tables are compared together, and each has its share. */
  readonly milliseconds: number
}

/** The result of one database; complete when it has ended. */
export interface DatabaseReport {
  readonly name: string
  readonly outcome: DatabasePhase
  readonly attempts: number
  readonly startedAt: number | undefined
  readonly endedAt: number | undefined
  readonly bytesCopied: number
  /** Row changes applied at the target after the copy. */
  readonly appliedChanges: number
  readonly pauseMilliseconds: number | undefined
  readonly verified: ObservedDatabase['verified']
  /** What was left out, and why. */
  readonly leftOut: readonly string[]
  readonly message: string
  /** The largest first; at most `reportedTablesMax` per migration. */
  readonly tables: readonly ReportedTable[]
  readonly tablesNotShown: number
}

export const reportedTablesMax = 2000

/** An object on a server that could not be removed yet; the worker tries again. */
export interface PendingCleanUp {
  readonly side: 'source' | 'target'
  readonly database: string
  readonly kind: 'subscription' | 'slot' | 'publication' | 'replica-identity' | 'fence' | 'database'
  readonly name: string
  /** The reason of the last failure. */
  readonly reason: string
  /** If the facts have a number. */
  readonly number?: ErrorNumber
  readonly tries: number
}

export interface ObservedMigration {
  /**
   * `none`: never run, or forgotten. `running`: a worker is at it. `lost`: it ended in the middle, so call
   * `run` again. `ended`: all databases are at an end, nothing pending.
   */
  readonly worker: 'none' | 'running' | 'lost' | 'ended'
  /** When the worker last wrote, in milliseconds since 1970; at most two seconds ago while it runs. */
  readonly updatedAt: number | undefined
  /** In the specification's order. Empty with `none`. */
  readonly databases: readonly ObservedDatabase[]
  /** What `cutover` and `cancel` have requested so far. */
  readonly asked: { readonly cutover: readonly string[]; readonly cancel: readonly string[] }
  readonly pendingCleanUps: readonly PendingCleanUp[]
  /** Why the worker as a whole cannot continue now (a server is away, another has the lock); it tries again. */
  readonly message: string
}

interface DatabaseEngineDescription {
  /** For people: `PostgreSQL, client 15.18 in /usr/lib/postgresql/15/bin`. */
  readonly title: string
  /** The major version of the client programs found. Sources up to it can be migrated. */
  readonly clientMajor: number | undefined
}

export interface DatabaseEngine extends AsyncDisposable {
  /** Called at start and by readiness checks. Changes nothing. Missing client programs are no failure. */
  describe(): Promise<DatabaseEngineDescription>

  /**
   * Connects and reads. `unavailable` (603000) when nobody answers, `refused` with 603001 when TLS is not as
   * `sslMode` requires and with 603100 when the user or password is wrong.
   */
  inspect(server: ServerAccess): Promise<ServerFacts>

  /** The server's settings, by name. Errors as `inspect`. */
  settings(server: ServerAccess): Promise<readonly ServerSetting[]>

  /** Writes a setting into the server's file, or takes it out (`undefined`). `refused` unless `mayChange`. */
  changeSetting(server: ServerAccess, name: string, value: string | undefined): Promise<void>

  /** Creates an empty database. `refused` for a name in use or an unknown collation. Errors as `inspect`. */
  createDatabase(server: ServerAccess, wanted: DatabaseWanted): Promise<void>

  /** Drops a database with all its sessions; a missing one is no error. Errors as `inspect`. */
  dropDatabase(server: ServerAccess, name: string): Promise<void>

  /** The consents that the migration needs, from both servers. Errors as `inspect`. */
  survey(migration: string, spec: MigrationSpec, credentials: Credentials): Promise<Survey>

  /**
   * Runs every check, server by server and database by database. What a check finds wrong, an unreachable
   * server included, is a finding and not an error. The structure of each database is restored into a scratch
   * database of the target, which is dropped again; nothing else is changed. Where what others have defined would run there with
   * the rights of a superuser, that is done only if the migration follows by itself (`isFollowed`).
   */
  validate(
    spec: MigrationSpec,
    credentials: Credentials,
    options?: { readonly signal?: AbortSignal; readonly isFollowed?: boolean },
  ): Promise<ValidationReport>

  /** Writes the settings that logical replication needs on the source, for its next restart. `refused` when the user may not. Errors as `inspect`. */
  setUpReplication(source: ServerAccess): Promise<ReplicationReadiness>

  /**
   * Sees to it that a worker is at the migration, unless all is ended. Idempotent; called at each look of the reconciler. `refused`
   * when it was run with another specification (not another address or user of a server), or no client program is found.
   */
  run(migration: string, spec: MigrationSpec, credentials: Credentials): Promise<void>

  /** Equal where the records and processes of the same workers are seen. Elsewhere a worker is `none` or `lost`. */
  place(): Promise<string>

  /** The known state, without contacting the servers. An unknown migration is `none`, no error. */
  observe(migration: string): Promise<ObservedMigration>

  /** The results, database by database, without contacting the servers. Empty for an unknown migration. */
  report(migration: string): Promise<readonly DatabaseReport[]>

  /**
   * Asks the worker to end the online phase of these databases, now or as soon as each has reached it. Those
   * at an end are left alone. `absent` for a migration never run; `refused` for an offline one (603114).
   */
  cutover(migration: string, databases: readonly string[]): Promise<void>

  /**
   * Asks the worker to carry over what was altered at the source of these databases since they were copied: columns, defaults, constraints,
   * indexes, tables and partitions with their rows, sequences, functions. What cannot be holds the cutover. Those at an end are left alone. Errors as `cutover`.
   */
  catchUp(migration: string, databases: readonly string[]): Promise<void>

  /**
   * Asks the worker to begin these databases anew, which have failed, while it is at the others, which go on as they
   * are. One that is still being cleaned up is begun after that. Those that have not failed are left alone. `absent` for a migration never run; `refused` for one at its end.
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

  /** What is left of this migration on the servers, by their catalogs. Empty means clean. Errors as `inspect`. */
  traces(
    migration: string,
    spec: MigrationSpec,
    credentials: Credentials,
  ): Promise<readonly PendingCleanUp[]>

  /** Removes the record. `busy` while a worker runs, or is lost with something to clean up. */
  forget(migration: string): Promise<void>

  /** Tokens of all migrations with a record, for the sweep of orphans. */
  list(): Promise<readonly string[]>
}
