/**
 * What one answer may still hold, in rows and in characters, and where its making pauses so that the server can do
 * other work. A batch has one budget for all of its requests. A page or a list that would be longer ends earlier, with
 * a next link; nothing is refused. Knows no rows and no statements.
 */

import { nextTurn } from '#stores/next-turn.ts'
import { odataLimits } from './limits.ts'

/** Characters that the smallest row takes: its tag and an id. */
const smallestRow = 100
/** Characters that a row with lists below it is taken to have, before it is read. */
const expandedRow = 4096

export class Budget {
  #rows: number
  #characters: number
  /** Inside a transaction nothing but its own statements may be awaited. */
  readonly #pauses: boolean

  /** What is taken out of a share is gone from the whole too. */
  readonly #whole: Budget | undefined

  /**
   * Of a transaction: lines that may still come with their documents, and rows that its filters and orders may still
   * look through. Shared by the requests in it.
   */
  readonly nested: { lines: number; scanned: number }

  constructor(rows: number, characters: number, pauses: boolean, whole?: Budget) {
    this.#rows = rows
    this.#characters = characters
    this.#pauses = pauses
    this.#whole = whole
    const isOfTransaction = whole !== undefined && !whole.#pauses
    this.nested = isOfTransaction
      ? whole.nested
      : { lines: odataLimits.nestedLinesMax, scanned: odataLimits.scannedRowsMax }
  }

  static ofAnswer(): Budget {
    return new Budget(odataLimits.answerRowsMax, odataLimits.answerCharactersMax, true)
  }

  static ofTransaction(): Budget {
    return new Budget(odataLimits.transactionRowsMax, odataLimits.transactionCharactersMax, false)
  }

  get isSpent(): boolean {
    return this.#rows <= 0 || this.#characters <= 0
  }

  /** Rows of a page that would like to have so many. One at least, or nobody would come to an end. */
  page(wanted: number): number {
    const fit = Math.floor(this.#characters / smallestRow)
    return Math.max(1, Math.min(wanted, this.#rows, fit))
  }

  /** Rows of each of so many lists. */
  each(lists: number): number {
    return Math.max(1, Math.floor(this.page(Number.POSITIVE_INFINITY) / lists))
  }

  /** Rows to read and to write before the next pause. */
  atOnce(expands: boolean): number {
    if (!expands) return odataLimits.rowsAtOnce
    const fit = Math.floor(this.#characters / expandedRow)
    return Math.max(1, Math.min(odataLimits.expandingRowsAtOnce, fit))
  }

  spend(rows: number, characters: number): void {
    this.#rows -= rows
    this.#characters -= characters
    this.#whole?.spend(rows, characters)
  }

  /** A budget out of this one: all but what is kept for so many requests behind it. */
  share(behind: number): Budget {
    const { partRowsKept, partCharactersKept } = odataLimits
    const kept = (most: number, left: number): number =>
      behind * Math.min(most, Math.floor(Math.max(0, left) / (behind + 1)))
    const rows = this.#rows - kept(partRowsKept, this.#rows)
    const characters = this.#characters - kept(partCharactersKept, this.#characters)
    return new Budget(rows, characters, this.#pauses, this)
  }

  /** For the requests of a group that happen in one transaction. */
  inTransaction(): Budget {
    return this.inSnapshot(false)
  }

  /** For requests that only read, all from one state of the store. */
  inSnapshot(pauses: boolean): Budget {
    const rows = Math.min(this.#rows, odataLimits.transactionRowsMax)
    const characters = Math.min(this.#characters, odataLimits.transactionCharactersMax)
    return new Budget(rows, characters, pauses, this)
  }

  /** Lets the server do other work, where that may be waited for. */
  async pause(): Promise<void> {
    if (this.#pauses) await nextTurn()
  }
}
