/**
 * The usage port: what ran, from when to when, and how much of what it held. Whoever makes things run tells it;
 * whoever charges for them implements it. It knows no price.
 */

/** One uninterrupted run of one thing. The same `key` is the same run, told as often as one likes. */
export interface UsageRun {
  /** Unique among all runs there ever were. */
  readonly key: string
  /** The resource as shown: `/subscriptions/…/containerGroups/web`. */
  readonly resourceId: string
  /** Milliseconds. */
  readonly startedAt: number
  /** Left out while it runs. Once told it stays. */
  readonly endedAt?: number
  /** The last moment it was seen running; not before `startedAt`. */
  readonly seenAt: number
  /** What was held for the length of the run, by meter: `containerGroups/cpu` → 0.5. */
  readonly held: Readonly<Record<string, number>>
}

export interface UsageMeter {
  /**
   * Durable when it resolves. Idempotent: of what is told of one key, the earliest end and the latest sight count.
   * Fails only as the store does.
   */
  note(runs: readonly UsageRun[]): Promise<void>
}
