/**
 * Counts the rows and bytes of a stream, or takes its source's counts, and reports them to the journal now and
 * then.
 */

import { Transform, type TransformCallback } from 'node:stream'
import { elapsedMilliseconds } from '../elapsed.ts'
import type { CopyJournal } from '../engine.ts'

const tellMilliseconds = 500
const lineFeed = 10

/** The counts of a source of frames so far. */
interface CountedSource {
  readonly frames: number
  readonly bytes: number
}

export class Meter extends Transform {
  rows = 0
  bytes = 0
  readonly #journal: CopyJournal
  readonly #source: CountedSource | undefined
  #reportedAt = elapsedMilliseconds()
  #telling: Promise<void> | undefined

  constructor(journal: CopyJournal, source?: CountedSource) {
    super({ highWaterMark: 1024 * 1024 })
    this.#journal = journal
    this.#source = source
  }

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    this.#count(chunk)
    if (
      elapsedMilliseconds() - this.#reportedAt < tellMilliseconds ||
      this.#telling !== undefined
    ) {
      done(null, chunk)
      return
    }
    this.#reportedAt = elapsedMilliseconds()
    const { rows, bytes } = this
    this.#telling = this.#journal
      .commit({
        done: [],
        counted: {},
        underway: { rowsRead: rows, rowsCopied: rows, sizeRead: bytes, sizeWritten: bytes },
      })
      .finally(() => {
        this.#telling = undefined
      })
    this.#telling.catch((error: unknown) => {
      this.destroy(error instanceof Error ? error : new Error(String(error)))
    })
    done(null, chunk)
  }

  #count(chunk: Buffer): void {
    if (this.#source !== undefined) {
      this.rows = this.#source.frames
      this.bytes = this.#source.bytes
      return
    }
    this.bytes += chunk.length
    // Nearly every line of CSV is a row; the server reports the exact number at the end.
    for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, at + 1))
      this.rows++
  }

  /** Resolves when no report is in progress. */
  async settled(): Promise<void> {
    await this.#telling
  }
}
