/**
 * Copies the write-ahead log into the file, beside the writes: in a commit, SQLite's own copy of 32 MB holds the event
 * loop for a tenth of a second and more. Another thread does it while writes go on; what they write meanwhile is copied
 * at once after it, and only then do they wait, without holding the loop, so that the log begins anew.
 */

/** What the log holds, in pages. */
export interface LogState {
  readonly pages: number
  /** Of them, those that the file has. */
  readonly copied: number
}

/** Statements of writers between two copies: 10 to 30 MB of log, so that pages changed often are copied once. */
const statementsBetween = 8_000
/** A log file above this is copied whatever the statements: some write megabytes. SQLite cuts one that begins anew to it. */
const logBytesMax = 64 * 1024 * 1024
/** A log above that, which a reader keeps from beginning anew, is copied again when it has grown by so much. */
const logBytesBetween = 16 * 1024 * 1024
/** A log longer than this is made to begin anew. A page has 4 KiB. */
const pagesMax = 8_192

export class Checkpoints {
  readonly #copy: () => Promise<LogState>
  readonly #logBytes: () => number
  #next = statementsBetween
  #nextBytes = logBytesMax
  #copying: Promise<void> | undefined
  #held: Promise<void> | undefined

  /** `copy` copies what is committed at that moment, as far as no reader needs the log; `logBytes` is the size of its file. */
  constructor(copy: () => Promise<LogState>, logBytes: () => number) {
    this.#copy = copy
    this.#logBytes = logBytes
  }

  /** What the next batch of writes waits for; mostly nothing. Never rejects. */
  get held(): Promise<void> | undefined {
    return this.#held
  }

  /** After a commit, with the statements of all transactions so far. */
  committed(statements: number): void {
    if (this.#copying !== undefined) return
    const bytes = this.#logBytes()
    if (bytes <= logBytesMax) this.#nextBytes = logBytesMax
    if (statements < this.#next && bytes <= this.#nextBytes) return
    this.#next = statements + statementsBetween
    this.#nextBytes = Math.max(logBytesMax, bytes + logBytesBetween)
    // What cannot be copied now is copied the next time; SQLite itself does when the log has grown long.
    const over = (): void => {
      this.#copying = undefined
      this.#held = undefined
    }
    this.#copying = this.#copyAll().then(over, over)
  }

  async #copyAll(): Promise<void> {
    const { pages } = await this.#copy()
    if (pages <= pagesMax) return
    const rest = this.#copy()
    this.#held = rest.then(
      () => {},
      () => {},
    )
    await rest
  }

  /** Resolves when no copy is under way. */
  async settle(): Promise<void> {
    await this.#copying
  }
}
