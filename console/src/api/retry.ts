/** Which reads that failed are sent again by themselves, and when. A refusal would be repeated, so it is not. */

import { ApiFailure } from './client.ts'

/** No answer, or the word of a busy server that there will be one soon. */
const passing = [0, 408, 429, 503]
const failuresMax = 3
const firstDelay = 1_000
/** Whoever waits longer than this many milliseconds is shown why, and tries again when they like. */
const longestDelay = 10_000

export function isRetried(failures: number, error: Error): boolean {
  if (!(error instanceof ApiFailure) || !passing.includes(error.status)) return false
  return failures < failuresMax && retryDelay(failures, error) <= longestDelay
}

/** Milliseconds: as long as the server says, otherwise longer each time. */
export function retryDelay(failures: number, error: Error): number {
  const seconds = error instanceof ApiFailure ? error.retryAfter : undefined
  return seconds === undefined ? firstDelay * 2 ** failures : seconds * 1_000
}
