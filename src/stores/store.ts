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
  /** Counts changes of what is desired; the reconciler's work is about one generation. */
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
 * One record of the audit trail: the table `events`. Appended, never changed, removed by age. What its columns
 * mean, and who reads and removes them, is the area `activity`.
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
   * Ends the list with the row whose document brings all documents together to so many bytes or more. Without it a
   * list may hold `limit` documents of any size.
   */
  readonly bytesMax?: number
}

/** A claim on one resource's pending work. Later writes name it, so a lost lease cannot commit. */
export interface Claim {
  readonly key: string
  readonly fence: number
  /** Tries in a row that ended in `retry`; 0 at first. */
  readonly attempt: number
}

/** Reads outside transactions see what is committed, and nothing else. */
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
}

/**
 * Inside a transaction. Work passed to `transact` awaits nothing but these calls: no timers, no sockets, no
 * other transaction, no read of the store beside this one, which is a fault at once. It may run more than once (a lost race is tried again), so it has no other effects.
 */
export interface Tx extends Reads {
  /**
   * As `get`, and the row stays as read until the transaction ends. `share`: others may read-lock it
   * too, nobody may change it (parents of what is written).
   */
  lock(key: string, mode: 'change' | 'share'): Promise<ResourceRow | undefined>
  /** Adds a row; `StoreConflict` when the key or the unique key is taken. */
  insert(row: ResourceRow): Promise<void>
  /** Replaces the row whose tag is `etag`; `StoreConflict` when that is not so. */
  update(row: ResourceRow, etag: string): Promise<void>
  /** Removes the row whose tag is `etag`; `StoreConflict` when that is not so. */
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
  /** `StoreConflict` unless `claim` still holds; afterwards its lease cannot be lost before the commit. */
  assertClaim(claim: Claim): Promise<void>
}

/**
 * An ordered log of changes for readers that keep an index in memory. Positions of one feed are dense and
 * become visible in order; `position` is fresh: a change acknowledged anywhere is seen by the next call.
 */
export interface Feed {
  /** Synchronous where the store can know without asking (one process): no cost per request. */
  position(): number | Promise<number>
  /** The keys changed after `position`, oldest first, at most `limit`, with the position of the last. */
  since(
    position: number,
    limit: number,
  ): Promise<{ readonly position: number; readonly keys: readonly string[] }>
}

export interface Store extends Reads, AsyncDisposable {
  readonly dialect: 'sqlite' | 'postgres'

  /**
   * Runs `work` in one transaction. A `StoreConflict` thrown by a call inside is tried again with fresh
   * reads up to the limit, unless it is about a unique key; then it reaches the caller. What `work` throws
   * rolls everything back and reaches the caller.
   */
  transact<T>(work: (tx: Tx) => Promise<T>): Promise<T>

  /**
   * As `sql.transact`, for work that replaces the store's own rows by statements: what is remembered of them is forgotten
   * with the commit, and whoever waits for work is told to look.
   */
  replace<T>(work: (tx: SqlTx) => Promise<T>): Promise<T>

  feed(name: string): Feed

  /**
   * Takes up to `limit` due and unclaimed (or expired) pieces of work for `owner`. Each goes to one owner
   * only; each claim raises the fence. Time is the store's own where it has a clock all replicas share.
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
  /** Calls back when another process may have scheduled work. A hint: losing it costs delay, never work. */
  onWork(callback: () => void): void

  /** Removes operations that ended before `before`, at most `limit`; how many it removed. */
  sweepOperations(before: number, limit: number): Promise<number>

  /** Throws `StoreUnavailable` unless the store answers. */
  ping(): Promise<void>

  /** The relational port, for areas that own tables (identity, billing, business). */
  readonly sql: Sql
}

/** Values that both dialects carry without surprise. Booleans travel as 0 and 1. */
export type SqlValue = string | number | null | Uint8Array
export type SqlRow = Readonly<Record<string, SqlValue>>

/**
 * Statements in the common subset of both dialects, with `?` for parameters. Where integers of 64 bits are too small,
 * one dialect has `numeric`, and the other is given the function `share_of` (`sqlite/functions.ts`).
 */
export interface SqlTx {
  all(text: string, ...values: readonly SqlValue[]): Promise<readonly SqlRow[]>
  /** The number of rows changed. */
  run(text: string, ...values: readonly SqlValue[]): Promise<number>
  follow(feed: string, key: string): Promise<void>
  /** Appends to the audit trail, in this transaction. */
  record(event: EventRow): Promise<void>
}

/** Reads of one snapshot. */
export interface SqlReads {
  all(text: string, ...values: readonly SqlValue[]): Promise<readonly SqlRow[]>
  /** As `Sql.scan`. */
  scan(text: string, ...values: readonly SqlValue[]): Promise<readonly SqlRow[]>
  /** Whether something else may be awaited between two reads. */
  readonly pauses: boolean
}

export interface Sql {
  readonly dialect: 'sqlite' | 'postgres'
  /** A read outside transactions. */
  all(text: string, ...values: readonly SqlValue[]): Promise<readonly SqlRow[]>
  /** As `all`, for statements that may have to look through a table: they hold up nothing else of the process. */
  scan(text: string, ...values: readonly SqlValue[]): Promise<readonly SqlRow[]>
  /** All reads of `work` see one state of the store, and hold up no writer. May run more than once. */
  snapshot<T>(work: (reads: SqlReads) => Promise<T>): Promise<T>
  /** As `Store.transact`, with the same promises and the same restraint on what `work` may await. */
  transact<T>(work: (tx: SqlTx) => Promise<T>): Promise<T>
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

/** The store cannot answer now. `retry: 'never'` means an operator must act (a newer schema, other words). */
export class StoreUnavailable extends Error {
  readonly retry: 'later' | 'never'
  constructor(message: string, retry: 'later' | 'never', options?: ErrorOptions) {
    super(message, options)
    this.name = 'StoreUnavailable'
    this.retry = retry
  }
}

/** How a store is opened. `words` are remembered at creation; others are refused. */
export interface StoreOptions {
  readonly migrations: readonly Migration[]
  readonly words: { readonly namespace: string; readonly brand: string }
  readonly transactionRetriesMax: number
}
