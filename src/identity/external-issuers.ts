/**
 * Fetches the keys of external issuers (Keycloak and the like), by discovery or key set address. Keys are fetched
 * on first use, bounded in size and time, and never more often than the limits allow.
 */

import { createPublicKey, type JsonWebKey } from 'node:crypto'
import { refuse } from '#kernel/error.ts'
import type { ExternalIssuer } from '#kernel/external-issuer.ts'
import type { Clock, Log } from '#kernel/ports.ts'
import type { Leave } from '#kernel/room.ts'
import type { Outbound } from '#outbound/outbound.ts'
import { answerOf, textOf } from '#outbound/request.ts'
import { nextTurn } from '#stores/next-turn.ts'
import { algorithmsOf, type VerificationKey } from './jwt.ts'
import type { IdentityLimits } from './limits.ts'

export interface IssuerKeys {
  /**
   * The key with this id, or the only key when the token names none. Throws `ServiceUnavailable` (503). `owner`: for whom keys
   * are fetched.
   */
  find(keyId: string | undefined, owner?: string): Promise<VerificationKey | undefined>
}

interface KeySet {
  readonly keys: ReadonlyMap<string, VerificationKey>
  readonly fetchedAt: number
}

export function createIssuerKeys(
  issuer: Pick<ExternalIssuer, 'issuer' | 'jwksUri'>,
  options: {
    readonly clock: Clock
    readonly log: Log
    readonly limits: IdentityLimits
    readonly outbound: Outbound
    /** A fetch waits for a place. */
    readonly enter?: (owner: string) => Leave | Promise<Leave>
  },
): IssuerKeys {
  const { clock, log, limits, outbound, enter } = options
  let current: KeySet | undefined
  let triedAt = Number.NEGATIVE_INFINITY
  let fetching: Promise<void> | undefined

  /** Whoever sends tokens decides when, and many issuers may answer at once. */
  const turn = (): Promise<void> => nextTurn(issuer.issuer)

  async function document(address: string): Promise<Record<string, unknown>> {
    const url = new URL(address)
    const local = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && local)) {
      throw new Error(`${address} is neither https nor local`)
    }
    const signal = AbortSignal.timeout(limits.issuerTimeoutSeconds * 1000)
    const answer = await answerOf(outbound, { url, signal })
    if (answer.statusCode !== 200) {
      answer.destroy()
      throw new Error(`${address} answered ${answer.statusCode}`)
    }
    const text = await textOf(answer, limits.issuerDocumentBytesMax)
    await turn()
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null) throw new Error(`${address} is no object`)
    // The value is an object. Every member is checked before it is used.
    return value as Record<string, unknown>
  }

  async function keySetAddress(): Promise<string> {
    if (issuer.jwksUri !== undefined) return issuer.jwksUri
    const base = issuer.issuer.replace(/\/$/, '')
    const discovered = await document(`${base}/.well-known/openid-configuration`)
    if (discovered['issuer'] !== issuer.issuer) {
      throw new Error(`discovery at ${base} names another issuer`)
    }
    const address = discovered['jwks_uri']
    if (typeof address !== 'string') throw new Error(`discovery at ${base} names no jwks_uri`)
    return address
  }

  async function refresh(): Promise<void> {
    triedAt = clock.now()
    // A network failure becomes one line in the log. Keys fetched earlier stay in use.
    try {
      const { keys } = await document(await keySetAddress())
      if (!Array.isArray(keys)) throw new Error('the key set has no list of keys')
      current = { keys: await readKeys(keys, turn), fetchedAt: clock.now() }
    } catch (error) {
      log.warn(
        { issuer: issuer.issuer, error: String(error) },
        'the keys of an issuer cannot be had',
      )
    }
  }

  function isTried(): boolean {
    return Math.abs(clock.now() - triedAt) < limits.issuerRetrySeconds * 1000
  }

  /** One at a time, for all who want it. */
  async function fetchOnce(): Promise<void> {
    if (fetching === undefined && isTried()) return
    fetching ??= refresh().finally(() => {
      fetching = undefined
    })
    await fetching
  }

  /** Each waits for a place of their own: that of another may come late. Whoever gets none has the keys that are known. */
  async function fetchAgain(owner: string): Promise<void> {
    if (enter === undefined || fetching !== undefined || isTried()) return fetchOnce()
    const [place] = await Promise.allSettled([enter(owner)])
    if (place.status === 'rejected') return
    // What somebody else has begun meanwhile has a place of theirs.
    const isShared = fetching !== undefined
    if (isShared) place.value()
    await fetchOnce().finally(isShared ? undefined : place.value)
  }

  function pick(keyId: string | undefined): VerificationKey | undefined {
    if (current === undefined) return undefined
    if (keyId !== undefined) return current.keys.get(keyId)
    return current.keys.size === 1 ? [...current.keys.values()][0] : undefined
  }

  return {
    async find(keyId, owner = '') {
      const stale =
        current === undefined ||
        Math.abs(clock.now() - current.fetchedAt) > limits.issuerKeysSeconds * 1000
      if (stale) await fetchAgain(owner)
      if (current === undefined) {
        throw refuse.ServiceUnavailable(
          { reason: `the keys of the issuer '${issuer.issuer}' cannot be had` },
          { headers: { 'Retry-After': String(limits.issuerRetrySeconds) } },
        )
      }
      // A revoked key must not stay valid long after the issuer removed it, even when the issuer is unreachable.
      if (Math.abs(clock.now() - current.fetchedAt) > 24 * limits.issuerKeysSeconds * 1000)
        return undefined
      const known = pick(keyId)
      if (known !== undefined) return known
      await fetchAgain(owner)
      return pick(keyId)
    },
  }
}

/** Each takes a part of a millisecond. */
const keysPerTurn = 5
/** Of an id or a number of a key, encoded: 8,192 bits have 1,366. Keys are kept, and callers choose whose. */
const memberCharactersMax = 1_400

function isTooLong(member: unknown): boolean {
  return typeof member === 'string' && member.length > memberCharactersMax
}

async function readKeys(
  list: readonly unknown[],
  turn: () => Promise<void>,
): Promise<Map<string, VerificationKey>> {
  const keys = new Map<string, VerificationKey>()
  for (const [at, entry] of list.slice(0, 100).entries()) {
    if (at % keysPerTurn === 0) await turn()
    if (typeof entry !== 'object' || entry === null) continue
    // Every member read below is checked, here or by the import of the key.
    const jwk = entry as JsonWebKey
    const algorithms = algorithmsOf(jwk)
    if (algorithms.length === 0 || [jwk.n, jwk.e, jwk['kid']].some(isTooLong)) continue
    const id = typeof jwk['kid'] === 'string' ? jwk['kid'] : ''
    // A key that cannot be imported must not hide the others.
    try {
      keys.set(id, { key: createPublicKey({ key: jwk, format: 'jwk' }), algorithms })
    } catch {}
  }
  return keys
}
