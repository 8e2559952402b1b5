/**
 * Copies the write-ahead log into the file beside the writes: SQLite's own checkpoint of 32 MB inside a commit blocks
 * the event loop for 0.1 s and more. Another thread copies while writes go on. The pages they write meanwhile are
 * copied in a second, short pass, for which alone writes wait, without blocking the loop, so that the log can start
 * over.
 */

/** The pages that the log holds. */
export interface LogState {
  readonly pages: number
  /** How many of them the file has already. */
  readonly copied: number
}

/** Statements between two copies: 10 to 30 MB of log, so that a page that changes often is copied once. */
const statementsBetween = 8_000
/**
 * A larger log file is copied whatever the number of statements: some write megabytes. SQLite truncates a restarted
 * log to this size.
 */
const logBytesMax = 64 * 1024 * 1024
/** A larger log that a reader keeps from starting over is copied again when it has grown by this much. */
const logBytesBetween = 16 * 1024 * 1024
/** The log file is looked at once in so many commits: each may write megabytes, and a look costs as much as a statement. */
const commitsBetweenLooks = 8
/** Pages of 4 KiB above which the log is made to start over. */
const pagesMax = 8_192

export class Checkpoints {
  readonly #copy: () => Promise<LogState>
  readonly #isLogLonger: (bytes: number) => boolean
  #next = statementsBetween
  #commits = 0
  #nextBytes = logBytesMax
  #copying: Promise<void> | undefined
  #held: Promise<void> | undefined

  /**
   * `copy` copies what is committed at that moment, as far as no reader needs the log; `isLogLonger` compares the size of
   * the log file.
   */
  constructor(copy: () => Promise<LogState>, isLogLonger: (bytes: number) => boolean) {
    this.#copy = copy
    this.#isLogLonger = isLogLonger
  }

  /** What the next batch of writes has to wait for; usually nothing. Never rejects. */
  get held(): Promise<void> | undefined {
    return this.#held
  }

  /** Called after a commit, with the number of statements of all transactions so far. */
  committed(statements: number): void {
    if (this.#copying !== undefined) return
    const looks = this.#commits++ % commitsBetweenLooks === 0
    if (statements < this.#next && !(looks && this.#isLong())) return
    this.#next = statements + statementsBetween
    while (this.#isLogLonger(this.#nextBytes)) this.#nextBytes += logBytesBetween
    // A copy that fails now is tried again later; SQLite copies by itself when the log has grown long.
    const over = (): void => {
      this.#copying = undefined
      this.#held = undefined
    }
    this.#copying = this.#copyAll().then(over, over)
  }

  #isLong(): boolean {
    const wasLonger = this.#nextBytes > logBytesMax
    if (wasLonger && !this.#isLogLonger(logBytesMax)) this.#nextBytes = logBytesMax
    return this.#isLogLonger(this.#nextBytes)
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
