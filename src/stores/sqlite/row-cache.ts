/**
 * Committed rows kept in memory, up to a bound in bytes. Only this process writes the file, so a row stays valid
 * until this process commits another; each commit says which keys changed and puts the new rows. Never holds anything
 * uncommitted.
 */

import { weightOf } from '#kernel/json-weight.ts'
import { LargeRows } from '../large-rows.ts'
import type { ResourceRow } from '../store.ts'

/** Key, id, type and tag beside the document, roughly. */
const rowOverheadBytes = 600

interface Kept {
  row: ResourceRow
  bytes: number
  /** Read since the last pass over it. */
  isUsed: boolean
  before: Kept
  after: Kept
}

/**
 * The clock algorithm. When room is needed, it passes over the rows in a circle and drops those that were not read
 * since its last pass. A hit only sets a mark, and rows may fill the whole bound. The circle is of the rows themselves: an iterator
 * that stands still would keep all that the map has held since.
 */
export class RowCache {
  readonly #bytesMax: number
  readonly #rows = new Map<string, Kept>()
  #hand: Kept | undefined
  #bytes = 0
  readonly large = new LargeRows()

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get(key: string): ResourceRow | undefined {
    const kept = this.#rows.get(key)
    if (kept === undefined) return undefined
    kept.isUsed = true
    return kept.row
  }

  /** Takes the place of the row with the same key. A very large row is not kept: it would push out too many others. */
  put(row: ResourceRow): void {
    const most = this.#bytesMax / 16
    const bytes = row.document.length > most ? most + 1 : bytesOf(row)
    this.large.note(row)
    if (bytes > most) {
      this.forget(row.key)
      return
    }
    const kept = this.#rows.get(row.key)
    if (kept === undefined) this.#add(row, bytes)
    else {
      this.#bytes -= kept.bytes
      kept.row = row
      kept.bytes = bytes
    }
    this.#bytes += bytes
    while (this.#bytes > this.#bytesMax) this.#turnHand()
  }

  clear(): void {
    this.#rows.clear()
    this.#hand = undefined
    this.#bytes = 0
  }

  /** Where the hand comes last. */
  #add(row: ResourceRow, bytes: number): void {
    const hand = this.#hand
    const kept = { row, bytes, isUsed: false } as Kept
    kept.after = hand ?? kept
    kept.before = hand?.before ?? kept
    kept.after.before = kept
    kept.before.after = kept
    this.#hand ??= kept
    this.#rows.set(row.key, kept)
  }

  /** The row was written or may have been, so the next read asks the database. */
  forget(key: string): void {
    const kept = this.#rows.get(key)
    if (kept === undefined) return
    this.#rows.delete(key)
    this.#bytes -= kept.bytes
    const { before, after } = kept
    before.after = after
    after.before = before
    if (this.#hand === kept) this.#hand = after === kept ? undefined : after
  }

  #turnHand(): void {
    const hand = this.#hand
    if (hand === undefined) return
    if (!hand.isUsed) {
      this.forget(hand.row.key)
      return
    }
    hand.isUsed = false
    this.#hand = hand.after
  }
}

/** Others may keep the row as objects as long as it is kept here. */
function bytesOf(row: ResourceRow): number {
  return weightOf(row.document) + rowOverheadBytes
}
