/** Converts errors of a Kubernetes API or its connection into the port's error. */

import { EngineError, type EngineErrorKind } from '../engine.ts'
import { parseJson, textAt } from '../json.ts'

/** An `EngineError` with the API's own reason, for the few callers that distinguish cases. */
export class ApiFailure extends EngineError {
  /** The API's reason: `AlreadyExists`, `Conflict`, `NotFound`, … */
  readonly reason: string

  constructor(kind: EngineErrorKind, message: string, reason: string) {
    super(kind, message)
    this.reason = reason
  }
}

/** The error for an answer with an error status. */
export function failureOf(status: number, body: string, doing: string): ApiFailure {
  const answer = parseJson(body)
  const reason = textAt(answer, 'message') || body.slice(0, 500).trim()
  const message = `${doing}: ${reason || `status ${status}`}`
  return new ApiFailure(kindOf(status, reason), message, textAt(answer, 'reason'))
}

function kindOf(status: number, reason: string): EngineErrorKind {
  if (status === 404) return 'absent'
  if (status === 409) return 'busy'
  if (status === 429 || status >= 500) return 'unavailable'
  // A quota or a port in use will be free some day.
  return /exceeded quota|already allocated/i.test(reason) ? 'busy' : 'refused'
}

/** The result of `work`; undefined when the API answers with `reason`. */
export async function unless<T>(reason: string, work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (error instanceof ApiFailure && error.reason === reason) return undefined
    throw error
  }
}
