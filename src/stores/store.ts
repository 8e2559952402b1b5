/**
 * The store port. A store knows rows, tags, leases and transactions; it never looks into a document and holds
 * no rule. What one answered write promises: it is durable, and it was all or nothing.
 *
 * Errors a caller must handle: `StoreConflict` (lost a race: read again, decide again) and
 * `StoreUnavailable` (later). Anything else is a fault.
 */

/** A resource at rest. */
export interface ResourceRow {
  /** Identity: the id in lower case. Primary key. Compared byte by byte, as ranges too. */
  readonly key: string
  /** The id as shown. */
  readonly id: string
  /** Fully qualified type in lower case: `vendor.authorization/roleassignments`. */
  readonly type: string
  /** Appears in generic resource lists. */
  readonly tracked: boolean
  /** Unique among all rows that have one; how types say "only one such" (`StoreConflict.unique`). */
  readonly uniqueKey: string | null
  /** Fresh at every change; what optimistic writes compare. */
  readonly etag: string
  /** Counts changes of the desired state; a reconciler works for one generation. */
  readonly generation: number
  /** JSON text. Opaque here. */
  readonly document: string
}

/** A long-running operation at rest. */
export interface OperationRow {
  readonly id: string
  readonly resourceKey: string
  /** JSON text: kind, status, times, error, who started it, where the result is. Opaque here. */
  readonly document: string
  /** Not ended yet. At most one such row per resource is ever written. */
  readonly running: boolean
  /** When it ended, milliseconds; null while running. Ended rows are swept by age. */
  readonly endedAt: number | null
}

/**
 * One record of the audit trail: the table `events`. Appended, never changed, removed by age. The area `activity`
 * says what its columns mean, and who reads and removes them.
 */
export interface EventRow {
  readonly at: number
  /** What was written, in lower case. */
  readonly key: string
  readonly action: string
  readonly status: string
  readonly principalId: string
  /** The name of the principal when it acted. */
  readonly caller: string
  readonly correlationId: string
  readonly operationId: string | null
  /** The subscription of `key` in lower case; empty outside of any. */
  readonly subscription: string
  /** JSON text, never with a secret in it. */
  readonly detail: string
}

export interface UniqueEntry {
  readonly uniqueKey: string
  readonly key: string
}

/** Unique keys that begin alike. */
export interface UniqueQuery {
  /** Not empty. */
  readonly prefix: string
  /** Unique keys after this one (exclusive). */
  readonly after?: string
  readonly limit: number
}

export interface ListQuery {
  /** Lower-case type; all types when left out. */
  readonly type?: string
  /** Only keys at or below this one: `prefix + '/'`; `'/'` is everything. */
  readonly under: string
  /** Only tracked rows. */
  readonly tracked?: boolean
  /** Keys after this one (exclusive): a range scan, so a page costs the page. */
  readonly after?: string
  readonly limit: number
  /**
   * The list ends with the row whose document brings the sum of all documents to this many bytes. Without it a list
   * may hold `limit` documents of any size.
   */
  readonly bytesMax?: number
}

/** A claim on one resource's pending work. Later writes name it, so a lost lease cannot commit. */
export interface Claim {
  readonly key: string
  readonly fence: number
  /** Consecutive attempts that ended in `retry`; 0 at first. */
  readonly attempt: number
}

/** Reads outside transactions see committed rows only. */
export interface Reads {
  get(key: string): Promise<ResourceRow | undefined>
  /** In key order, byte by byte. */
  list(query: ListQuery): Promise<readonly ResourceRow[]>
  /** How many rows, counted up to `limit`. */
  count(query: Omit<ListQuery, 'after'>): Promise<number>
  operation(id: string): Promise<OperationRow | undefined>
  runningOperation(resourceKey: string): Promise<OperationRow | undefined>
  /** The key of the row that has this unique key. */
  keyOfUnique(uniqueKey: string): Promise<string | undefined>
  /** The unique keys that begin so, with the keys of their rows, in the order of unique keys, byte by byte. */
  listUnique(query: UniqueQuery): Promise<readonly UniqueEntry[]>
}

