/** What the engine could not do, as a value. The one place here that translates its errors. */

import { DatabaseEngineError } from '#engines/databases/engine.ts'

export interface Failure {
  readonly kind: 'failure'
  readonly message: string
  /** The error number of facts 8.5, where there is one. */
  readonly number: number | undefined
  /** The same may work later. */
  readonly passes: boolean
  /** It lasts until the user says more, however long that takes: nothing ends for it. */
  readonly waitsForUser?: true
}

/** Answers what `work` does, or why the engine said no; a fault of ours goes on its way. */
export async function attempt<T>(work: () => Promise<T>): Promise<T | Failure> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof DatabaseEngineError)) throw error
    const { message, number, kind } = error
    return { kind: 'failure', message, number, passes: kind === 'busy' || kind === 'unavailable' }
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
