/**
 * Accepts tokens of other issuers instead of a client secret (RFC 7523, 2.2). An assertion is valid when a
 * federated credential of the client names its issuer, its subject and one of its audiences, and the issuer's key
 * has signed it.
 */

import type { Clock, Log } from '#kernel/ports.ts'
import { subscriptionKey } from '#kernel/resource-id.ts'
import { createRoom, enterAll } from '#kernel/room.ts'
import type { Outbound } from '#outbound/outbound.ts'
import { createIssuerKeys, type IssuerKeys } from './external-issuers.ts'
import type { FederatedTrust } from './federated-credentials.ts'
import { isSignedBy, parseToken } from './jwt.ts'
import type { KeyRing } from './keys.ts'
import type { IdentityLimits } from './limits.ts'
import { isInTime } from './verify-token.ts'

export interface AssertionOptions {
  readonly clock: Clock
  readonly log: Log
  readonly limits: IdentityLimits
  /** Callers name the issuers, so the outbound policy judges every one of them. */
  readonly outbound: Outbound
  /** The keys of this installation. */
  readonly keys: Pick<KeyRing, 'published'>
}

/** The number of issuers whose keys are remembered. Each may have a hundred keys. */
const issuersMax = 100
/** Subscriptions that are remembered of an issuer. */
const ownersMax = 8
/**
 * Fetches of keys at once: callers choose the issuers and when, and a document as it is read takes thirty times the memory of its
 * text (decision 0419). The last places are for owners without a fetch.
 */
const fetches = { perOwnerMax: 2, sumMax: 8, spare: 2 }
/** A subscription has any number of resource groups. */
const fetchesOfSubscriptions = { perOwnerMax: 6, sumMax: 8, spare: 2 }

/**
 * Returns the trust that the assertion satisfies, or the reason why none does. Only issuers that one of the trusts
 * names are contacted. `owner`: whose trusts they are, a resource group by its key or an application.
 */
export type CheckAssertion = <T extends FederatedTrust>(
  assertion: string,
  trusted: readonly T[],
  owner: string,
) => Promise<T | string>

export function createAssertionCheck(options: AssertionOptions): CheckAssertion {
  const { clock, limits } = options
  const issuers = new RememberedIssuers()
  const room = createRoom(fetches)
  const roomOfSubscriptions = createRoom(fetchesOfSubscriptions)
  // Who asked may be gone long before there is a place, and others ask again.
  const late = () => AbortSignal.timeout(limits.issuerWaitSeconds * 1000)
  const enter = (owner: string) =>
    enterAll(
      [
        { room, owners: owner },
        { room: roomOfSubscriptions, owners: subscriptionKey(owner) },
      ],
      late,
    )

  return async (assertion, trusted, owner) => {
    if (assertion.length > limits.tokenLengthMax) return 'it is too long'
    const parsed = parseToken(assertion)
    if (typeof parsed === 'string') return parsed
    const { iss, sub, aud } = parsed.claims
    const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud]
    const found = trusted.find(
      (one) =>
        one.issuer === iss &&
        one.subject === sub &&
        audiences.some((name) => typeof name === 'string' && one.audiences.includes(name)),
    )
    if (found === undefined) {
      return `no federated credential has its issuer '${shown(iss)}', subject '${shown(sub)}' and audience '${shown(audiences[0])}'`
    }
    if (!isInTime(parsed.claims, { now: clock.now(), skewSeconds: limits.clockSkewSeconds })) {
      return 'it has expired, is not valid yet, or names no expiry'
    }
    // It may have been revoked, which its signature does not say, and what it is exchanged for would go on.
    if ((await options.keys.published()).some(({ kid }) => kid === parsed.keyId)) {
      return 'it is a token of this installation'
    }
    const { issuer } = found
    const make = () => createIssuerKeys({ issuer }, { ...options, enter })
    const keys = issuers.get(issuer, owner, make)
    const key = await keys.find(parsed.keyId, owner)
    if (key === undefined) return 'its signing key is unknown'
    return (await isSignedBy(parsed, key)) ? found : 'its signature is wrong'
  }
}

interface Remembered {
  readonly keys: IssuerKeys
  /** Who used it, by subscription; those that used it last are behind. An application stands for itself. */
  readonly owners: Map<string, string>
}

/**
 * Assertions name issuers before anything is known of them. What is too much is forgotten of the subscription that has most, there of
 * the resource group that has most, and of that what was used longest ago. What several name counts for the one who has least.
 */
class RememberedIssuers {
  /** Those used last are behind. */
  readonly #issuers = new Map<string, Remembered>()

  get(issuer: string, owner: string, make: () => IssuerKeys): IssuerKeys {
    const one = this.#issuers.get(issuer) ?? { keys: make(), owners: new Map() }
    this.#issuers.delete(issuer)
    this.#issuers.set(issuer, one)
    const subscription = subscriptionKey(owner)
    one.owners.delete(subscription)
    one.owners.set(subscription, owner)
    if (one.owners.size > ownersMax) this.#forgetOwner(one.owners)
    if (this.#issuers.size > issuersMax) this.#forgetOne()
    return one.keys
  }

  /** Of those who have most whoever came last: for them it counts least. */
  #forgetOwner(owners: Map<string, string>): void {
    const rank = this.#ranks()
    const most = Math.max(...[...owners].map(rank))
    const found = [...owners].findLast((owner) => rank(owner) === most)
    owners.delete(found?.[0] ?? '')
  }

  #forgetOne(): void {
    const rank = this.#ranks()
    let [found, most] = ['', 0]
    for (const [issuer, { owners }] of this.#issuers) {
      const least = Math.min(...[...owners].map(rank))
      if (least > most) [found, most] = [issuer, least]
    }
    this.#issuers.delete(found)
  }

  /** How much a subscription has, and how much its resource group. */
  #ranks(): (owner: readonly [string, string]) => number {
    const taken = new Map<string, number>()
    for (const { owners } of this.#issuers.values()) {
      for (const key of new Set([...owners].flat())) taken.set(key, (taken.get(key) ?? 0) + 1)
    }
    const takenBy = (key: string): number => taken.get(key) ?? 0
    return ([all, one]) => takenBy(all) * 2 * issuersMax + takenBy(one)
  }
}

function shown(claim: unknown): string {
  return typeof claim === 'string' ? claim.slice(0, 200).replace(/[\p{Cc}\p{Cs}]/gu, '?') : ''
}
