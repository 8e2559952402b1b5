/**
 * The store port over one SQLite file and one process: one writing connection under group commit, one
 * reading connection that never sees what is not committed. Opening and locking is `open.ts`'s.
 */

import type { DatabaseSync } from 'node:sqlite'
import { createRoom, inRoom, type Room } from '#kernel/room.ts'

import { callOwner, forEverybody } from '../awaited.ts'
import { assertOutsideWork, runInsideWork } from '../inside-work.ts'
import { freeTurn } from '../next-turn.ts'
import { findMove, transactOptimistically } from '../optimistic.ts'
import { assertReads } from '../sql.ts'
import {
  type Claim,
  type Feed,
  type FeedPositions,
  type ListQuery,
  type OperationRow,
  type ResourceRow,
  type Sql,
  type SqlTx,
  type Store,
  StoreUnavailable,
  type TransactionMode,
  type Tx,
  type UniqueEntry,
  type UniqueQuery,
} from '../store.ts'
import { Checkpoints } from './checkpoints.ts'
import { translate } from './failure.ts'
import type { StatementTime } from './functions.ts'
import { GroupCommit } from './group-commit.ts'
import { type Cells, type Prepared, prepareAll, SqliteReads, toNumber } from './reads.ts'
import { RelationalStatements } from './relational.ts'
import { RowCache } from './row-cache.ts'
import type { Scanner } from './scanner.ts'
import { changes, queries } from './statements.ts'
import { SqliteTransaction, type Writer } from './transaction.ts'
import { Turns } from './turns.ts'

/** Units in one batch, which share its flush. */
const unitsMax = 256

export interface SqliteConnections {
  readonly writer: DatabaseSync
  /** The same as `writer` where the database lives in memory, which a second connection could not see. */
  readonly reader: DatabaseSync
  /** Holds the lock on the file; `undefined` in memory. */
  readonly lock: DatabaseSync | undefined
  /** Reads the file in a thread; `undefined` in memory. */
  readonly scanner: Scanner | undefined
  /** Copies the log into the file in another thread; `undefined` in memory. */
  readonly copier: Scanner | undefined
  /** Which `writer` and `reader` count by. */
  readonly time: StatementTime
}

export interface SqliteBounds {
  readonly triesMax: number
  readonly rowBytesMax: number
}

export class SqliteStore implements Store {
  readonly dialect = 'sqlite'
  readonly sql: Sql
  readonly #connections: SqliteConnections
  readonly #reads: SqliteReads
  readonly #queries: Prepared<typeof queries>
  readonly #changes: Prepared<typeof changes>
  readonly #group: GroupCommit
  readonly #checkpoints: Checkpoints | undefined
  readonly #writer: Writer
  readonly #shared: boolean
  readonly #rows: RowCache
  /** Keys written by the running batch, whether kept or rolled back. */
  readonly #touched = new Set<string>()
  /** Resources as the successful transactions of the batch leave them; undefined: removed. */
  readonly #batchRows = new Map<string, ResourceRow | undefined>()
  readonly #emptyTypes = new Set<string>()
  /** Positions of the feeds: the committed ones, and those of the running batch. */
  readonly #positions = new Map<string, number>()
  readonly #batchPositions = new Map<string, number>()
  /** The committed ones as an object, which is made again after they move. */
  #expected: FeedPositions | undefined
  /** By the names of transactions that are ready first: one of a name at a time. */
  readonly #alone = new Map<string, Room>()
  readonly #callbacks: (() => void)[] = []
  #scheduled = false
  /** The running batch replaces rows by statements, so cached rows are not valid in it. */
  #replacing = false
  #closing: Promise<void> | undefined

