/**
 * The store port over PostgreSQL, shared by any number of processes: a pool for reads and transactions, and
 * a listener for work. Opening and migrating is `open.ts`'s.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import { backOff } from '#kernel/back-off.ts'

import type { Clock } from '#kernel/ports.ts'

import { forEverybody } from '../awaited.ts'
import { assertOutsideWork, runInsideWork } from '../inside-work.ts'
import { LargeRows } from '../large-rows.ts'
import { comparedMax } from '../optimistic.ts'
import { assertCarried, assertReads, numberParameters } from '../sql.ts'
import {
  type Claim,
  type Feed,
  FeedMoved,
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
import { isWorthAnotherTry } from '../tries.ts'
import { tooLongOf, translate } from './failure.ts'
import { JoinedGets, tooLarge } from './joined-gets.ts'
import { JoinedPositions } from './joined-positions.ts'
import type { Listener } from './listener.ts'
import { PostgresReads, toNumber } from './reads.ts'
import {
  type Answer,
  type NamingConnection,
  type Parameter,
  PreparedStatements,
} from './session.ts'
import { changes, queries, type Statement, transactions } from './statements.ts'
import { type Beginning, PostgresTransaction, toRows } from './transaction.ts'
import { inTurn, Turns } from './turns.ts'

export interface PostgresStoreOptions {
  readonly pool: Pool
  readonly listener: Listener
  readonly clock: Clock
  readonly triesMax: number
  /** A number from 0 to below 1: spreads the retries of processes that lost a race to each other. */
  readonly jitter: () => number
}

/**
 * Delays before retries: doubled each time, half of each random. The first is long enough for the winner of a
 * deadlock to take the lock that the loser released.
 */
const delayMillisecondsMin = 5
const delayMillisecondsMax = 100

export class PostgresStore implements Store {
  readonly dialect = 'postgres'
  readonly sql: Sql
  readonly #options: PostgresStoreOptions
  readonly #reads: PostgresReads
  readonly #joined = new JoinedGets((statement, values) => this.#ask(statement, values))
  readonly #positions = new JoinedPositions((statement, values) => this.#ask(statement, values))
  readonly #prepared = new PreparedStatements()
  readonly #large = new LargeRows()
  /** Running transactions; closing waits for them. */
  readonly #active = new Set<Promise<unknown>>()
  /** The end of the last transaction of each name that runs alone. */
  readonly #lastAlone = new Map<string, Promise<void>>()
  readonly #turns: Turns
  /** The notification under way, and whether more was scheduled since it was sent. */
  #telling: Promise<void> | undefined
  #tellAgain = false
  #closing: Promise<void> | undefined

