/**
 * Allowances: token buckets per principal, subscription (or tenant) and kind, and one per subscription for all
 * principals together (facts 9.6). Also limits how many requests of a principal run at once. Kept per process; knows
 * nothing of requests.
 */

import { type ApiError, refuse } from '#kernel/error.ts'

type Counted = 'reads' | 'writes' | 'deletes'

export interface BucketRule {
  /** Tokens of a full bucket. */
  readonly size: number
  readonly refillPerSecond: number
}

export interface ThrottleSettings {
  readonly subscription: Readonly<Record<Counted, BucketRule>>
  readonly tenant: Readonly<Record<Counted, BucketRule>>
  /** The rule per address for the sign-in addresses, where callers have shown no token yet. */
  readonly anonymous: BucketRule
  /** All principals of a subscription together have this many times one principal's allowance. */
  readonly allPrincipalsFactor: number
  /** Buckets kept at most; the least recently used are dropped, that is, full again. */
  readonly bucketsMax: number
  /** Requests of one principal that run at once. */
  readonly atOnceMax: number
  /** The installation's local owner: counted, but not refused. */
  readonly ownerId?: string
  /** True refuses the owner too. */
  readonly refusesOwner: boolean
}

const reads: BucketRule = { size: 250, refillPerSecond: 25 }
const writes: BucketRule = { size: 200, refillPerSecond: 10 }

export const defaultThrottle: ThrottleSettings = {
  subscription: { reads, writes, deletes: writes },
  tenant: { reads, writes, deletes: writes },
  anonymous: { size: 300, refillPerSecond: 5 },
  allPrincipalsFactor: 15,
  bucketsMax: 20_000,
  atOnceMax: 50,
  refusesOwner: false,
}

/** What an answer reports about the bucket used. */
export interface Allowance {
  /** `x-ms-ratelimit-remaining-subscription-reads` and its like. */
  readonly header: string
  readonly remaining: number
  /** Set when the request must not continue. */
  readonly refusal?: ApiError
}

export interface Throttle {
  /** Whether `learn` was called for the subscription, and not too long ago. */
  knows(subscription: string): boolean
  /** Remembers that the subscription exists or did once. */
  learn(subscription: string): void
  /**
   * Takes one token. `subscription` is undefined for requests outside any. One that does not exist is none: whoever
   * makes up ids has one allowance for all of them.
   */
  take(
    principalId: string,
    subscription: string | undefined,
    kind: Counted,
    now: number,
  ): Allowance | undefined
  /**
   * Takes tokens for the requests inside another one (a batch), outside subscriptions: all or none. Returns the
   * refusal when there are too few.
   */
  takeMany(
    principalId: string,
    counts: Readonly<Record<Counted, number>>,
    now: number,
  ): ApiError | undefined
  /** Counts a request as running until `leave` is called. Returns the refusal when the principal has too many. */
  enter(principalId: string): { readonly refusal: ApiError } | { leave(): void }
  /** Buckets in memory; never more than `bucketsMax`. */
  size(): number
}

interface Bucket {
  tokens: number
  filledAt: number
}

const headers = {
  subscription: headersOf('subscription'),
  tenant: headersOf('tenant'),
  all: headersOf('subscription-global'),
}

function headersOf(scope: string): Readonly<Record<Counted, string>> {
  const name = (kind: Counted): string => `x-ms-ratelimit-remaining-${scope}-${kind}`
  return { reads: name('reads'), writes: name('writes'), deletes: name('deletes') }
}

/** No limits, for installations with a rate limiter in front. */
export const unthrottled: Throttle = {
  knows: () => true,
  learn: () => undefined,
  take: () => undefined,
  takeMany: () => undefined,
  enter: () => ({ leave() {} }),
  size: () => 0,
}

const kinds = ['reads', 'writes', 'deletes'] as const
/** When a running request will end is unknown, so the wait is a guess. */
const atOnceRetrySeconds = 1

