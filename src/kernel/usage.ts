/**
 * The usage port: what ran, from when to when, and what it reserved. Engines report runs; billing implements the
 * port. It knows no prices.
 */

/** One uninterrupted run. The same series and beginning mean the same run, which may be reported any number of times. */
export interface UsageRun {
  /**
   * What runs, one run after the other: a container of a group. Whoever reports a run for the first time has reported
   * those before it, so old ones need not be kept to know them again.
   */
  readonly series: string
  /** The resource as shown: `/subscriptions/…/containerGroups/web`. */
  readonly resourceId: string
  /** Milliseconds since 1970. */
  readonly startedAt: number
  /** Left out while it runs. Once reported it does not change. */
  readonly endedAt?: number
  /** The last moment at which it was seen running; not before `startedAt`. */
  readonly seenAt: number
  /** What was reserved during the run, by meter: `containerGroups/cpu` → 0.5. */
  readonly held: Readonly<Record<string, number>>
}

export interface UsageMeter {
  /**
   * Stores runs; they are durable when the promise resolves. Repeating a call changes nothing: for each run the
   * earliest end and the latest `seenAt` count. Fails only when the store fails.
   */
  note(runs: readonly UsageRun[]): Promise<void>
}

/** The name of a run among all ever. */
export function runKeyOf({ series, startedAt }: Pick<UsageRun, 'series' | 'startedAt'>): string {
  return `${series}|${startedAt}`
}
