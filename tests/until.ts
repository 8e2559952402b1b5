/**
 * Waits for what comes by itself, such as a state that the reconciler brings. The wait has an end: then it fails, and names
 * what did not come by its code.
 */

import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'

/** Far more than a busy machine needs, and less than the runner gives a test. */
const patienceMilliseconds = 300_000

type Truthy<T> = Exclude<T, false | undefined | null | 0 | ''>

/** Looks again and again until there is something, and returns it. */
export async function until<T>(
  look: () => T | Promise<T>,
  everyMilliseconds = 20,
): Promise<Truthy<T>> {
  const end = performance.now() + patienceMilliseconds
  while (performance.now() < end) {
    const found = await look()
    // Exactly what the type takes away.
    if (found) return found as Truthy<T>
    await pause(everyMilliseconds)
  }
  return assert.fail(`not in ${patienceMilliseconds / 1000} seconds: ${look}`)
}
