/** Settings of throttling: how much a caller may request. */

import { flag, type Setting, wholeNumber } from './setting.ts'

/** A token bucket of throttling (facts 9.6). */
interface Bucket {
  readonly size: number
  readonly refillPerSecond: number
}

export interface ThrottleConfig {
  /** False: nothing is counted, for installations behind something that throttles. */
  readonly enabled: boolean
  /** Whether the local owner is refused too, instead of only counted. */
  readonly owner: boolean
  readonly reads: Bucket
  readonly writes: Bucket
  readonly deletes: Bucket
  /** The bucket of one address at the sign-in addresses. */
  readonly anonymous: Bucket
  /** All principals of a subscription together get this many times a principal's bucket. */
  readonly subscriptionFactor: number
  /** The number of one principal's requests that run at once. */
  readonly atOnce: number
}

export const throttleSettings = {
  throttle: flag({
    default: 'true',
    description: 'Count what callers ask for and refuse those that use up their allowance.',
  }),
  throttleOwner: flag({
    default: 'false',
    description: 'Refuse the local owner too, who is otherwise only counted and told.',
  }),
  throttleReadsBucket: bucket(250, 'reads at once'),
  throttleReadsRefill: refill(25, 'reads'),
  throttleWritesBucket: bucket(200, 'writes at once'),
  throttleWritesRefill: refill(10, 'writes'),
  throttleDeletesBucket: bucket(200, 'deletes at once'),
  throttleDeletesRefill: refill(10, 'deletes'),
  throttleRequestsAtOnce: wholeNumber(1, 1_000_000, {
    default: '50',
    description: 'Requests of one principal that run at once; more are refused with 429.',
  }),
  throttleAnonymousBucket: wholeNumber(1, 1_000_000, {
    default: '300',
    description: 'Allowance of one address: requests at once to the sign-in’s addresses.',
  }),
  throttleAnonymousRefill: wholeNumber(1, 1_000_000, {
    default: '5',
    description:
      'Allowance of one address: requests to the sign-in’s addresses given back each second.',
  }),
  throttleSubscriptionFactor: wholeNumber(1, 10_000, {
    default: '15',
    description:
      'All principals of a subscription together have this many times one principal’s allowance.',
  }),
} as const

function bucket(size: number, what: string): Setting<number> {
  return wholeNumber(1, 1_000_000, {
    default: String(size),
    description: `Allowance of one principal: ${what}.`,
  })
}

function refill(perSecond: number, what: string): Setting<number> {
  return wholeNumber(1, 1_000_000, {
    default: String(perSecond),
    description: `Allowance of one principal: ${what} given back each second.`,
  })
}

type Named = {
  readonly [K in keyof typeof throttleSettings]: (typeof throttleSettings)[K] extends Setting<
    infer T
  >
    ? T
    : never
}

export function arrangeThrottle(named: Named): ThrottleConfig {
  return {
    enabled: named.throttle,
    owner: named.throttleOwner,
    reads: { size: named.throttleReadsBucket, refillPerSecond: named.throttleReadsRefill },
    writes: { size: named.throttleWritesBucket, refillPerSecond: named.throttleWritesRefill },
    deletes: { size: named.throttleDeletesBucket, refillPerSecond: named.throttleDeletesRefill },
    atOnce: named.throttleRequestsAtOnce,
    anonymous: {
      size: named.throttleAnonymousBucket,
      refillPerSecond: named.throttleAnonymousRefill,
    },
    subscriptionFactor: named.throttleSubscriptionFactor,
  }
}
