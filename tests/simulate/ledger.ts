/**
 * What the writers sent and what was answered, by correlation id. The store is compared with it. Draws no
 * conclusions.
 */

/**
 * `acknowledged`: answered with success, so it must last. `refused`: answered with a refusal, so it must
 * never show. `doubtful`: no answer, or one that admits not to know; it is wholly there or wholly not.
 */
export type Verdict = 'acknowledged' | 'refused' | 'doubtful'

interface Sent {
  readonly correlationId: string
  readonly at: number
  readonly replica: string
  readonly method: string
  readonly path: string
  readonly verdict: Verdict
  /** The status, or the reason why there is none. */
  readonly answer: string
  /** True if an event of the audit trail must report it. */
  readonly leavesEvent: boolean
}

export class Ledger {
  readonly #sent = new Map<string, Sent>()

  add(sent: Sent): void {
    this.#sent.set(sent.correlationId, sent)
  }

  get all(): Iterable<Sent> {
    return this.#sent.values()
  }

  get(correlationId: string): Sent | undefined {
    return this.#sent.get(correlationId)
  }

  count(verdict: Verdict): number {
    let found = 0
    for (const sent of this.#sent.values()) if (sent.verdict === verdict) found++
    return found
  }

  /** The last requests for a path, for the reader of a failure. */
  historyOf(path: string, last = 30): readonly string[] {
    const lower = path.toLowerCase()
    return [...this.#sent.values()]
      .filter((sent) => sent.path.toLowerCase() === lower)
      .slice(-last)
      .map(
        ({ at, replica, method, answer, verdict, correlationId }) =>
          `    ${new Date(at).toISOString()} ${replica} ${method} ${correlationId}: ${answer} (${verdict})`,
      )
  }
}
