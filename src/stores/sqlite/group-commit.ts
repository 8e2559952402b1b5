/**
 * Group commit: the transactions that arrive in one turn of the event loop run one after the other inside
 * one SQLite transaction, and share its flush to disk. Knows nothing of what they do.
 */

import type { DatabaseSync } from 'node:sqlite'

import { ticks } from '../next-turn.ts'
import { StoreUnavailable } from '../store.ts'
import { isWorthAnotherTry } from '../tries.ts'
import { translate } from './failure.ts'
import { OwnersInTurn } from './owners-in-turn.ts'
import { batches } from './statements.ts'
import type { Turns } from './turns.ts'

/** One transaction of a batch. */
export interface Unit {
  /** In whose name it is; nobody's in particular without one. */
  readonly owner?: string | undefined
  /**
   * Runs the work once, from the start. It must not wait longer than the current turn of the event loop, except for
   * `turns`.
   */
  attempt(): Promise<void>
  /** Called when the attempt's rows are part of the batch. */
  kept(): void
  /**
   * Called after every failed attempt, and for successful ones when the whole batch runs again: the attempt's rows
   * are gone or about to go, and nothing it did may show. Returns whether the attempt may have written.
   */
  undone(): boolean
  /** Called when the batch is durable. */
  committed(): void
  /** Called at the end, after the last attempt or when the batch was lost. */
  failed(error: unknown): void
}

interface GroupCommitOptions {
  readonly db: DatabaseSync
  readonly triesMax: number
  /** Units in one batch; further ones wait for the next batch and its flush. */
  readonly unitsMax: number
  /** Gives the pauses inside and between units. */
  readonly turns: Turns
  /** What the next batch has to wait for, if anything; never rejects. */
  readonly held?: () => Promise<void> | undefined
  /** Called once per batch, after it became durable and before any unit is notified. */
  readonly onCommit: () => void
  /** Called when everything a batch wrote was rolled back. */
  readonly onUndone: () => void
}

/**
 * After a batch had to run a second time, this many batches use savepoints from the start, so that a caller whose
 * work fails repeatedly after writing costs others little.
 */
const batchesApart = 64

/** Statements after which a batch is committed: a commit takes longer the more was written. */
const statementsPerBatchMax = 1_000
/** Milliseconds after which a batch is committed: the transactions of others wait for its end. */
const millisecondsPerBatchMax = 100

export class GroupCommit {
  readonly #options: GroupCommitOptions
  readonly #statements: Readonly<Record<keyof typeof batches, { run(): unknown }>>
  readonly #waiting: Unit[] = []
  readonly #owners = new OwnersInTurn()
  #batchesApart = 0
  #scheduled = false
  #running: Promise<void> | undefined
  #closed = false