export type LockMode = 'change' | 'share'

export interface Lock {
  readonly key: string
  readonly mode: LockMode
}

/**
 * The calls inside a transaction. Work passed to `transact` may await these calls only: no timers, no sockets, no
 * other transaction, no read of the store beside this one (which throws a fault at once). It may run more than once
 * (a lost race is retried), so it must have no other effects.
 */
export interface Tx extends Reads {
  /**
   * Like `get`, and the row cannot change until the transaction ends. `share`: others may read-lock it too, but
   * nobody may change it (for parents of what is written).
   */
  lock(key: string, mode: LockMode): Promise<ResourceRow | undefined>
  /**
   * Begins locks that `lock` will be called for, in the order in which it would take them. Where a database server takes
   * them, all are one way to it; the first `lock` of each of these keys waits for its answer.
   */
  lockAhead?(locks: readonly Lock[]): void
  /** Adds a row; `StoreConflict` when the key or the unique key is taken. */
  insert(row: ResourceRow): Promise<void>
  /** Replaces the row if its tag is `etag`; throws `StoreConflict` otherwise. */
  update(row: ResourceRow, etag: string): Promise<void>
  /** Removes the row if its tag is `etag`; throws `StoreConflict` otherwise. */
  remove(key: string, etag: string): Promise<void>
  putOperation(row: OperationRow): Promise<void>
  /** Work on `key` becomes due at `dueAt` (milliseconds); moves an earlier schedule, resets its attempts. */
  schedule(key: string, dueAt: number): Promise<void>
  /** Forgets the work on `key`. */
  unschedule(key: string): Promise<void>
  /** Appends to the audit trail, in this transaction. */
  record(event: EventRow): Promise<void>
  /** Appends `key` to a named feed; see `Store.feed`. */
  follow(feed: string, key: string): Promise<void>
  /** The position of a feed, with all that was written before this transaction and without what it appends itself. */
  position(feed: string): Promise<number>
  /**
   * From here to its end the transaction is alone among those that asked for the same name, and what it reads next is
   * as they left it. For limits: whoever counts and then adds would pass a limit beside another who does so.
   */
  alone(name: string): Promise<void>
  /**
   * Says that nothing is decided by the answers to these calls, and that only `follow` comes after them. A database server
   * gets the commit with them: where one fails, nothing is committed, and the transaction fails with that.
   */
  endWith?(calls: readonly (Promise<void> | undefined)[]): Promise<unknown> | undefined
  /** Throws `StoreConflict` unless `claim` still holds; after that its lease cannot be lost before the commit. */
  assertClaim(claim: Claim): Promise<void>
  /** Between two steps that may each take milliseconds: lets others have a turn where this one is used up. */
  pause(): Promise<void> | undefined
  /** Nothing of it is kept, so nobody reads what it records. */
  readonly isDryRun?: true
}

/**
 * An ordered log of changes for readers that keep an index in memory. Positions of one feed are dense and
 * become visible in order; `position` is fresh: a change acknowledged anywhere is seen by the next call.
 */
export interface Feed {
  /** Without a promise where the store knows the answer (one process), so that requests pay nothing. */
  position(): number | Promise<number>
  /**
   * The database server that gave the last position, where there are several in time. One that took the place of another, or
   * was restored, may have lost changes that were seen: whoever keeps a copy then reads all of it again.
   */
  readonly server?: string | undefined
  /** The keys changed after `position`, oldest first, at most `limit`, with the position of the last. */
  since(
    position: number,
    limit: number,
  ): Promise<{ readonly position: number; readonly keys: readonly string[] }>
}

/** A transaction that runs alone under a name. */
export interface Exclusive {
  readonly name: string
  /**
   * Awaited when nothing of this name can be committed before the transaction any more, and before its work; again for
   * each try. It may ask the store, unlike the work: so a caller's rights are asked as they are when its turn has come.
   */
  readonly ready?: (() => Promise<unknown>) | undefined
  /**
   * Where other feeds stood before `ready` asked. An event that is recorded after one of them moved on ends the try, and `ready` is
   * awaited again; a few times at most.
   */
  readonly asOf?: (() => FeedPositions | undefined) | undefined
}