  constructor(options: PostgresStoreOptions) {
    this.#options = options
    this.#turns = new Turns(options.pool.options.max)
    // The driver's types do not name this part of a client.
    options.pool.on('acquire', (client) =>
      this.#prepared.tidy((client as unknown as { connection: NamingConnection }).connection),
    )
    this.#reads = new PostgresReads(
      (statement, values) => this.#ask(statement, values),
      this.#large,
    )
    const all: Sql['all'] = async (text, ...values) => {
      assertReads(text)
      assertCarried(values)
      return toRows(await this.#ask(this.#prepared.relational(text, values), values))
    }
    this.sql = {
      dialect: 'postgres',
      all,
      // The database server does the scanning, not this process.
      scan: async (text, ...values) => {
        assertOutsideWork(this)
        assertReads(text)
        assertCarried(values)
        // Callers write it as they like: it is prepared for no other time.
        const numbered = numberParameters(text)
        const answer = inTurn(this.#turns.scan(), () => this.#askNow(numbered, values))
        return toRows(
          await answer.catch((error: unknown) => {
            throw tooLongOf(error) ?? error
          }),
        )
      },
      snapshot: (work) =>
        this.#enlist(
          (tx) => {
            const all: Sql['all'] = (text, ...values) => tx.all(text, ...values)
            const scan: Sql['all'] = (text, ...values) => tx.allOnce(text, values)
            return work({ all, scan, pauses: true })
          },
          { begin: transactions.beginSnapshot, turn: () => this.#turns.scan() },
        ),
      transact: (work, mode) => this.#enlist((tx: SqlTx) => work(tx), this.#beginningOf(mode)),
    }
  }

  async get(key: string): Promise<ResourceRow | undefined> {
    assertOutsideWork(this)
    this.#assertOpen()
    const cells = await this.#joined.get(key)
    return cells === tooLarge ? this.#reads.get(key) : this.#reads.rowOf(cells)
  }

  largeAt(key: string): number {
    return this.#large.at(key)
  }

  list(query: ListQuery): Promise<readonly ResourceRow[]> {
    return this.#reads.list(query)
  }

  count(query: Omit<ListQuery, 'after'>): Promise<number> {
    return this.#reads.count(query)
  }

  operation(id: string): Promise<OperationRow | undefined> {
    return this.#reads.operation(id)
  }

  runningOperation(resourceKey: string): Promise<OperationRow | undefined> {
    return this.#reads.runningOperation(resourceKey)
  }

  keyOfUnique(uniqueKey: string): Promise<string | undefined> {
    return this.#reads.keyOfUnique(uniqueKey)
  }

  listUnique(query: UniqueQuery): Promise<readonly UniqueEntry[]> {
    return this.#reads.listUnique(query)
  }

  transact<T>(work: (tx: Tx) => Promise<T>, mode?: TransactionMode): Promise<T> {
    return this.#enlist(work, this.#beginningOf(mode))
  }

  replace<T>(work: (tx: SqlTx) => Promise<T>): Promise<T> {
    return this.#enlist(async (tx) => {
      const value = await work(tx)
      tx.scheduled = true
      return value
    })
  }

  feed(name: string): Feed {
    const positions = this.#positions
    return {
      position: async () => {
        assertOutsideWork(this)
        return positions.position(name)
      },
      get server() {
        return positions.server
      },
      since: async (position, limit) => {
        const values = [name, position, limit]
        const { rows } = await forEverybody(() => this.#ask(queries.feedSince, values))
        return {
          position: toNumber(rows.at(-1)) ?? position,
          keys: rows.map((cells) => cells[1] as string), // a text column
        }
      },
    }
  }

  /** `now` decides what is due, so that a moved clock is obeyed; leases use the database's clock. */
  async claimDue(
    owner: string,
    now: number,
    leaseSeconds: number,
    limit: number,
  ): Promise<readonly Claim[]> {
    if (limit <= 0) return []
    const { rows } = await this.#ask(changes.claim, [owner, now, leaseSeconds * 1000, limit])
    return rows
      .map(([key, fence, attempt, dueAt]) => ({
        // The columns have these types in the schema; UPDATE … RETURNING keeps no order.
        claim: { key: key as string, fence: fence as number, attempt: attempt as number },
        dueAt: dueAt as number,
      }))
      .sort((left, right) => left.dueAt - right.dueAt)
      .map(({ claim }) => claim)
  }

  async renew(claim: Claim, _now: number, leaseSeconds: number): Promise<boolean> {
    const values = [leaseSeconds * 1000, claim.key, claim.fence]
    return (await this.#ask(changes.renew, values)).changes === 1
  }

  async release(claim: Claim, dueAt: number, failed: boolean): Promise<void> {
    await this.#ask(changes.release, [dueAt, failed ? 1 : 0, claim.key, claim.fence])
  }

  /** Leases end by the database's clock; the result uses this process's clock, which may differ. */
  async nextDue(): Promise<number | undefined> {
    const [cells] = (await this.#ask(queries.nextDue, [])).rows
    const due = cells?.[0] as number | null | undefined // an integer column
    const left = cells?.[1] as number | null | undefined // a difference of integers
    const leaseEnd =
      typeof left === 'number' ? this.#options.clock.now() + Math.max(0, left) : undefined
    if (typeof due !== 'number') return leaseEnd
    return leaseEnd === undefined ? due : Math.min(due, leaseEnd)
  }

  onWork(callback: () => void): void {
    this.#options.listener.add(callback)
  }

  async hasten(now: number, latest: number): Promise<void> {
    await this.#ask(changes.hasten, [now, latest])
  }

  async sweepOperations(before: number, limit: number): Promise<number> {
    return (await this.#ask(changes.sweepOperations, [before, limit])).changes
  }

  async ping(): Promise<void> {
    await this.#ask(queries.ping, [])
  }

  /** Ends the transactions already handed in, then closes every connection. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#options.listener[Symbol.asyncDispose]()
    await Promise.allSettled(this.#active)
    await this.#telling
    await this.#options.pool.end()
  }

  async #ask(statement: Statement | string, values: readonly Parameter[]): Promise<Answer> {
    assertOutsideWork(this)
    const turn = this.#turns.read()
    const ask = () => this.#askNow(statement, values)
    return turn === undefined ? ask() : inTurn(turn, ask)
  }

  async #askNow(statement: Statement | string, values: readonly Parameter[]): Promise<Answer> {
    this.#assertOpen()
    return this.#prepared.askAlone(this.#options.pool, statement, values)
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw new StoreUnavailable('The store is closed.', 'later')
  }

  async #enlist<T>(
    work: (tx: PostgresTransaction) => Promise<T>,
    beginning?: Beginning,
  ): Promise<T> {
    assertOutsideWork(this)
    this.#assertOpen()
    const done = this.#withTries(work, beginning)
    this.#active.add(done)
    try {
      return await done
    } finally {
      this.#active.delete(done)
    }
  }

  async #withTries<T>(
    work: (tx: PostgresTransaction) => Promise<T>,
    beginning: Beginning | undefined,
  ): Promise<T> {
    const { triesMax, jitter } = this.#options
    for (let tries = 1; ; tries++) {
      try {
        const uncompared = tries > comparedMax ? { asOf: undefined } : {}
        return await this.#inTurn(beginning, () =>
          this.#attempt(work, beginning && { ...beginning, ...uncompared }),
        )
      } catch (error) {
        // What was ready is ready anew.
        if (beginning?.asOf !== undefined && error instanceof FeedMoved) continue
        // A race was lost, inside this process or to another replica. Retries happen only here.
        if (tries >= triesMax || !isWorthAnotherTry(error)) throw error
        const delay = backOff({ first: delayMillisecondsMin, most: delayMillisecondsMax }, tries)
        await sleep(delay * (0.5 + jitter() / 2))
      }
    }
  }

  /**
   * Of the transactions that run alone under one name, this process sends the server one at a time. Otherwise those that
   * wait would hold all connections, and everything else would wait with them. Where the server cannot answer one, those
   * that wait behind it fail with it, and do not find out one after the other.
   */
  #inTurn<T>({ alone, turn, ready }: Beginning = {}, attempt: () => Promise<T>): Promise<T> {
    const entered = turn?.()
    if (entered !== undefined) return inTurn(entered, attempt, ready)
    if (alone === undefined) return attempt()
    const done = (this.#lastAlone.get(alone) ?? Promise.resolve()).then(attempt)
    const ended = done.then(
      () => undefined,
      (error: unknown) => {
        if (error instanceof StoreUnavailable) throw error
      },
    )
    const forget = (): void => {
      if (this.#lastAlone.get(alone) === ended) this.#lastAlone.delete(alone)
    }
    this.#lastAlone.set(alone, ended)
    ended.then(forget, forget)
    return done
  }

  async #attempt<T>(
    work: (tx: PostgresTransaction) => Promise<T>,
    beginning: Beginning | undefined,
  ): Promise<T> {
    const client = await this.#connect()
    const tx = new PostgresTransaction(
      client,
      { prepared: this.#prepared, large: this.#large },
      beginning,
    )
    let usable = true
    try {
      const { alone, ready } = beginning ?? {}
      if (alone !== undefined && ready !== undefined) {
        await tx.begun()
        // In nobody's name: whoever holds a connection and a name waits for no turn.
        await forEverybody(ready)
        tx.expect(beginning?.asOf?.())
      }
      const value = await runInsideWork(this, () => work(tx))
      usable = await tx.commit()
      if (tx.scheduled) this.#tellOthers()
      return value
    } catch (error) {
      usable = await tx.rollback()
      throw await tx.reasonOf(error)
    } finally {
      client.release(!usable)
    }
  }

  /**
   * One notification for all commits made while the previous one was under way. Not sent inside the transactions,
   * because transactions that notify commit one after the other, each with its own flush (measured with 32 writers:
   * 1,600 writes a second inside, 2,800 outside).
   */
  #tellOthers(): void {
    this.#tellAgain = true
    this.#telling ??= this.#tell()
  }

  async #tell(): Promise<void> {
    while (this.#tellAgain) {
      this.#tellAgain = false
      try {
        await this.#prepared.askAlone(this.#options.pool, changes.notifyWork)
      } catch {
        // May fail: the others find the work when they next look.
      }
    }
    this.#telling = undefined
  }

  #beginningOf(mode: TransactionMode | undefined): Beginning {
    // Its turn is behind those of its name.
    if (typeof mode === 'string') return { alone: mode }
    const turn = () => this.#turns.write()
    if (mode === undefined) return { turn }
    if ('expected' in mode) return { ...mode, turn }
    if ('name' in mode) return { alone: mode.name, ready: mode.ready, asOf: mode.asOf }
    const { owner, ready } = mode
    return { turn: () => this.#turns.writeOf(owner), ready }
  }

  async #connect(): Promise<PoolClient> {
    try {
      return await this.#options.pool.connect()
    } catch (error) {
      throw translate(error)
    }
  }
}
