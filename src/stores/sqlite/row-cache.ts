/**
 * Committed rows kept in memory, up to a bound in bytes. One process writes a file, so a row stays true until this process
 * commits another; whoever commits says which keys, and puts the rows that now stand. Holds nothing uncommitted, ever.
 */

import type { ResourceRow } from '../store.ts'

/** Key, id, type and tag beside the document, roughly. */
const rowOverheadBytes = 600

/**
 * Two generations: rows are put into the young one; when that is full the old one is forgotten and takes its
 * place. A hit in the old one moves the row over, so what is used stays, without an order to keep on every hit.
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

  /** The row was written or may have been: the next read asks the database. */
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
