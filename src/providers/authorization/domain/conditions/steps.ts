/** How much conditions may do for one decision. It does not depend on time, so that a decision is the same each time. */

/** What is left of it. */
export interface Steps {
  left: number
}

/** Characters of conditions, pairs of values and characters of patterns: all together some milliseconds. */
const stepsMax = 65_536

export function createSteps(): Steps {
  return { left: stepsMax }
}

/** Whether there were so many. */
export function spend(steps: Steps, count: number): boolean {
  steps.left -= count
  return steps.left >= 0
}
