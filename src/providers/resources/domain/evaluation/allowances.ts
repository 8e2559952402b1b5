/**
 * How much time of the evaluating threads each principal may take: a store of seconds that fills by itself. What was
 * taken is known only afterwards, so one may owe; who owes is refused, or waits. Knows no threads and no templates.
 */

export interface AllowanceRule {
  /** The quota in milliseconds of a principal that has not evaluated anything for long. */
  readonly full: number
  /** The milliseconds that return per millisecond. */
  readonly refill: number
  /** The number of remembered principals; the oldest is forgotten first. */
  readonly principalsMax: number
  /** Counted like everybody, and never refused. */
  isUnrefused?(principalId: string): boolean
}

export const defaultAllowance: AllowanceRule = {
  full: 30_000,
  refill: 0.25,
  principalsMax: 10_000,
}

interface Account {
  left: number
  at: number
}

export class Allowances {
  readonly #rule: AllowanceRule
  readonly #accounts = new Map<string, Account>()

  constructor(rule: AllowanceRule) {
    this.#rule = rule
  }

  left(principalId: string, now: number): number {
    const account = this.#accounts.get(principalId)
    if (account === undefined) return this.#rule.full
    const earned = Math.max(0, now - account.at) * this.#rule.refill
    return Math.min(this.#rule.full, account.left + earned)
  }

  /** Nobody owes more than a full quota. */
  take(principalId: string, milliseconds: number, now: number): void {
    const left = Math.max(-this.#rule.full, this.left(principalId, now) - milliseconds)
    this.#accounts.delete(principalId)
    this.#accounts.set(principalId, { left, at: now })
    const [oldest] = this.#accounts.keys()
    if (this.#accounts.size > this.#rule.principalsMax && oldest !== undefined) {
      this.#accounts.delete(oldest)
    }
  }

  /** Milliseconds until nothing is owed any more; zero when nothing is. */
  wait(principalId: string, now: number): number {
    if (this.#rule.isUnrefused?.(principalId) === true) return 0
    return Math.max(0, Math.ceil(-this.left(principalId, now) / this.#rule.refill))
  }
}