/**
 * A transaction that may wait for rows of other transactions of the same owners, e.g. for the numbers of a company. A few
 * of one owner are begun; the others wait for their turn, without taking room from anybody else.
 */
interface Owned {
  /** Several: whose request it is, and what it is about. Who asks chooses the second, and cannot choose the first. */
  readonly owner: string | readonly string[]
  /**
   * Awaited before the transaction begins where it had to wait for its turn: so a caller is authorized as they are
   * then. It may ask the store for single rows, but not scan.
   */
  readonly ready?: () => Promise<unknown>
}

/** Positions of feeds, by their names. */
export type FeedPositions = Readonly<Record<string, number>>

/** A transaction that holds only as long as these feeds stand where they stood when something was decided by them. */
export interface Optimistic {
  /** An event that is recorded after one of them moved on ends the transaction with `FeedMoved`. */
  readonly expected: FeedPositions
}

/** How a transaction stands to others. */
export type TransactionMode = string | Exclusive | Optimistic | Owned

export interface Store extends Reads, AsyncDisposable {
  readonly dialect: 'sqlite' | 'postgres'

  /**
   * Characters of the documents of the row with this key and those above it, as far as they are known to be large: read
   * or written by this process and more than some hundred thousand. 0 for all others.
   */
  largeAt(key: string): number

  /**
   * Runs `work` in one transaction. A `StoreConflict` thrown by a call inside is tried again with fresh
   * reads up to the limit, unless it is about a unique key; then it reaches the caller. What `work` throws
   * rolls everything back and reaches the caller.
   *
   * With a name, or `Exclusive`, transactions of that name run one after the other, in all processes: each sees what the earlier ones
   * left, and needs no locks against them. With `Optimistic` it runs once for each decision: the store does not try again
   * after a `FeedMoved`. With `Owned` it may have to wait for its turn.
   */
  transact<T>(work: (tx: Tx) => Promise<T>, mode?: TransactionMode): Promise<T>

  /**
   * Like `sql.transact`, for work that replaces the store's own rows by statements: the commit clears what was cached
   * of them, and wakes whoever waits for work.
   */
  replace<T>(work: (tx: SqlTx) => Promise<T>): Promise<T>

  feed(name: string): Feed

  /**
   * Claims up to `limit` due pieces of work that are unclaimed (or whose claim expired) for `owner`. Each goes to one
   * owner only; each claim raises the fence. Uses the store's own clock where all replicas share one.
   */
  claimDue(
    owner: string,
    now: number,
    leaseSeconds: number,
    limit: number,
  ): Promise<readonly Claim[]>
  /** Prolongs a lease; false when it was lost. */
  renew(claim: Claim, now: number, leaseSeconds: number): Promise<boolean>
  /** Gives work back, due at `dueAt`. `failed` counts an attempt. Does nothing when the claim was lost. */
  release(claim: Claim, dueAt: number, failed: boolean): Promise<void>
  /** When the next piece of work is due, or undefined: how long the reconciler may sleep. */
  nextDue(): Promise<number | undefined>
  /** Calls back when another process may have scheduled work. A missed call costs delay, never work. */
  onWork(callback: () => void): void

  /** Makes work that nobody has claimed due at `now` where it is due after `latest`. */
  hasten(now: number, latest: number): Promise<void>

  /** Removes operations that ended before `before`, at most `limit`; how many it removed. */
  sweepOperations(before: number, limit: number): Promise<number>

  /** Throws `StoreUnavailable` unless the store answers. */
  ping(): Promise<void>

  /** The relational port, for areas that own tables (identity, billing, business). */
  readonly sql: Sql
}

/** Values that both dialects carry unchanged. Booleans travel as 0 and 1. */
export type SqlValue = string | number | null | Uint8Array
export type SqlRow = Readonly<Record<string, SqlValue>>

