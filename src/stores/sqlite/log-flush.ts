/**
 * Flushes the write-ahead log beside the event loop. SQLite's own flush, inside COMMIT, holds the thread that commits until
 * the disk has answered: 0.1 to 10 ms in which nothing else is answered.
 */

import { close, fdatasync, openSync } from 'node:fs'
import { promisify } from 'node:util'

import { StoreUnavailable } from '../store.ts'

export class LogFlush {
  readonly #path: string
  #file: number | undefined
  #underWay: Promise<void> | undefined

  /** `path` is that of the database. */
  constructor(path: string) {
    this.#path = path
  }

  /** The end of the flush under way; rejects where that fails. `undefined` where there is none. */
  get underWay(): Promise<void> | undefined {
    return this.#underWay
  }

  /** Resolves when all that was written to the log before is on the disk. Throws `StoreUnavailable` where that fails. */
  flush(): Promise<void> {
    const flushed = this.#flush().finally(() => {
      this.#underWay = undefined
    })
    this.#underWay = flushed
    return flushed
  }

  async #flush(): Promise<void> {
    try {
      // SQLite takes no lock on the log itself, so opening and closing it here releases none of SQLite's locks.
      this.#file ??= openSync(`${this.#path}-wal`, 'r+')
      await promisify(fdatasync)(this.#file)
    } catch (error) {
      throw new StoreUnavailable(
        `The disk did not take what was written: ${error instanceof Error ? error.message : String(error)}`,
        'later',
        { cause: error },
      )
    }
  }

  async close(): Promise<void> {
    if (this.#file !== undefined) await promisify(close)(this.#file)
    this.#file = undefined
  }
}