export function createThrottle(settings: ThrottleSettings): Throttle {
  const buckets = new RecentMap<Bucket>(settings.bucketsMax)
  const subscriptions = new RecentMap<true>(settings.bucketsMax)
  const all = {
    reads: scaled(settings.subscription.reads, settings.allPrincipalsFactor),
    writes: scaled(settings.subscription.writes, settings.allPrincipalsFactor),
    deletes: scaled(settings.subscription.deletes, settings.allPrincipalsFactor),
  }

  function bucket(key: string, rule: BucketRule, now: number): Bucket {
    const known = buckets.get(key)
    if (known === undefined) {
      const fresh = { tokens: rule.size, filledAt: now }
      buckets.set(key, fresh)
      return fresh
    }
    // A clock that was set back adds nothing.
    const seconds = Math.max(0, now - known.filledAt) / 1000
    known.tokens = Math.min(rule.size, known.tokens + seconds * rule.refillPerSecond)
    known.filledAt = now
    return known
  }

  const isExempt = (principalId: string): boolean =>
    principalId === settings.ownerId && !settings.refusesOwner
  /** Running requests by principal; only principals that have any. */
  const running = new Map<string, number>()

  return {
    size: () => buckets.size(),
    knows: (subscription) => subscriptions.get(subscription) === true,
    learn: (subscription) => subscriptions.set(subscription, true),
    takeMany(principalId, counts, now) {
      const own = kinds.map((kind) => {
        const rule = settings.tenant[kind]
        return { kind, rule, bucket: bucket(`${principalId}  ${kind}`, rule, now) }
      })
      if (!isExempt(principalId)) {
        for (const { kind, rule, bucket } of own) {
          // More than a full bucket would never be available, so that many pass when it is full.
          const wanted = Math.min(counts[kind], rule.size)
          if (bucket.tokens < wanted) return tenantRefusal(kind, wanted - bucket.tokens, rule)
        }
      }
      for (const { kind, bucket } of own) bucket.tokens = Math.max(0, bucket.tokens - counts[kind])
      return undefined
    },
    enter(principalId) {
      const before = running.get(principalId) ?? 0
      if (before >= settings.atOnceMax && !isExempt(principalId)) {
        const extra = { headers: { 'Retry-After': String(atOnceRetrySeconds) } }
        const kind = `requests at once (${settings.atOnceMax})`
        return { refusal: refuse.TooManyRequests({ kind, seconds: atOnceRetrySeconds }, extra) }
      }
      running.set(principalId, before + 1)
      return {
        leave() {
          const now = running.get(principalId) ?? 0
          if (now > 1) running.set(principalId, now - 1)
          else running.delete(principalId)
        },
      }
    },
    take(principalId, subscription, kind, now) {
      const scope = subscription === undefined ? 'tenant' : 'subscription'
      const rule = settings[scope][kind]
      const own = bucket(`${principalId} ${subscription ?? ''} ${kind}`, rule, now)
      const exempt = isExempt(principalId)
      if (own.tokens < 1 && !exempt) {
        return exhausted(headers[scope][kind], { subscription, kind }, own, rule)
      }
      // Requests of the owner, who is not refused, must not use up the allowance of others.
      if (subscription !== undefined && !exempt) {
        const everyone = bucket(`* ${subscription} ${kind}`, all[kind], now)
        if (everyone.tokens < 1) {
          return exhausted(headers.all[kind], { subscription, kind }, everyone, all[kind])
        }
        everyone.tokens -= 1
      }
      own.tokens = Math.max(0, own.tokens - 1)
      return { header: headers[scope][kind], remaining: Math.floor(own.tokens) }
    },
  }
}

function scaled(rule: BucketRule, factor: number): BucketRule {
  return { size: rule.size * factor, refillPerSecond: rule.refillPerSecond * factor }
}

function exhausted(
  header: string,
  { subscription, kind }: { readonly subscription: string | undefined; readonly kind: Counted },
  empty: Bucket,
  rule: BucketRule,
): Allowance {
  const seconds = Math.max(1, Math.ceil((1 - empty.tokens) / rule.refillPerSecond))
  const extra = { headers: { 'Retry-After': String(seconds) } }
  const refusal =
    subscription === undefined
      ? tenantRefusal(kind, 1 - empty.tokens, rule)
      : refuse.SubscriptionRequestsThrottled({ kind, id: subscription, seconds }, extra)
  return { header, remaining: 0, refusal }
}

function tenantRefusal(kind: Counted, missing: number, rule: BucketRule): ApiError {
  const seconds = Math.max(1, Math.ceil(missing / rule.refillPerSecond))
  const extra = { headers: { 'Retry-After': String(seconds) } }
  return refuse.TooManyRequests({ kind, seconds }, extra)
}

/**
 * A bounded map that drops old entries by halves: a used entry moves to the young half; when that is full it becomes
 * the old half, and the old one is dropped. Cheaper per use than a strict LRU.
 */
class RecentMap<T> {
  #young = new Map<string, T>()
  #old = new Map<string, T>()
  readonly #half: number

  constructor(max: number) {
    this.#half = Math.max(1, Math.floor(max / 2))
  }

  get(key: string): T | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old === undefined) return undefined
    this.#old.delete(key)
    this.set(key, old)
    return old
  }

  set(key: string, value: T): void {
    if (this.#young.size >= this.#half) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
  }

  size(): number {
    return this.#young.size + this.#old.size
  }
}