  constructor(connections: SqliteConnections, { triesMax, rowBytesMax }: SqliteBounds) {
    const { writer, reader, scanner, copier, time } = connections
    this.#connections = connections
    this.#rows = new RowCache(rowBytesMax)
    this.#shared = writer === reader
    this.#queries = prepareAll(reader, queries)
    this.#changes = prepareAll(writer, changes)
    this.#reads = new SqliteReads(this.#queries)
    const turns = new Turns()
    this.#writer = {
      queries: this.#shared ? this.#queries : prepareAll(writer, queries),
      changes: this.#changes,
      relational: new RelationalStatements(writer, time),
      position: (feed) => this.#batchPositions.get(feed) ?? this.#positions.get(feed) ?? 0,
      touched: this.#touched,
      committed: (key) => (this.#replacing ? undefined : this.#rows.get(key)),
      keep: (row) => {
        if (!this.#replacing) this.#rows.put(row)
      },
      emptyTypes: this.#emptyTypes,
      turns,
    }
    this.#checkpoints =
      copier === undefined
        ? undefined
        : new Checkpoints(
            () => copier.checkpoint(),
            (bytes) => copier.isLogLonger(bytes),
          )
    this.#group = new GroupCommit({
      db: writer,
      triesMax,
      unitsMax,
      turns,
      held: () => this.#checkpoints?.held,
      onCommit: () => {
        this.#committed()
        this.#checkpoints?.committed(turns.total)
      },
      onUndone: () => this.#undone(),
    })
    for (const [name, position] of this.#queries.feedPositions.all()) {
      this.#positions.set(name as string, position as number) // as the schema has them
    }
    const relational = new RelationalStatements(reader, time)
    const all: Sql['all'] = (text, ...values) =>
      this.#outside(async () => {
        assertReads(text)
        return relational.all(text, values)
      })
    this.sql = {
      dialect: 'sqlite',
      all,
      // An in-memory database is visible to its own connection only.
      scan:
        scanner === undefined
          ? all
          : async (text, ...values) => {
              assertOutsideWork(this)
              return scanner.all(text, values)
            },
      snapshot: async (work) =>
        scanner?.snapshot(work) ??
        this.#enlist((tx) => {
          const read: Sql['all'] = (text, ...values) => tx.all(text, ...values)
          return work({ all: read, scan: read, pauses: false })
        }),
      transact: (work, mode) => this.#enlistInMode((tx: SqlTx) => work(tx), mode),
    }
  }

  // The hot call of every request: no closure where there is nothing to wait for.
  get(key: string): Promise<ResourceRow | undefined> {
    if (this.#shared) return this.#outside(() => this.#reads.get(key))
    assertOutsideWork(this)
    const known = this.#rows.get(key)
    return known === undefined ? this.#read(key) : Promise.resolve(known)
  }

  async #read(key: string): Promise<ResourceRow | undefined> {
    if (this.largeAt(key) > 0) await freeTurn()
    const row = this.#reads.rowNow(key)
    // Nothing can have been committed between the read and this line, as both run in one turn.
    if (row !== undefined) this.#rows.put(row)
    return row
  }

  largeAt(key: string): number {
    return this.#rows.large.at(key)
  }

  list(query: ListQuery): Promise<readonly ResourceRow[]> {
    return this.#outside(() => this.#reads.list(query))
  }

  count(query: Omit<ListQuery, 'after'>): Promise<number> {
    return this.#outside(() => this.#reads.count(query))
  }

  operation(id: string): Promise<OperationRow | undefined> {
    return this.#outside(() => this.#reads.operation(id))
  }

  runningOperation(resourceKey: string): Promise<OperationRow | undefined> {
    return this.#outside(() => this.#reads.runningOperation(resourceKey))
  }

  keyOfUnique(uniqueKey: string): Promise<string | undefined> {
    return this.#outside(() => this.#reads.keyOfUnique(uniqueKey))
  }

  listUnique(query: UniqueQuery): Promise<readonly UniqueEntry[]> {
    return this.#outside(() => this.#reads.listUnique(query))
  }

  transact<T>(work: (tx: Tx) => Promise<T>, mode?: TransactionMode): Promise<T> {
    return this.#enlistInMode(work, mode)
  }

  #enlistInMode<T>(
    work: (tx: SqliteTransaction) => Promise<T>,
    mode: TransactionMode | undefined,
    given = callOwner(),
  ): Promise<T> {
    // One transaction runs after the other, so none waits for rows.
    if (typeof mode !== 'object') return this.#enlist(work, given)
    if ('expected' in mode) {
      return this.#enlist((tx) => {
        // What another transaction of the batch moves is committed with this one, so it is no earlier.
        const moved = findMove(mode.expected, (name) => this.#positions.get(name) ?? 0)
        if (moved !== undefined) throw moved
        return work(tx)
      }, given)
    }
    const { ready } = mode
    if (ready === undefined) return this.#enlist(work, given)
    const isAlone = 'name' in mode
    // Whoever holds a name waits behind nothing of their own, since others wait for the name: it is in nobody's.
    const owner = isAlone ? `alone ${mode.name}` : given
    const readyAgain = isAlone ? () => forEverybody(ready) : ready
    // Others that are handed in later may be committed before it: it is ready as long as no feed has moved on.
    const whileReady = async (): Promise<T> => {
      this.#expected ??= Object.fromEntries(this.#positions)
      const first = { positions: this.#expected, decision: undefined }
      // What has owners was decided before it is handed in.
      if (isAlone) await readyAgain()
      return transactOptimistically(first, readyAgain, (_, optimistic) =>
        this.#enlistInMode(work, optimistic, owner),
      )
    }
    if (!isAlone) return whileReady()
    // A nested one would wait for the name that its own transaction holds.
    assertOutsideWork(this)
    // Those of one name move its feed themselves: side by side each would be decided anew until it is not compared.
    return inRoom(this.#roomOf(mode.name), callOwner() ?? '', whileReady)
  }

  #roomOf(name: string): Room {
    let room = this.#alone.get(name)
    if (room === undefined) {
      room = createRoom({ perOwnerMax: 1, sumMax: 1 })
      this.#alone.set(name, room)
    }
    return room
  }

  replace<T>(work: (tx: SqlTx) => Promise<T>): Promise<T> {
    return this.#enlist(async (tx) => {
      this.#replacing = true
      this.#touched.clear()
      this.#batchRows.clear()
      this.#emptyTypes.clear()
      const value = await work(tx)
      tx.scheduled = true
      return value
    })
  }

  feed(name: string): Feed {
    return {
      position: () => {
        assertOutsideWork(this)
        return this.#positions.get(name) ?? 0
      },
      since: async (position, limit) => {
        const cells = await this.#ask(() => this.#queries.feedSince.all(name, position, limit))
        return {
          position: toNumber(cells.at(-1)) ?? position,
          keys: cells.map((cell) => cell[1] as string), // a text column
        }
      },
    }
  }

  async claimDue(
    owner: string,
    now: number,
    leaseSeconds: number,
    limit: number,
  ): Promise<readonly Claim[]> {
    // A look without work costs one read: no batch, no turn of the loop.
    const any = await this.#ask(() => this.#queries.claimable.get(now, now, 1))
    if (any === undefined || limit <= 0) return []
    return this.#write(() =>
      this.#writer.queries.claimable.all(now, now, limit).map((cells): Claim => {
        const key = cells[0] as string // a text column
        const fence = toNumber(this.#changes.takeFence.get()) ?? 0
        this.#changes.claim.run(owner, now + leaseSeconds * 1000, fence, now, key)
        return { key, fence, attempt: cells[1] as number } // an integer column
      }),
    )
  }

  renew(claim: Claim, now: number, leaseSeconds: number): Promise<boolean> {
    const until = now + leaseSeconds * 1000
    return this.#write(() => this.#changes.renew.run(until, claim.key, claim.fence).changes === 1)
  }

  async release(claim: Claim, dueAt: number, failed: boolean): Promise<void> {
    await this.#write(() =>
      this.#changes.release.run(dueAt, failed ? 1 : 0, claim.key, claim.fence),
    )
  }

  async nextDue(): Promise<number | undefined> {
    const [due, leaseEnd] = await this.#ask(() => [
      toNumber(this.#queries.nextDue.get()),
      toNumber(this.#queries.nextLeaseEnd.get()),
    ])
    if (due === undefined || leaseEnd === undefined) return due ?? leaseEnd
    return Math.min(due, leaseEnd)
  }

  /** There is no other process; this process's own commits call back, as on PostgreSQL. */
  onWork(callback: () => void): void {
    this.#callbacks.push(callback)
  }

  async hasten(now: number, latest: number): Promise<void> {
    const any = await this.#ask(() => this.#queries.anyAfter.get(latest))
    if (any !== undefined) await this.#write(() => this.#changes.hasten.run(now, latest))
  }

  async sweepOperations(before: number, limit: number): Promise<number> {
    const any = await this.#ask(() => this.#queries.anySwept.get(before))
    if (any === undefined) return 0
    return this.#write(() => Number(this.#changes.sweepOperations.run(before, limit).changes))
  }

  async ping(): Promise<void> {
    if (this.#closing !== undefined) throw new StoreUnavailable('The store is closed.', 'later')
    await this.#ask(() => this.#queries.ping.get())
  }

  /** Ends the transactions already handed in, then closes the file and gives up its lock. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const { writer, reader, lock, scanner, copier } = this.#connections
    this.#callbacks.length = 0
    await scanner?.close()
    await this.#group.close()
    await this.#checkpoints?.settle()
    await copier?.close()
    if (!this.#shared) reader.close()
    writer.close()
    lock?.close()
  }

  #enlist<T>(work: (tx: SqliteTransaction) => Promise<T>, owner = callOwner()): Promise<T> {
    assertOutsideWork(this)
    return new Promise<T>((resolve, reject) => {
      let tx: SqliteTransaction | undefined
      let positions: ReadonlyMap<string, number>
      let value: T
      this.#group.add({
        owner,
        attempt: async () => {
          const current = new SqliteTransaction(this.#writer)
          tx = current
          value = await runInsideWork(this, () => work(current))
          positions = await current.finish()
        },
        kept: () => {
          for (const [feed, position] of positions) this.#batchPositions.set(feed, position)
          if (tx === undefined) return
          for (const [key, row] of tx.rows) this.#batchRows.set(key, row)
          if (tx.scheduled) this.#scheduled = true
        },
        undone: () => {
          tx?.abandon()
          // The batch may have removed the last row of a type; after the rollback it exists again.
          this.#emptyTypes.clear()
          return tx?.wrote === true
        },
        committed: () => resolve(value),
        failed: reject,
      })
    })
  }

  /** A change by the store itself, which awaits nothing. */
  #write<T>(change: () => T): Promise<T> {
    return this.#enlist(async (tx) => {
      tx.wrote = true
      return change()
    })
  }

  #committed(): void {
    if (this.#replacing) {
      this.#replacing = false
      this.#rows.clear()
    }
    for (const key of this.#touched) {
      const row = this.#batchRows.get(key)
      if (row !== undefined) this.#rows.put(row)
      else {
        this.#rows.forget(key)
        this.#rows.large.forget(key)
      }
    }
    this.#touched.clear()
    this.#batchRows.clear()
    if (this.#batchPositions.size > 0) this.#expected = undefined
    for (const [feed, position] of this.#batchPositions) this.#positions.set(feed, position)
    this.#batchPositions.clear()
    if (!this.#scheduled) return
    this.#scheduled = false
    for (const callback of this.#callbacks) queueMicrotask(callback)
  }

  #undone(): void {
    this.#replacing = false
    this.#touched.clear()
    this.#batchRows.clear()
    this.#emptyTypes.clear()
    this.#batchPositions.clear()
    this.#scheduled = false
  }

  #ask<T extends Cells | undefined | readonly unknown[]>(statement: () => T): Promise<T> {
    return this.#outside(async () => {
      try {
        return statement()
      } catch (error) {
        throw translate(error)
      }
    })
  }

  /** With a single connection, a read must not see the running batch, so it waits for its end. */
  #outside<T>(read: () => Promise<T>): Promise<T> {
    assertOutsideWork(this)
    const running = this.#shared ? this.#group.running : undefined
    return running === undefined ? read() : running.then(read)
  }
}
