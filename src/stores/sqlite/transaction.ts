/**
 * One try of one transaction: the port's calls over the writing connection. The group commit decides whether its rows
 * stay.
 */

import {
  type Claim,
  type EventRow,
  type ListQuery,
  type OperationRow,
  type ResourceRow,
  type SqlRow,
  type SqlTx,
  type SqlValue,
  StoreConflict,
  type Tx,
} from '../store.ts'
import { LostClaim } from '../tries.ts'
import { takenColumns } from './failure.ts'
import { type Prepared, SqliteReads } from './reads.ts'
import type { RelationalStatements } from './relational.ts'
import type { changes, queries } from './statements.ts'
import type { Turns } from './turns.ts'

/** What all transactions of a store share. */
export interface Writer {
  readonly queries: Prepared<typeof queries>
  readonly changes: Prepared<typeof changes>
  readonly relational: RelationalStatements
  /** The position of a feed as the running batch sees it. */
  position(feed: string): number
  /** Keys written since the last commit by any transaction, whether kept or rolled back. */
  readonly touched: Set<string>
  /** The committed row, if it is cached. Not valid for a touched key. */
  committed(key: string): ResourceRow | undefined
  /** Caches a committed row. */
  keep(row: ResourceRow): void
  /** Types known to have no row, neither committed nor in the running batch. */
  readonly emptyTypes: Set<string>
  readonly turns: Turns
}

export class SqliteTransaction extends SqliteReads implements Tx, SqlTx {
  readonly #writer: Writer
  readonly #follows: (readonly [feed: string, key: string])[] = []
  /** The first failed call. All later calls fail too, as on PostgreSQL, where it ends the transaction. */
  #failure: unknown
  #ended = false
  /** Set when work was scheduled, so that the store calls back after the commit. */
  scheduled = false
  /** Set when there may be something to roll back. */
  wrote = false
  /** Resources as this transaction leaves them; undefined: removed. */
  readonly rows = new Map<string, ResourceRow | undefined>()

  constructor(writer: Writer) {
    super(writer.queries)
    this.#writer = writer
  }

  // Several times in each write: nothing is awaited where no pause is due.
  lock(key: string): Promise<ResourceRow | undefined> {
    // Only one transaction writes at a time, so rows read in it cannot change.
    this.assertOpen()
    const isTouched = this.#writer.touched.has(key)
    const known = isTouched ? undefined : this.#writer.committed(key)
    const row = known ?? this.row(key)
    // Nobody has written it in this batch, so it is as committed.
    if (row !== undefined && row !== known && !isTouched) this.#writer.keep(row)
    const pause = this.pause()
    return pause === undefined ? Promise.resolve(row) : pause.then(() => row)
  }

  override async list(query: ListQuery): Promise<readonly ResourceRow[]> {
    const rows = await super.list(query)
    await this.pause()
    return rows
  }

  pause(): Promise<void> | undefined {
    return this.#writer.turns.pause()
  }

  /** Every write asks this about locks, which most installations do not have. */
  override async count(query: Omit<ListQuery, 'after'>): Promise<number> {
    this.assertOpen()
    const { type, under, limit } = query
    const { emptyTypes } = this.#writer
    if (type !== undefined && emptyTypes.has(type)) return 0
    // Nothing is awaited in between: something rolled back meanwhile must not be remembered.
    const found = this.countNow(query)
    const isOfAll = under === '/' && query.tracked !== true && limit > 0
    if (found === 0 && type !== undefined && isOfAll) emptyTypes.add(type)
    return found
  }

  /** Every transaction is. */
  async alone(_name: string): Promise<void> {
    this.assertOpen()
  }