  constructor(options: GroupCommitOptions) {
    const { db } = options
    this.#options = options
    this.#statements = {
      begin: db.prepare(batches.begin),
      commit: db.prepare(batches.commit),
      rollback: db.prepare(batches.rollback),
      savepoint: db.prepare(batches.savepoint),
      release: db.prepare(batches.release),
      rollbackTo: db.prepare(batches.rollbackTo),
    }
  }

  /** The end of the running batch; `undefined` when there is none. */
  get running(): Promise<void> | undefined {
    return this.#running
  }

  add(unit: Unit): void {
    if (this.#closed) {
      unit.failed(new StoreUnavailable('The store is closed.', 'later'))
      return
    }
    this.#waiting.push(unit)
    this.#schedule()
  }

  /** Completes what was added and accepts no more. */
  async close(): Promise<void> {
    this.#closed = true
    while (this.#running !== undefined || this.#waiting.length > 0) {
      await (this.#running ?? nextTurn())
    }
  }

  /** By `setImmediate`: requests read from sockets in this turn still join the batch. */
  #schedule(): void {
    if (this.#scheduled || this.#running !== undefined) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      // Set before the first work runs, since that work must already see a running batch.
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#running = promise
      void this.#runNext().then(() => {
        this.#running = undefined
        resolve()
        if (this.#waiting.length > 0) this.#schedule()
      })
    })
  }

  async #runNext(): Promise<void> {
    const held = this.#options.held?.()
    if (held !== undefined) await held
    await this.#runBatch(this.#owners.take(this.#waiting, this.#options.unitsMax))
  }

  /** Never rejects: units get every outcome. */
  async #runBatch(units: readonly Unit[]): Promise<void> {
    const { db, onCommit, onUndone, turns } = this.#options
    const open = new Set(units)
    turns.begin()
    try {
      this.#statements.begin.run()
      if (!(await this.#runTogether(open))) await this.#runApart(open)
      if (db.isTransaction) this.#statements.commit.run()
    } catch (error) {
      // The whole batch is lost: disk full, or the like.
      if (db.isTransaction) this.#statements.rollback.run()
      onUndone()
      const reason = translate(error)
      for (const unit of open) unit.failed(reason)
      return
    }
    onCommit()
    for (const unit of open) unit.committed()
  }

  /**
   * Runs every unit without a savepoint; this usually succeeds. False when a unit failed after it wrote: all are then
   * rolled back. Units that fail without having written are removed from `open`. Also false, without running
   * anything, for a single unit soon after such a failure.
   */
  async #runTogether(open: Set<Unit>): Promise<boolean> {
    const { db, onUndone, turns } = this.#options
    if (open.size === 1) return false
    if (this.#batchesApart > 0) {
      this.#batchesApart--
      return false
    }
    const kept: Unit[] = []
    const failed: (readonly [Unit, unknown])[] = []
    const begun = { statements: turns.total, at: ticks() }
    for (const unit of open) {
      await turns.pause()
      if (this.#isFull(begun, unit, open)) break
      try {
        await this.#owners.measured(unit.owner, () => settledInItsTurns(unit.attempt(), turns))
        unit.kept()
        kept.push(unit)
      } catch (error) {
        if (unit.undone() || !db.isTransaction || isWorthAnotherTry(error)) {
          for (const other of kept) other.undone()
          if (db.isTransaction) this.#statements.rollback.run()
          onUndone()
          this.#statements.begin.run()
          this.#batchesApart = batchesApart
          return false
        }
        failed.push([unit, error])
      }
    }
    for (const [unit, error] of failed) {
      open.delete(unit)
      unit.failed(translate(error))
    }
    return true
  }

  /** Runs every unit so that its rows can be rolled back without those of the others. */
  async #runApart(open: Set<Unit>): Promise<void> {
    const { turns } = this.#options
    const alone = open.size === 1
    const begun = { statements: turns.total, at: ticks() }
    for (const unit of open) {
      await turns.pause()
      if (this.#isFull(begun, unit, open)) break
      if (!(await this.#runUnit(unit, alone))) open.delete(unit)
    }
  }

  /** True when the batch has written enough: this unit and those after it go to the next batch. */
  #isFull(begun: { statements: number; at: number }, unit: Unit, open: Set<Unit>): boolean {
    const statements = this.#options.turns.total - begun.statements
    const isLong = ticks() - begun.at > millisecondsPerBatchMax && !isFirst(unit, open)
    if (statements < statementsPerBatchMax && !isLong) return false
    const all = [...open]
    const rest = all.slice(all.indexOf(unit))
    for (const one of rest) open.delete(one)
    this.#waiting.unshift(...rest)
    return true
  }

  /**
   * True when the unit's rows are part of the batch, false when it was told of its failure. Throws when the batch is
   * lost. A single unit needs no savepoint: it is the transaction.
   */
  async #runUnit(unit: Unit, alone: boolean): Promise<boolean> {
    const { db, triesMax, turns } = this.#options
    for (let tries = 1; ; tries++) {
      if (alone && !db.isTransaction) this.#statements.begin.run()
      if (!alone) this.#statements.savepoint.run()
      try {
        await this.#owners.measured(unit.owner, () => settledInItsTurns(unit.attempt(), turns))
        if (!alone) this.#statements.release.run()
        unit.kept()
        return true
      } catch (error) {
        // A refusal, a lost race or a failure; what was written is rolled back in any case.
        unit.undone()
        if (db.isTransaction) this.#undo(alone)
        else if (!alone) throw error
        if (tries < triesMax && isWorthAnotherTry(error)) continue
        unit.failed(translate(error))
        return false
      }
    }
  }

  #undo(alone: boolean): void {
    if (alone) {
      this.#statements.rollback.run()
    } else {
      this.#statements.rollbackTo.run()
      this.#statements.release.run()
    }
  }
}

/** One is run in any case: a slow machine may use up the time before it. */
function isFirst(unit: Unit, open: Set<Unit>): boolean {
  const [first] = open
  return first === unit
}

/**
 * Everything a work may await settles in microtasks, or is a pause. Work that is still open in the next turn awaits
 * something else and would block every other writer, so it fails with a clear error.
 */
function settledInItsTurns(attempt: Promise<void>, turns: Turns): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      if (turns.arePausing) {
        guard = setImmediate(look)
        return
      }
      reject(
        new Error(
          'The work of a transaction awaited something other than the calls of its transaction ' +
            '(a timer, a socket, another transaction). It was rolled back.',
        ),
      )
    }
    let guard = setImmediate(look)
    attempt.then(
      () => {
        clearImmediate(guard)
        resolve()
      },
      (error: unknown) => {
        clearImmediate(guard)
        reject(error)
      },
    )
  })
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
