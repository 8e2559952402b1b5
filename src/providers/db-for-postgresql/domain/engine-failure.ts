/** A failure of the engine as a value. Only this file translates the engine's errors. */

import { DatabaseEngineError } from '#engines/databases/engine.ts'
import { StepFailure } from '#plane/declare/reconciled.ts'

export interface Failure {
  readonly kind: 'failure'
  readonly message: string
  /** The error number of facts 8.5, if it has one. */
  readonly number: number | undefined
  /** True if the same call may succeed later. */
  readonly passes: boolean
  /** True if only the user can end the failure. The migration then waits without a time limit. */
  readonly waitsForUser?: true
}

/** Returns the result of `work`, or the engine's failure. Errors of our own are thrown on. */
export async function attempt<T>(work: () => Promise<T>): Promise<T | Failure> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof DatabaseEngineError)) throw error
    const { message, number, retry } = error
    return { kind: 'failure', message, number, passes: retry === 'later' }
  }
}

/** For background work. What ends with this process says nothing of the servers: the next one does it. */
export async function unlessEnded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof DatabaseEngineError && error.kind === 'ended')) throw error
    throw new StepFailure('later', 'EngineEnded', error.message, { cause: error })
  }
}

export function failed<T>(outcome: T | Failure): outcome is Failure {
  return (
    typeof outcome === 'object' &&
    outcome !== null &&
    'kind' in outcome &&
    outcome.kind === 'failure'
  )
}

export function refusal(message: string): Failure {
  return { kind: 'failure', message, number: undefined, passes: false }
}

export function failureText({ message, number }: Pick<Failure, 'message' | 'number'>): string {
  return number === undefined ? message : `${number}: ${message}`
}
