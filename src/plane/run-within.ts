/**
 * Runs synchronous work that others wrote, with a time limit: how long it would block the event loop is not known
 * beforehand.
 */

import { createContext, Script } from 'node:vm'

type Outcome<T> = { readonly value: T } | 'too-long'

interface Bridge {
  work: (() => unknown) | undefined
}

const bridge: Bridge = { work: undefined }
const context = createContext(bridge)
const script = new Script('work()')

/** Stops the work after so many milliseconds by the clock, also in the middle of a regular expression. */
export function runWithin<T>(milliseconds: number, work: () => T): Outcome<T> {
  bridge.work = work
  try {
    // The script returns what the work returns.
    return { value: script.runInContext(context, { timeout: milliseconds }) as T }
  } catch (error) {
    if (isTimeOut(error)) return 'too-long'
    throw error
  } finally {
    bridge.work = undefined
  }
}

/** The error comes from the other context, so it is no instance of this context's `Error`. */
function isTimeOut(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  )
}
