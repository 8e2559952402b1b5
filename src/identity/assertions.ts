/**
 * Accepts tokens of other issuers instead of a client secret (RFC 7523, 2.2). An assertion is valid when a
 * federated credential of the client names its issuer, its subject and one of its audiences, and the issuer's key
 * has signed it.
 */

import type { Clock, Log } from '#kernel/ports.ts'
import { createRoom, enterAll } from '#kernel/room.ts'
import type { Outbound } from '#outbound/outbound.ts'
import { createIssuerKeys, type IssuerKeys } from './external-issuers.ts'
import type { FederatedTrust } from './federated-credentials.ts'
import { isSignedBy, parseToken } from './jwt.ts'
import type { IdentityLimits } from './limits.ts'
import { createLruCache } from './lru-cache.ts'
import { isInTime } from './verify-token.ts'

export interface AssertionOptions {
  readonly clock: Clock
  readonly log: Log
  readonly limits: IdentityLimits
  /** Callers name the issuers, so the outbound policy judges every one of them. */
  readonly outbound: Outbound
}

/** The number of issuers whose keys are remembered, in each of the cache's two maps. Each may have a hundred keys. */
const issuersMax = 50
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
  const issuers = createLruCache<IssuerKeys>(issuersMax)
  const room = createRoom(fetches)
  const roomOfSubscriptions = createRoom(fetchesOfSubscriptions)
  // Who asked may be gone long before there is a place, and others ask again.
  const late = () => AbortSignal.timeout(limits.issuerWaitSeconds * 1000)
  const enter = (owner: string) =>
    enterAll(
      [
        { room, owners: owner },
        { room: roomOfSubscriptions, owners: subscriptionOf(owner) },
      ],
      late,
    )

  function keysOf(issuer: string): IssuerKeys {
    const known = issuers.get(issuer)
    if (known !== undefined) return known
    const fresh = createIssuerKeys({ issuer }, { ...options, enter })
    issuers.set(issuer, fresh)
    return fresh
  }

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
    const key = await keysOf(found.issuer).find(parsed.keyId, owner)
    if (key === undefined) return 'its signing key is unknown'
    return (await isSignedBy(parsed, key)) ? found : 'its signature is wrong'
  }
}

/** An application has none, and stands for itself. */
function subscriptionOf(owner: string): string {
  return owner.split('/', 3).join('/')
}

function shown(claim: unknown): string {
  return typeof claim === 'string' ? claim.slice(0, 200).replace(/[\p{Cc}\p{Cs}]/gu, '?') : ''
}
