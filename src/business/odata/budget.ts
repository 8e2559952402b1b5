/**
 * What one answer may still hold, in rows and in characters, and where its making pauses so that the server can do
 * other work. A batch has one budget for all of its requests. A page or a list that would be longer ends earlier, with
 * a next link; nothing is refused. Knows no rows and no statements.
 */

import { nextTurn } from '#stores/next-turn.ts'
import { odataLimits } from './limits.ts'

/** The characters of the smallest row: its tag and an id. */
const smallestRow = 100
/** The estimated characters of a row with lists, before it is read. */
const expandedRow = 4096

export class Budget {
  #rows: number
  #characters: number
  /** Inside a transaction only its own statements may be awaited. */
  readonly #pauses: boolean

  /** What is spent from a share is also spent from the whole. */
  readonly #whole: Budget | undefined

  /**
   * For a transaction, shared by its requests: lines that may come with their documents, lines of documents that may be
   * changed as a whole, and rows that filters and orders may scan, or lists below other rows have.
   */
  readonly nested: { lines: number; whole: number; scanned: number; listed: number }

  constructor(rows: number, characters: number, pauses: boolean, whole?: Budget) {
    this.#rows = rows
    this.#characters = characters
    this.#pauses = pauses
    this.#whole = whole
    const isOfTransaction = whole !== undefined && !whole.#pauses
    this.nested = isOfTransaction
      ? whole.nested
      : {
          lines: odataLimits.nestedLinesMax,
          whole: odataLimits.wholeLinesMax,
          scanned: odataLimits.scannedRowsMax,
          listed: odataLimits.listedRowsMax,
        }
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

  /** What cannot end earlier may go so far beyond the budget. */
  get isOverdrawn(): boolean {
    return this.#characters <= -odataLimits.answerCharactersMax
  }

  /** The number of rows for a page of the wanted size. At least one, so that paging always ends. */
  page(wanted: number): number {
    const fit = Math.floor(this.#characters / smallestRow)
    return Math.max(1, Math.min(wanted, this.#rows, fit))
  }

  /** The number of rows for each of so many lists. */
  each(lists: number): number {
    return Math.max(1, Math.floor(this.page(Number.POSITIVE_INFINITY) / lists))
  }

  /** The number of rows to read and write before the next pause. */
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

  /** A part of this budget: all except what is reserved for so many later requests. */
  share(behind: number): Budget {
    const { partRowsKept, partCharactersKept } = odataLimits
    const kept = (most: number, left: number): number =>
      behind * Math.min(most, Math.floor(Math.max(0, left) / (behind + 1)))
    const rows = this.#rows - kept(partRowsKept, this.#rows)
    const characters = this.#characters - kept(partCharactersKept, this.#characters)
    return new Budget(rows, characters, this.#pauses, this)
  }

  /** A budget for the requests of a group that run in one transaction. */
  inTransaction(): Budget {
    return this.inSnapshot(false)
  }

  /** A budget for reading requests on one snapshot. */
  inSnapshot(pauses: boolean): Budget {
    const rows = Math.min(this.#rows, odataLimits.transactionRowsMax)
    const characters = Math.min(this.#characters, odataLimits.transactionCharactersMax)
    return new Budget(rows, characters, pauses, this)
  }

  /** Lets the server do other work, if waiting is allowed. */
  async pause(): Promise<void> {
    if (this.#pauses) await nextTurn()
  }
}
