/**
 * One try of one transaction on one connection. Locks that many transactions want are taken at its end. The store
 * does the retries.
 */

import type { PoolClient } from 'pg'
import { objectMaker } from '#kernel/object-maker.ts'
import type { Leave } from '#kernel/room.ts'
import type { LargeRows } from '../large-rows.ts'
import { freeTurn } from '../next-turn.ts'
import { assertCarried, assertReads, numberParameters } from '../sql.ts'
import {
  type Claim,
  type EventRow,
  type Exclusive,
  FeedMoved,
  type FeedPositions,
  type Lock,
  type LockMode,
  type OperationRow,
  type ResourceRow,
  type SqlRow,
  type SqlTx,
  type SqlValue,
  StatementTooLong,
  StoreConflict,
  StoreUnavailable,
  type Tx,
} from '../store.ts'
import { LostClaim } from '../tries.ts'
import { isDivisionByZero, tooLongOf } from './failure.ts'
import { PostgresReads } from './reads.ts'
import type { Answer, Parameter, PreparedStatements } from './session.ts'
import { changes, queries, recordAtPositions, type Statement, transactions } from './statements.ts'

/** How a transaction begins. */
export interface Beginning {
  readonly begin?: string
  /** The name under which it runs alone. */
  readonly alone?: string | undefined
  readonly ready?: Exclusive['ready']
  readonly asOf?: Exclusive['asOf']
  /** Waits for its turn, before it takes a connection. */
  readonly turn?: () => Leave | Promise<Leave> | undefined
  readonly expected?: FeedPositions | undefined
}

export class PostgresTransaction extends PostgresReads implements Tx, SqlTx {
  readonly #client: PoolClient
  readonly #prepared: PreparedStatements
  readonly #follows: (readonly [feed: string, key: string])[] = []
  /** Locks that were begun and that nobody has waited for yet. */
  readonly #ahead = new Map<string, { readonly mode: LockMode; readonly row: LockedRow }>()
  #expected: FeedPositions | undefined
  /** The tags of rows that are locked, so that nobody else changes them. */
  readonly #tags = new Map<string, string>()
  /** Calls under way that fail by their answer, which the server does not know. */
  #judged = 0
  /** The calls that COMMIT is sent with. */
  #ending: readonly unknown[] | undefined
  /** The last call whose answer nobody waits for, and the number of such calls. */
  #sent: Promise<unknown> | undefined
  #sentCount = 0
  /** Queries whose rows `all` has not been called for yet. */
  #prefetched: readonly Prefetched[] = []
  #claims: readonly Claim[] = []
  /** Set when work was scheduled, so that other processes are notified after the commit. */
  scheduled = false
  /** The answer to BEGIN, until it has arrived. */
  #beginning: Promise<unknown> | undefined
  /** The answer to the last call. Answers arrive in order, so all earlier ones are there by then. */
  #last: Promise<unknown>
  /** Whether a call waits for the answer to BEGIN, and with it all that follow. */
  #isHeld = false
  /** The first failed call. It ended the transaction on the server, so all later calls fail. */
  #failure: unknown
  #ended = false

