/** Counts the rows and bytes of a stream as they pass, and tells the ledger now and then. */

import { Transform, type TransformCallback } from 'node:stream'
import type { Ledger } from '../engine.ts'
import { ticks } from '../ticks.ts'

const tellMilliseconds = 500
const lineFeed = 10

export class Meter extends Transform {
  rows = 0
  bytes = 0
  readonly #ledger: Ledger
  #toldAt = ticks()
  #telling: Promise<void> | undefined

  constructor(ledger: Ledger) {
    super({ highWaterMark: 1024 * 1024 })
    this.#ledger = ledger
  }

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    this.bytes += chunk.length
    // In COPY's text a row is a line: feeds within values are escaped.
    for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, at + 1))
      this.rows++
    if (ticks() - this.#toldAt < tellMilliseconds || this.#telling !== undefined) {
      done(null, chunk)
      return
    }
    this.#toldAt = ticks()
    const { rows, bytes } = this
    this.#telling = this.#ledger
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

  /** Resolves when nothing is being told any more. */
  async settled(): Promise<void> {
    await this.#telling
  }
}
