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

/** On a machine that gives this process a tenth of a processor, work still gets its time. */
const attemptsMax = 10

/**
 * Stops the work after so many milliseconds, also in the middle of a regular expression. What was stopped by the clock
 * while the machine did something else begins again, so the work must have no effects.
 */
export function runWithin<T>(milliseconds: number, work: () => T): Outcome<T> {
  const begun = processorMilliseconds()
  for (let attempt = 1; ; attempt++) {
    bridge.work = work
    try {
      // The script returns what the work returns.
      return { value: script.runInContext(context, { timeout: milliseconds }) as T }
    } catch (error) {
      if (!isTimeOut(error)) throw error
      const spent = processorMilliseconds() - begun
      if (attempt === attemptsMax || spent >= milliseconds / 2) return 'too-long'
    } finally {
      bridge.work = undefined
    }
  }
}

/** Of this thread; of the whole process where Node cannot tell (before 23.9). */
function processorMilliseconds(): number {
  const { user, system } = (process.threadCpuUsage ?? process.cpuUsage).call(process)
  return (user + system) / 1000
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