  async insert(row: ResourceRow): Promise<void> {
    this.#writer.touched.add(row.key)
    this.#writer.emptyTypes.delete(row.type)
    this.#change(
      () =>
        this.#writer.changes.insert.run(
          row.key,
          row.id,
          row.type,
          row.tracked ? 1 : 0,
          row.uniqueKey,
          row.etag,
          row.generation,
          row.document,
        ),
      // Where both are taken SQLite names the unique key, but the race was for the key.
      (columns) => rowConflict(row, columns === uniqueColumn && this.row(row.key) === undefined),
    )
    this.rows.set(row.key, row)
  }

  async update(row: ResourceRow, etag: string): Promise<void> {
    this.#writer.touched.add(row.key)
    this.#writer.emptyTypes.delete(row.type)
    const tracked = row.tracked ? 1 : 0
    const light = this.#change(() =>
      this.#writer.changes.updateDocument.run(
        row.id,
        row.etag,
        row.generation,
        row.document,
        row.key,
        etag,
        row.type,
        tracked,
        row.uniqueKey,
      ),
    )
    if (light === 1) {
      this.rows.set(row.key, row)
      return
    }
    const changed = this.#change(
      () =>
        this.#writer.changes.update.run(
          row.id,
          row.type,
          tracked,
          row.uniqueKey,
          row.etag,
          row.generation,
          row.document,
          row.key,
          etag,
        ),
      (columns) => rowConflict(row, columns === uniqueColumn),
    )
    if (changed === 0) this.#lose(staleTag(row.key))
    this.rows.set(row.key, row)
  }

  async remove(key: string, etag: string): Promise<void> {
    this.#writer.touched.add(key)
    const changed = this.#change(() => this.#writer.changes.remove.run(key, etag))
    if (changed === 0) this.#lose(staleTag(key))
    this.rows.set(key, undefined)
  }

  async putOperation(row: OperationRow): Promise<void> {
    this.#change(() =>
      this.#writer.changes.putOperation.run(
        row.id,
        row.resourceKey,
        row.document,
        row.running ? 1 : 0,
        row.endedAt,
      ),
    )
  }

  async schedule(key: string, dueAt: number): Promise<void> {
    this.#change(() => this.#writer.changes.schedule.run(key, dueAt))
    this.scheduled = true
  }

  async unschedule(key: string): Promise<void> {
    this.#change(() => this.#writer.changes.unschedule.run(key))
  }

  async record(event: EventRow): Promise<void> {
    this.#change(() =>
      this.#writer.changes.record.run(
        event.at,
        event.key,
        event.action,
        event.status,
        event.principalId,
        event.caller,
        event.correlationId,
        event.operationId,
        event.subscription,
        event.detail,
      ),
    )
  }

  async follow(feed: string, key: string): Promise<void> {
    this.assertOpen()
    this.#follows.push([feed, key])
    const pause = this.pause()
    if (pause !== undefined) await pause
  }

  async position(feed: string): Promise<number> {
    return this.#writer.position(feed)
  }

  async assertClaim(claim: Claim): Promise<void> {
    const held = this.ask(() => this.#writer.changes.assertClaim.get(claim.key, claim.fence))
    if (held === undefined) this.#lose(new LostClaim(`The claim on '${claim.key}' was lost.`))
  }

  async all(text: string, ...values: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    const rows = this.ask(() => this.#writer.relational.all(text, values))
    const pause = this.pause()
    if (pause !== undefined) await pause
    return rows
  }

  async run(text: string, ...values: readonly SqlValue[]): Promise<number> {
    this.wrote = true
    const changed = this.ask(() => this.#writer.relational.run(text, values))
    const pause = this.pause()
    if (pause !== undefined) await pause
    return changed
  }

  send(text: string, ...values: readonly SqlValue[]): Promise<void> | undefined {
    this.wrote = true
    this.ask(() => this.#writer.relational.run(text, values))
    return this.pause()
  }

  /** An answer takes no time. */
  prefetch(): void {}

  /** The end of a work that did not throw: appends to the feeds and gives their new positions. */
  async finish(): Promise<ReadonlyMap<string, number>> {
    // A work that swallowed a failure decided on rows that are not there: it is as if it had thrown.
    if (this.#failure !== undefined) throw this.#failure
    const positions = new Map<string, number>()
    if (this.#follows.length > 0) this.wrote = true
    for (const [feed, key] of this.#follows) {
      const position = (positions.get(feed) ?? this.#writer.position(feed)) + 1
      this.ask(() => this.#writer.changes.appendToFeed.run(feed, position, key))
      positions.set(feed, position)
      const pause = this.pause()
      if (pause !== undefined) await pause
    }
    for (const [feed, position] of positions) {
      this.ask(() => this.#writer.changes.advanceFeed.run(feed, position))
    }
    this.#ended = true
    return positions
  }

  /** The end of a try that failed: later calls of a work that still runs are refused. */
  abandon(): void {
    this.#ended = true
  }

  protected override assertOpen(): void {
    if (this.#ended) throw new Error('A transaction was used after its end.')
    if (this.#failure !== undefined) throw this.#failure
  }

  protected override ask<T>(statement: () => T): T {
    this.assertOpen()
    this.#writer.turns.count()
    try {
      return super.ask(statement)
    } catch (error) {
      this.#failure ??= error
      throw error
    }
  }

  /** The number of rows changed; whatever is taken already is a lost race. */
  #change(
    statement: () => { readonly changes: number | bigint },
    conflictOver = (columns: string): StoreConflict =>
      new StoreConflict(`Another transaction wrote the same ${columns}.`),
  ): number {
    return this.ask(() => {
      try {
        this.wrote = true
        return Number(statement().changes)
      } catch (error) {
        const columns = takenColumns(error)
        if (columns === undefined) throw error
        throw conflictOver(columns)
      }
    })
  }

  #lose(conflict: StoreConflict): never {
    this.#failure ??= conflict
    throw conflict
  }
}

const uniqueColumn = 'resources.unique_key'

function rowConflict(row: ResourceRow, unique: boolean): StoreConflict {
  return unique && row.uniqueKey !== null
    ? new StoreConflict(`Another row has the unique key of '${row.key}'.`, row.uniqueKey)
    : new StoreConflict(`Another transaction wrote '${row.key}'.`)
}

function staleTag(key: string): StoreConflict {
  return new StoreConflict(`'${key}' no longer has the expected tag.`)
}
