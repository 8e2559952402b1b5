/**
 * How fast a run goes on. A slow source keeps its place as long as nobody else wants it; this says whether it is slow.
 * Bytes count, and each item as some of them: many small ones take as long. It knows nothing of who waits.
 */

import type { CopyJournal, Progress } from '#engines/copy/engine.ts'

/** A run connects and lists first, and a file of DuckDB is loaded by one statement. */
const windowMilliseconds = 5 * 60_000
const bytesPerWindowMin = 5 * 1024 * 1024
/** What has its place for so long is a large copy, which is slow at a rate that a small one may have. */
const longMilliseconds = 30 * 60_000
const bytesPerWindowOfLongMin = 300 * 1024 * 1024
/** Publishing is one statement of the target, or its last ones, and reports little. */
const publishMilliseconds = 10 * 60_000
const bytesPerItem = 4096

export class Pace {
  readonly #beganAt: number
  #windowAt: number
  #bytes = 0
  /** The last full window was slow. */
  #wasSlow = false
  readonly #publishing = new Set<CopyJournal>()
  #publishingAt = 0

  constructor(now: number) {
    this.#beganAt = now
    this.#windowAt = now
  }

  /** Asked now and then. */
  isSlow(now: number): boolean {
    if (this.#publishing.size === 0) this.#publishingAt = now
    if (now - this.#windowAt >= windowMilliseconds) {
      const isLong = now - this.#beganAt >= longMilliseconds
      this.#wasSlow = this.#bytes < (isLong ? bytesPerWindowOfLongMin : bytesPerWindowMin)
      this.#windowAt = now
      this.#bytes = 0
    }
    return (
      this.#wasSlow &&
      (this.#publishing.size === 0 || now - this.#publishingAt >= publishMilliseconds)
    )
  }

  /** Gives the work the same journal, whose progress is counted. */
  async during(journal: CopyJournal, work: (counted: CopyJournal) => Promise<void>): Promise<void> {
    let underway = 0
    const count = ({ done, counted, underway: now }: Progress): void => {
      const moved = bytesOf(now)
      // Progress under way replaces the last one, and begins anew when it is done or tried again.
      this.#bytes += bytesOf(counted) + Math.max(0, moved - underway) + done.length * bytesPerItem
      underway = moved
    }
    const counted: CopyJournal = {
      ...journal,
      todo: (items) => {
        this.#bytes += items.length * bytesPerItem
        return journal.todo(items)
      },
      commit: (progress) => {
        count(progress)
        return journal.commit(progress)
      },
      publishing: () => {
        this.#publishing.add(journal)
        return journal.publishing()
      },
    }
    try {
      await work(counted)
    } finally {
      this.#publishing.delete(journal)
    }
  }
}

function bytesOf({ sizeRead = 0 }: { readonly sizeRead?: number }): number {
  return sizeRead
}
