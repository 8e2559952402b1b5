/**
 * How much a server answers before it counts. What is used for the first time is read from disk and compiled, and how soon that is
 * done depends on requests, not on seconds: what is enough for a fast server leaves a slow one cold.
 */

import type { WarmUp } from '../load/job.ts'

/**
 * For a load, before the first round of each server and case. Who answers less than 2,500 a second would take the most of a run
 * for it, so that ends by the clock.
 */
export const firstWarmUp: WarmUp = { requests: 20_000, secondsLeast: 2, secondsMost: 8 }
/** It has answered before, so only its connections are new. */
export const laterWarmUp: WarmUp = { requests: 0, secondsLeast: 0.5, secondsMost: 0.5 }

/**
 * For one client that waits for each answer. In its first thousand answers a server of Node spends up to a third of its processor
 * time in the threads that compile, ours as its peers (decision 0333).
 */
export const warmUpRequests = 1_500