/**
 * Statements in the common subset of both dialects, with `?` for parameters. Where 64-bit integers are too small,
 * PostgreSQL has `numeric` and SQLite the function `share_of` (`sqlite/functions.ts`).
 */
export interface SqlTx {
  all(text: string, ...values: readonly SqlValue[]): Promise<readonly SqlRow[]>
  /** The number of rows changed. */
  run(text: string, ...values: readonly SqlValue[]): Promise<number>
  /**
   * Like `run`, without waiting for the answer: a failure is that of this call, of a later one, or of the commit. Undefined where
   * nothing has to be awaited.
   */
  send(text: string, ...values: readonly SqlValue[]): Promise<unknown> | undefined
  /**
   * Sends a query now that `all` is about to be called with, with the same values, so that several answers come together. After a
   * write it is sent again. It does nothing where an answer takes no time.
   */
  prefetch(text: string, ...values: readonly SqlValue[]): void
  follow(feed: string, key: string): Promise<void>
  /** Appends to the audit trail, in this transaction. */
  record(event: EventRow): Promise<void>
}

/** Reads of one snapshot. */
export interface SqlReads {
  all(text: string, ...values: readonly SqlValue[]): Promise<readonly SqlRow[]>
  /** Like `Sql.scan`. */
  scan(text: string, ...values: readonly SqlValue[]): Promise<readonly SqlRow[]>
  /** Whether other things may be awaited between two reads. */
  readonly pauses: boolean
}

export interface Sql {
  readonly dialect: 'sqlite' | 'postgres'
  /** A read outside transactions. */
  all(text: string, ...values: readonly SqlValue[]): Promise<readonly SqlRow[]>
  /** Like `all`, for statements that may have to scan a table: they block nothing else in the process. */
  scan(text: string, ...values: readonly SqlValue[]): Promise<readonly SqlRow[]>
  /** All reads of `work` see one state of the store and block no writer. May run more than once. */
  snapshot<T>(work: (reads: SqlReads) => Promise<T>): Promise<T>
  /** Like `Store.transact`, with the same promises and the same limits on what `work` may await. */
  transact<T>(work: (tx: SqlTx) => Promise<T>, mode?: TransactionMode): Promise<T>
}

/**
 * One step of an area's schema. Numbered from 1 within its area, forward only, never changed once released.
 * Written once where the dialects agree; numbers are `bigint`, text is compared byte by byte.
 */
export interface Migration {
  readonly area: string
  readonly number: number
  readonly sqlite: readonly string[]
  readonly postgres: readonly string[]
}

/** Lost a race. `unique` is set when a unique key was taken by another row. */
export class StoreConflict extends Error {
  readonly unique: string | undefined
  constructor(message: string, unique?: string) {
    super(message)
    this.name = 'StoreConflict'
    this.unique = unique
  }
}

/** What the transaction was decided by has changed: whoever decided decides again. */
export class FeedMoved extends Error {
  /** Where the feeds stood when this was seen. */
  readonly positions: FeedPositions
  constructor(positions: FeedPositions) {
    super('A feed moved on while the transaction ran.')
    this.name = 'FeedMoved'
    this.positions = positions
  }
}

/** The store cannot answer now. `retry: 'never'` means an operator must act (a newer schema, other words). */
export class StoreUnavailable extends Error {
  readonly retry: 'later' | 'never'
  constructor(message: string, retry: 'later' | 'never', options?: ErrorOptions) {
    super(message, options)
    this.name = 'StoreUnavailable'
    this.retry = retry
  }
}

/** A statement took as long as one may. Where callers write it, they asked for too much. */
export class StatementTooLong extends StoreUnavailable {
  constructor(options?: ErrorOptions) {
    super('The statement took longer than one may take.', 'later', options)
  }
}

/** How a store is opened. `words` are remembered at creation; others are refused. */
export interface StoreOptions {
  readonly migrations: readonly Migration[]
  readonly words: { readonly namespace: string; readonly brand: string }
  readonly transactionRetriesMax: number
}