  constructor(
    client: PoolClient,
    { prepared, large }: { readonly prepared: PreparedStatements; readonly large: LargeRows },
    { begin = transactions.begin, alone, expected }: Beginning = {},
  ) {
    super((statement, values) => this.#call(statement, values, { reads: true }), large)
    this.#client = client
    this.#expected = expected
    this.#prepared = prepared
    const begun = (): void => {
      this.#beginning = undefined
    }
    // A failure of BEGIN is thrown by the next call.
    this.#beginning = this.#send(begin).then(begun, begun)
    this.#last = alone === undefined ? this.#beginning : this.#send(changes.alone, [alone])
    // A failure is kept, and thrown by the next call.
    this.#last.catch(() => undefined)
  }

  /** Resolves when the transaction has begun and is alone. */
  async begun(): Promise<void> {
    await this.#last
  }

  /** From now on an event is recorded only while the feeds stand there. */
  expect(positions: FeedPositions | undefined): void {
    this.#expected = positions
  }

  lock(key: string, mode: LockMode): Promise<ResourceRow | undefined> {
    const ahead = this.#ahead.get(key)
    this.#ahead.delete(key)
    return ahead?.mode === mode ? ahead.row : this.#lock(key, mode)
  }

  lockAhead(locks: readonly Lock[]): void {
    for (const { key, mode } of locks) {
      const row = this.#lock(key, mode)
      // A failure is kept, and thrown by the next call.
      row.catch(() => undefined)
      this.#ahead.set(key, { mode, row })
    }
  }

  async #lock(key: string, mode: LockMode): Promise<ResourceRow | undefined> {
    const statement = mode === 'change' ? changes.lockForChange : changes.lockForShare
    const row = this.one((await this.#call(statement, [key], { reads: true })).rows)
    if (row !== undefined && mode === 'change') this.#tags.set(key, row.etag)
    return row
  }

  async insert(row: ResourceRow): Promise<void> {
    await this.#call(changes.insert, [row.key, ...columnsOf(row)], row)
    this.large.note(row)
  }

  async update(row: ResourceRow, etag: string): Promise<void> {
    const values = [...columnsOf(row), row.key, etag]
    // A row that is locked has the tag that was seen.
    const isSure = this.#tags.get(row.key) === etag
    if (isSure) this.#tags.set(row.key, row.etag)
    const answer = this.#call(changes.update, values, row)
    if ((isSure ? await answer : await this.#judge(answer)).changes === 0) {
      this.#fail(staleTag(row.key))
    }
    this.large.note(row)
  }

  async remove(key: string, etag: string): Promise<void> {
    this.#tags.delete(key)
    const answer = await this.#judge(this.#call(changes.remove, [key, etag]))
    if (answer.changes === 0) this.#fail(staleTag(key))
    this.large.forget(key)
  }

  async putOperation(row: OperationRow): Promise<void> {
    const { id, resourceKey, document, running, endedAt } = row
    await this.#call(changes.putOperation, [id, resourceKey, document, running ? 1 : 0, endedAt])
  }

  async schedule(key: string, dueAt: number): Promise<void> {
    await this.#call(changes.schedule, [key, dueAt])
    this.scheduled = true
  }

  /** The claim is locked before its row is removed: at the end there would be nothing left to lock. */
  async unschedule(key: string): Promise<void> {
    const claims = this.#claims.filter((claim) => claim.key === key)
    this.#claims = this.#claims.filter((claim) => claim.key !== key)
    for (const claim of claims) await this.#lockClaim(claim)
    await this.#call(changes.unschedule, [key])
  }

  async record(event: EventRow): Promise<void> {
    const values = [
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
    ]
    const call =
      this.#expected === undefined
        ? this.#call(changes.record, values)
        : this.#recordAtPositions(values, this.#expected)
    await this.#withoutWaiting(call)
  }

  #recordAtPositions(values: readonly SqlValue[], expected: FeedPositions): Promise<Answer> {
    const feeds = Object.entries(expected)
    return this.#call(recordAtPositions(feeds.length), [...values, ...feeds.flat()], {
      meaning: (error) => (isDivisionByZero(error) ? new PositionsDiffer() : undefined),
    })
  }

  endWith(calls: readonly (Promise<void> | undefined)[]): Promise<unknown> | undefined {
    if (!this.#isCertain) return Promise.all(calls)
    this.#ending = calls
    // A failure is kept, and the commit fails with it.
    for (const call of calls) call?.catch(() => undefined)
    return undefined
  }

  async follow(feed: string, key: string): Promise<void> {
    this.#assertOpen()
    this.#follows.push([feed, key])
  }

  async position(feed: string): Promise<number> {
    const { rows } = await this.#call(queries.feedPositions, [[feed]], { reads: true })
    return Number(rows[0]?.[1] ?? 0)
  }

  async alone(name: string): Promise<void> {
    await this.#call(changes.alone, [name], { reads: true })
  }

  /**
   * Checks now and locks at the end: whoever schedules work locks the resource before the work row, so locking the
   * work row first could deadlock.
   */
  async assertClaim(claim: Claim): Promise<void> {
    const { rows } = await this.#judge(this.#call(changes.assertClaim, [claim.key, claim.fence]))
    if (rows.length === 0) this.#fail(lostClaim(claim))
    this.#claims = [...this.#claims, claim]
  }

  /** Nothing under way can fail but on the server, which ends the transaction then. */
  get #isCertain(): boolean {
    return this.#beginning === undefined && this.#judged === 0 && this.#claims.length === 0
  }

