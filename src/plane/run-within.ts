/** Synchronous work that others wrote, with an end: what it would do to the event loop is not known beforehand. */

import { createContext, Script } from 'node:vm'

type Outcome<T> = { readonly value: T } | 'too-long'

interface Bridge {
  work: (() => unknown) | undefined
}

const bridge: Bridge = { work: undefined }
const context = createContext(bridge)
const script = new Script('work()')

/** Ended in the middle of whatever it does, a regular expression too, after so much time by the clock. */
export function runWithin<T>(milliseconds: number, work: () => T): Outcome<T> {
  bridge.work = work
  try {
    // The script answers what the work does.
    return { value: script.runInContext(context, { timeout: milliseconds }) as T }
  } catch (error) {
    if (isTimeOut(error)) return 'too-long'
    throw error
  } finally {
    bridge.work = undefined
  }
}

/** Made in the other context, so it is no `Error` of this one. */
function isTimeOut(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  )
}
