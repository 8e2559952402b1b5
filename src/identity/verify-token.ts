/**
 * Turns a parsed token into the principal that it names, or refuses it. It accepts tokens of this server and of
 * trusted issuers. authenticate.ts checks whether the principal may still act.
 */

import { createHash } from 'node:crypto'
import type { ExternalIssuer } from '#kernel/external-issuer.ts'
import type { Clock, Log } from '#kernel/ports.ts'
import type { Principal } from '#kernel/principal.ts'
import { hyphenate, isUuid } from '#kernel/uuid.ts'
import type { Outbound } from '#outbound/outbound.ts'
import { expiredToken, invalidToken, refuseAuthentication } from './challenge.ts'
import type { IdentityDirectory } from './directory.ts'
import { createIssuerKeys, type IssuerKeys } from './external-issuers.ts'
import { isSignedBy, type ParsedToken, type VerificationKey } from './jwt.ts'
import type { KeyRing } from './keys.ts'
import type { IdentityLimits } from './limits.ts'

export interface VerifiedToken {
  readonly principal: Principal
  /**
   * True for a principal of the directory, which must exist there; false for one of an external issuer, which must
   * not.
   */
  readonly local: boolean
  readonly expiresAt: number
  /** The further claims of a token of this server. */
  readonly claims?: ParsedToken['claims']
}

export interface TokenVerifierOptions {
  readonly directory: Pick<IdentityDirectory, 'record'>
  readonly keys: KeyRing
  readonly clock: Clock
  readonly log: Log
  readonly limits: IdentityLimits
  readonly tenantId: string
  /**
   * This server's issuer, without a trailing slash. It is read at every verification because the port may be chosen
   * late.
   */
  readonly publicUrl: () => string
  /** True when a token of this server may name any address as its issuer: the one its owner used. */
  readonly followsCaller?: boolean
  /** The accepted values of `aud`, each also with a trailing slash. */
  readonly audiences: () => readonly string[]
  readonly issuers: readonly ExternalIssuer[]
  readonly outbound: Outbound
}

/** Makes the verifier of tokens whose form has been checked. */
export function createTokenVerifier(
  options: TokenVerifierOptions,
): (token: ParsedToken) => Promise<VerifiedToken> {
  const { directory, keys, clock, limits, tenantId, publicUrl } = options
  const external = new Map<string, { issuer: ExternalIssuer; keys: IssuerKeys }>(
    options.issuers.map((issuer) => [
      issuer.issuer,
      {
        issuer,
        keys: createIssuerKeys(issuer, { ...options, outbound: allowing(options, issuer) }),
      },
    ]),
  )

  /**
   * The issuer of our own token is the address its owner used, which can be any. The signing key makes it ours. A
   * trusted external issuer never speaks for this directory, whatever key it names.
   */
  async function isOurs(token: ParsedToken): Promise<boolean> {
    const { iss } = token.claims
    if (iss === publicUrl()) return true
    if (options.followsCaller !== true || external.has(String(iss))) return false
    return (await ownKey(token)) !== undefined
  }

  async function ownKey({ keyId: id }: ParsedToken): Promise<VerificationKey | undefined> {
    return id === undefined ? undefined : (keys.known(id) ?? (await keys.find(id)))
  }

  async function verifyOwn(token: ParsedToken): Promise<VerifiedToken> {
    if (token.type !== 'at+jwt') throw invalidToken('it is not an access token')
    const key = await ownKey(token)
    if (key === undefined) throw invalidToken('its signing key is unknown')
    if (!(await isSignedBy(token, key))) throw invalidToken('its signature is wrong')
    const { claims } = token
    const expiresAt = expiryOf(claims, { now: clock.now(), skewSeconds: limits.clockSkewSeconds })
    if (claims['tid'] !== tenantId) {
      throw refuseAuthentication('InvalidAuthenticationTokenTenant', {
        tenant: text(claims['tid']),
      })
    }
    checkAudience(claims['aud'], options.audiences())
    const oid = claims['oid']
    if (typeof oid !== 'string') throw invalidToken('it names no principal')
    const user = claims['idtyp'] !== 'app'
    return {
      local: true,
      claims: {
        gen: claims['gen'],
        cred: claims['cred'],
        sid: claims['sid'],
        appid: claims['appid'],
        via: claims['via'],
      },
      expiresAt,
      principal: {
        id: oid,
        type: user ? 'User' : 'ServicePrincipal',
        tenantId,
        displayName: user ? text(claims['upn']) : text(claims['appid']),
        clientId: text(claims['appid']),
        groups: [],
        generation: typeof claims['gen'] === 'number' ? claims['gen'] : 0,
      },
    }
  }

  /**
   * A UUID identifies a principal by itself only while there is a single issuer, and where it is none that is made here: people
   * may name a group like the id of somebody.
   */
  function objectIdOf(issuer: string, id: string): string {
    const isOwn = external.size === 1 && isUuid(id) && !madeHere.test(id)
    return isOwn ? id.toLowerCase() : toObjectId(issuer, id)
  }

  async function verifyExternal(token: ParsedToken, iss: string): Promise<VerifiedToken> {
    const trusted = external.get(iss)
    if (trusted === undefined) throw invalidToken('its issuer is not trusted here')
    const { issuer } = trusted
    const key = await trusted.keys.find(token.keyId)
    if (key === undefined) throw invalidToken('its signing key is unknown')
    if (!(await isSignedBy(token, key))) throw invalidToken('its signature is wrong')
    const { claims } = token
    const expiresAt = expiryOf(claims, { now: clock.now(), skewSeconds: limits.clockSkewSeconds })
    if (issuer.claims.tenant !== undefined) {
      const tenant = claims[issuer.claims.tenant]
      if (tenant !== (issuer.tenantId ?? tenantId)) {
        throw refuseAuthentication('InvalidAuthenticationTokenTenant', { tenant: text(tenant) })
      }
    }
    checkAudience(claims['aud'], issuer.audiences)
    const oid = claims[issuer.claims.oid]
    if (typeof oid !== 'string' || oid === '') throw invalidToken('it names no principal')
    const groups = issuer.claims.groups === undefined ? undefined : claims[issuer.claims.groups]
    const name = issuer.claims.name === undefined ? undefined : claims[issuer.claims.name]
    const clientId = text(claims['azp'] ?? claims['appid'] ?? claims['client_id'])
    return {
      local: false,
      expiresAt,
      principal: {
        id: objectIdOf(iss, oid),
        type: claims['idtyp'] === 'app' ? 'ServicePrincipal' : 'User',
        tenantId,
        displayName: typeof name === 'string' ? name : clientId || oid,
        clientId,
        groups: Array.isArray(groups) ? await foreignGroups(iss, groups) : [],
        issuer: iss,
      },
    }
  }

  /** An issuer may assert its own groups, but never a group of our directory. */
  async function foreignGroups(issuer: string, claimed: readonly unknown[]): Promise<string[]> {
    const groups: string[] = []
    for (const name of claimed.slice(0, limits.tokenGroupsMax)) {
      if (typeof name !== 'string' || name === '') continue
      const id = objectIdOf(issuer, name)
      if ((await directory.record(id)) === undefined) groups.push(id)
    }
    return groups
  }

  return async (token) =>
    (await isOurs(token)) ? verifyOwn(token) : verifyExternal(token, String(token.claims['iss']))
}