  async all(text: string, ...values: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    return toRows(await (this.#takePrefetched(text, values) ?? this.#relational(text, values)))
  }

  /** As `all`, for snapshots alone. It is prepared for no other time. */
  async allOnce(text: string, values: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    assertReads(text)
    assertCarried(values)
    const facts = { reads: true, meaning: tooLongOf }
    return toRows(await this.#call(numberParameters(text), values, facts))
  }

  send(text: string, ...values: readonly SqlValue[]): Promise<unknown> | undefined {
    return this.#withoutWaiting(this.#relational(text, values))
  }

  prefetch(text: string, ...values: readonly SqlValue[]): void {
    const answer = this.#relational(text, values)
    // A failure is kept, and thrown by the next call.
    answer.catch(() => undefined)
    this.#prefetched = [...this.#prefetched, { text, values, answer }]
  }

  #takePrefetched(text: string, values: readonly SqlValue[]): Promise<Answer> | undefined {
    const found = this.#prefetched.find(
      (one) => one.text === text && values.every((value, at) => value === one.values[at]),
    )
    if (found === undefined) return undefined
    this.#prefetched = this.#prefetched.filter((one) => one !== found)
    return found.answer
  }

  /** A failure is kept, and thrown by the next call or the commit. Of many calls some are waited for, so that few are under way. */
  #withoutWaiting(call: Promise<Answer>): Promise<unknown> | undefined {
    this.#sent = call
    this.#sentCount++
    if (this.#sentCount % sentMax === 0) return call
    call.catch(() => undefined)
    return undefined
  }

  async run(text: string, ...values: readonly SqlValue[]): Promise<number> {
    return (await this.#relational(text, values)).changes
  }

  pause(): Promise<void> | undefined {
    return freeTurn()
  }

  /** Ends the transaction after its work succeeded. False when the connection cannot be used any more. */
  async commit(): Promise<boolean> {
    const goesAlong = this.#ending !== undefined || (this.#sent === this.#last && this.#isCertain)
    if (!goesAlong) await this.#last.catch(() => undefined)
    // Of a snapshot, of which nothing can be half done: its work has answered that.
    if (this.#failure instanceof StatementTooLong) return this.rollback()
    // Work that ignored a failure decided on rows that do not exist, so the transaction fails all the same.
    if (this.#failure !== undefined) throw this.#failure
    for (const claim of this.#claims) await this.#lockClaim(claim)
    // Sent together. If a feed's statement fails, COMMIT is answered all the same, but as ROLLBACK.
    const feeds = this.#appendToFeeds()
    this.#ended = true
    const done = this.#send(transactions.commit)
    this.#last = done
    const [{ command }] = await Promise.all([done, ...feeds])
    await Promise.allSettled([...(this.#ending ?? []), this.#sent])
    if (this.#failure !== undefined) throw this.#failure
    if (command !== 'COMMIT') {
      throw new StoreUnavailable(`PostgreSQL answered a commit with ${command}.`, 'later')
    }
    return true
  }

  /** Ends a failed try. False when the connection cannot be used any more. */
  async rollback(): Promise<boolean> {
    this.#ended = true
    await this.#last.catch(() => undefined)
    try {
      await this.#send(transactions.rollback)
      return !(this.#failure instanceof StoreUnavailable)
    } catch {
      // The server ends the transaction with the connection. The original failure is the one that counts.
      return false
    }
  }

  /**
   * What a transaction fails with that was rolled back for `error`. Where feeds stood elsewhere, the server has ended it before it
   * could be asked where.
   */
  async reasonOf(error: unknown): Promise<unknown> {
    if (!(error instanceof PositionsDiffer)) return error
    const names = Object.keys(this.#expected ?? {})
    const answer = await this.#prepared.ask(this.#client, queries.feedPositions, [names])
    const found = new Map(answer.rows.map(([name, position]) => [name, position]))
    return new FeedMoved(
      Object.fromEntries(names.map((name) => [name, Number(found.get(name) ?? 0)])),
    )
  }

  /** Rows that others wait for are locked last and always in the same order: claims, then feeds by name. */
  #appendToFeeds(): readonly Promise<Answer>[] {
    const feeds = Map.groupBy(this.#follows, ([feed]) => feed)
    return [...feeds.keys()].sort().map((feed) => {
      const keys = (feeds.get(feed) ?? []).map(([, key]) => key)
      return this.#call(changes.appendToFeed, [feed, keys.length, keys])
    })
  }

  async #lockClaim(claim: Claim): Promise<void> {
    const { rows } = await this.#call(changes.lockClaim, [claim.key, claim.fence])
    if (rows.length === 0) this.#fail(lostClaim(claim))
  }

  #relational(text: string, values: readonly SqlValue[]): Promise<Answer> {
    assertCarried(values)
    const reads = query.test(text)
    // What was read before a write may not be what is there after it.
    if (!reads) this.#prefetched = []
    return this.#call(this.#prepared.relational(text, values), values, { reads })
  }

  #assertOpen(): void {
    if (this.#ended) throw new Error('A transaction was used after its end.')
    if (this.#failure !== undefined) throw this.#failure
  }

  /**
   * Sent at once and answered in order. Only reads may be sent together with BEGIN, and only before any other call: if
   * BEGIN fails, the statements after it still run, and a write would then take effect by itself.
   */
  #call(
    statement: Statement | string,
    values: readonly Parameter[],
    facts: CallFacts = {},
  ): Promise<Answer> {
    const { reads = false } = facts
    const call = async (): Promise<Answer> => {
      this.#assertOpen()
      return this.#send(statement, values, facts)
    }
    const isHeld = this.#beginning !== undefined && (this.#isHeld || !reads)
    this.#isHeld ||= isHeld
    const answer = isHeld && this.#beginning !== undefined ? this.#beginning.then(call) : call()
    this.#last = answer
    return answer
  }

  async #send(
    statement: Statement | string,
    values: readonly Parameter[] = [],
    { uniqueKey = null, meaning }: CallFacts = {},
  ): Promise<Answer> {
    try {
      return await this.#prepared.ask(this.#client, statement, values, uniqueKey)
    } catch (error) {
      // Errors after the first failure only say that the transaction has failed.
      this.#failure ??= meaning?.(error) ?? error
      throw this.#failure
    }
  }

  async #judge(answer: Promise<Answer>): Promise<Answer> {
    this.#judged++
    const judged = await answer
    this.#judged--
    return judged
  }

  #fail(error: Error): never {
    this.#failure ??= error
    throw error
  }
}

/** Calls under way whose answers nobody waits for. */
const sentMax = 32

/** It changes nothing, whatever it locks. */
const query = /^\s*select\b/i

interface Prefetched {
  readonly text: string
  readonly values: readonly SqlValue[]
  readonly answer: Promise<Answer>
}

/** A feed stands elsewhere than where something was decided. */
class PositionsDiffer extends Error {}

type LockedRow = Promise<ResourceRow | undefined>

interface CallFacts {
  /** Of the written row. */
  readonly uniqueKey?: string | null
  /** Whether the call changes nothing. */
  readonly reads?: boolean
  /** What the failure of this call stands for, if it is not what the server says. */
  readonly meaning?: (error: unknown) => Error | undefined
}

/** The columns of a row after its key, in the order of the statements. */
function columnsOf(row: ResourceRow): readonly SqlValue[] {
  const { id, type, tracked, uniqueKey, etag, generation, document } = row
  return [id, type, tracked ? 1 : 0, uniqueKey, etag, generation, document]
}

export function toRows({ rows, columns }: Answer): readonly SqlRow[] {
  // As many cells as columns, by the protocol, and of the types that `cellTypes` gives them.
  const make = objectMaker<SqlValue>(columns)
  return rows.map((cells) => make(cells as readonly SqlValue[]))
}

function staleTag(key: string): StoreConflict {
  return new StoreConflict(`'${key}' no longer has the expected tag.`)
}

function lostClaim(claim: Claim): LostClaim {
  return new LostClaim(`The claim on '${claim.key}' was lost.`)
}
