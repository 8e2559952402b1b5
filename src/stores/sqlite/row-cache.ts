/**
 * Committed rows kept in memory, up to a bound in bytes. Only this process writes the file, so a row stays valid
 * until this process commits another; each commit says which keys changed and puts the new rows. Never holds anything
 * uncommitted.
 */

import type { ResourceRow } from '../store.ts'

/** Key, id, type and tag beside the document, roughly. */
const rowOverheadBytes = 600

/**
 * Two generations: rows go into the young one; when that is full it becomes the old one, and the previous old one is
 * dropped. A hit in the old one moves the row to the young one, so used rows stay without an order to update on every
 * hit.
 */
export class RowCache {
  readonly #generationBytesMax: number
  #young = new Map<string, ResourceRow>()
  #old = new Map<string, ResourceRow>()
  #youngBytes = 0

  constructor(bytesMax: number) {
    this.#generationBytesMax = bytesMax / 2
  }

  get(key: string): ResourceRow | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) {
      this.#old.delete(key)
      this.put(old)
    }
    return old
  }

  put(row: ResourceRow): void {
    const bytes = bytesOf(row)
    if (bytes > this.#generationBytesMax / 8) return
    if (this.#youngBytes + bytes > this.#generationBytesMax) {
      this.#old = this.#young
      this.#young = new Map()
      this.#youngBytes = 0
    }
    this.#young.set(row.key, row)
    this.#youngBytes += bytes
  }

  /** The row was written or may have been, so the next read asks the database. */
  clear(): void {
    this.#young.clear()
    this.#old.clear()
    this.#youngBytes = 0
  }

  forget(key: string): void {
    const young = this.#young.get(key)
    if (young !== undefined) {
      this.#young.delete(key)
      this.#youngBytes -= bytesOf(young)
    }
    this.#old.delete(key)
  }
}

function bytesOf(row: ResourceRow): number {
  return row.document.length + rowOverheadBytes
}