/** The operator named these two addresses. Addresses from a discovery document are judged by the policy. */
function allowing(
  { outbound }: Pick<TokenVerifierOptions, 'outbound'>,
  { issuer, jwksUri }: ExternalIssuer,
): Outbound {
  return outbound.allowing([issuer, jwksUri].flatMap((text) => URL.parse(text ?? '') ?? []))
}

/** Whether the token's own claims say that it is valid now. */
export function isInTime(
  { exp, nbf }: ParsedToken['claims'],
  { now, skewSeconds }: { readonly now: number; readonly skewSeconds: number },
): boolean {
  const skew = skewSeconds * 1000
  return (
    typeof exp === 'number' &&
    now < exp * 1000 + skew &&
    (nbf === undefined || (typeof nbf === 'number' && now >= nbf * 1000 - skew))
  )
}

/** The end of the token's validity here, in milliseconds. */
function expiryOf(
  claims: ParsedToken['claims'],
  { now, skewSeconds }: { readonly now: number; readonly skewSeconds: number },
): number {
  const skew = skewSeconds * 1000
  const { exp, nbf } = claims
  if (typeof exp !== 'number' || !Number.isFinite(exp)) throw invalidToken('it names no expiry')
  if (now >= exp * 1000 + skew) throw expiredToken(exp * 1000)
  if (nbf !== undefined && (typeof nbf !== 'number' || now < nbf * 1000 - skew)) {
    throw invalidToken('it is not valid yet')
  }
  return exp * 1000 + skew
}

function checkAudience(claim: unknown, accepted: readonly string[]): void {
  const audiences: readonly unknown[] = Array.isArray(claim) ? claim : [claim]
  const known = audiences.some(
    (a) => typeof a === 'string' && accepted.some((b) => withoutSlash(a) === withoutSlash(b)),
  )
  if (!known) {
    throw refuseAuthentication('InvalidAuthenticationTokenAudience', {
      audience: audiences.map(text).join(' '),
      expected: accepted[0] ?? '',
    })
  }
}

/** A UUID of version 8. */
const madeHere = /^.{14}8/

/** Combines an issuer and its own id into an object id. Equal ids of two issuers stay two principals. */
function toObjectId(issuer: string, id: string): string {
  const bytes = createHash('sha256')
    .update(JSON.stringify([issuer, id]))
    .digest()
    .subarray(0, 16)
  // The version 8 (custom) and variant bits of RFC 9562.
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return hyphenate(bytes.toString('hex'))
}

function withoutSlash(audience: string): string {
  return audience.endsWith('/') ? audience.slice(0, -1) : audience
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
