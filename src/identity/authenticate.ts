/**
 * From the `Authorization` header to a principal, or a refusal. All the rest of the tree knows of identity
 * on a request's way. A verified token is remembered until it expires; whether its principal may still act
 * is asked again whenever the directory moved.
 */

import { createHash } from 'node:crypto'
import type { ExternalIssuer } from '#kernel/external-issuer.ts'
import type { Clock, Log } from '#kernel/ports.ts'
import type { Principal } from '#kernel/principal.ts'
import { hyphenate, isUuid } from '#kernel/uuid.ts'
import type { Outbound } from '#outbound/outbound.ts'
import { type AuthenticationCode, refuseAuthentication } from './challenge.ts'
import type { IdentityDirectory } from './directory.ts'
import { createIssuerKeys, type IssuerKeys } from './external-issuers.ts'
import { isSignedBy, type ParsedToken, parseToken, type VerificationKey } from './jwt.ts'
import type { KeyRing } from './keys.ts'
import type { IdentityLimits } from './limits.ts'
import { createLruCache } from './lru-cache.ts'
import type { PrincipalRecord } from './principal-record.ts'

export interface Authenticator {
  /**
   * The caller. Answers at once for a token seen before, unless the directory moved. Throws, or rejects
   * with, the 401 refusals of facts 9.7, each with its `WWW-Authenticate` header.
   */
  authenticate(authorizationHeader: string | undefined): Principal | Promise<Principal>
  /** Until when a token that was let in is good, in milliseconds; undefined when it is not remembered any more. */
  expiryOf(authorizationHeader: string | undefined): number | undefined
}

export interface AuthenticatorOptions {
  readonly directory: Pick<IdentityDirectory, 'record' | 'grounds' | 'watch'>
  readonly keys: KeyRing
  readonly clock: Clock
  readonly log: Log
  readonly limits: IdentityLimits
  readonly tenantId: string
  /** Without a trailing slash; our own issuer, read at every verification because the port may be picked late. */
  readonly publicUrl: () => string
  /** Tokens of ours may name any address as their issuer: that by which their owner came. */
  readonly followsCaller?: boolean
  /** Accepted in `aud`, each also with a trailing slash. */
  readonly audiences: () => readonly string[]
  readonly issuers: readonly ExternalIssuer[]
  readonly outbound: Outbound
}

interface Entry {
  /** The whole header that it was verified in. */
  readonly header: string
  readonly principal: Principal
  /** Of our own directory: it must be there. Of an external issuer: it must not be. */
  readonly local: boolean
  readonly expiresAt: number
  /** What a token of ours rests on besides its principal. */
  readonly claims?: ParsedToken['claims']
  /** The version of the directory at which the principal was last looked up. */
  version: number
}

/** Characters of a header by which a verified one is found: a part of the signature. */
const hashedLength = 48

function hashedPart(header: string): string {
  return header.slice(-hashedLength)
}

const bearer = /^bearer +([!-~]+) *$/i

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { directory, keys, clock, limits, tenantId, publicUrl } = options
  const { watch } = directory
  const verified = createLruCache<Entry>(limits.tokensRemembered)
  const external = new Map<string, { issuer: ExternalIssuer; keys: IssuerKeys }>(
    options.issuers.map((issuer) => [
      issuer.issuer,
      { issuer, keys: createIssuerKeys(issuer, options) },
    ]),
  )

  /** Only the end of a header is hashed, which is cheap; then it is compared as a whole. */
  function verifiedBefore(header: string): Entry | undefined {
    const entry = verified.get(hashedPart(header))
    return entry?.header === header ? entry : undefined
  }

  function forget({ header }: Entry): void {
    verified.delete(hashedPart(header))
  }

  function refuse(code: AuthenticationCode, params?: Readonly<Record<string, string>>): Error {
    return refuseAuthentication(code, params)
  }

  function invalid(reason: string): Error {
    return refuse('InvalidAuthenticationToken', { reason })
  }

  function expired(at: number): Error {
    return refuse('ExpiredAuthenticationToken', { expiredAt: isoTime(at) })
  }

  /** Refuses a principal that was disabled or deleted, or that an issuer has no right to speak for. */
  async function checkPrincipal(entry: Entry): Promise<Principal> {
    const moved = watch.refresh()
    if (moved !== undefined) await moved
    const version = watch.version
    const record = await directory.record(entry.principal.id)
    if (entry.local ? record?.enabled !== true : record !== undefined) {
      forget(entry)
      throw invalid(
        entry.local
          ? 'its principal is disabled or deleted'
          : 'its issuer may not speak for a principal of this directory',
      )
    }
    const gone = record === undefined ? undefined : await findRevocation(record, entry)
    if (gone !== undefined) {
      forget(entry)
      throw invalid(gone)
    }
    entry.version = version
    if (clock.now() >= entry.expiresAt) {
      forget(entry)
      throw expired(entry.expiresAt - limits.clockSkewSeconds * 1000)
    }
    return entry.principal
  }

  /** Why a token of ours that is in time is good no more. Earlier versions named neither credential nor session. */
  async function findRevocation(
    record: PrincipalRecord,
    { claims = {} }: Entry,
  ): Promise<string | undefined> {
    const { gen, cred, sid } = claims
    if ((gen ?? 0) !== record.generation) return 'it was revoked'
    const { credentials, ended } = await directory.grounds(record.id)
    if (typeof cred === 'string' && !credentials.has(cred)) {
      return 'the secret or password it was got with is there no more'
    }
    return typeof sid === 'string' && ended.has(sid) ? 'its session has ended' : undefined
  }

  async function verify(header: string): Promise<Principal> {
    const token = bearer.exec(header)?.[1]
    if (token === undefined) throw refuse('AuthenticationFailedInvalidHeader')
    if (token.length > limits.tokenLengthMax) throw invalid('it is too long')
    const parsed = parseToken(token)
    if (typeof parsed === 'string') throw invalid(parsed)
    const { iss } = parsed.claims
    const found = (await isOurs(parsed))
      ? await verifyOwn(parsed)
      : await verifyExternal(parsed, String(iss))
    const entry: Entry = { ...found, header }
    const principal = await checkPrincipal(entry)
    verified.set(hashedPart(header), entry)
    return principal
  }

  /**
   * A token of ours has the address by which its owner came as its issuer, which may be any. What makes it ours is the key.
   * An issuer that is trusted never speaks for this directory, whatever key it names.
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

  async function verifyOwn(token: ParsedToken): Promise<Omit<Entry, 'header'>> {
    if (token.type !== 'at+jwt') throw invalid('it is not an access token')
    const key = await ownKey(token)
    if (key === undefined) throw invalid('its signing key is unknown')
    if (!(await isSignedBy(token, key))) throw invalid('its signature is wrong')
    const { claims } = token
    const expiresAt = checkTimes(claims)
    if (claims['tid'] !== tenantId) {
      throw refuse('InvalidAuthenticationTokenTenant', { tenant: text(claims['tid']) })
    }
    checkAudience(claims['aud'], options.audiences())
    const oid = claims['oid']
    if (typeof oid !== 'string') throw invalid('it names no principal')
    const user = claims['idtyp'] !== 'app'
    return {
      local: true,
      claims: { gen: claims['gen'], cred: claims['cred'], sid: claims['sid'] },
      expiresAt,
      version: -1,
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

  /** A UUID says by itself whose it is only while there is one issuer to say it. */
  function objectIdOf(issuer: string, id: string): string {
    return external.size === 1 && isUuid(id) ? id.toLowerCase() : toObjectId(issuer, id)
  }

  async function verifyExternal(token: ParsedToken, iss: string): Promise<Omit<Entry, 'header'>> {
    const trusted = external.get(iss)
    if (trusted === undefined) throw invalid('its issuer is not trusted here')
    const { issuer } = trusted
    const key = await trusted.keys.find(token.keyId)
    if (key === undefined) throw invalid('its signing key is unknown')
    if (!(await isSignedBy(token, key))) throw invalid('its signature is wrong')
    const { claims } = token
    const expiresAt = checkTimes(claims)
    if (issuer.claims.tenant !== undefined) {
      const tenant = claims[issuer.claims.tenant]
      if (tenant !== (issuer.tenantId ?? tenantId)) {
        throw refuse('InvalidAuthenticationTokenTenant', { tenant: text(tenant) })
      }
    }
    checkAudience(claims['aud'], issuer.audiences)
    const oid = claims[issuer.claims.oid]
    if (typeof oid !== 'string' || oid === '') throw invalid('it names no principal')
    const groups = issuer.claims.groups === undefined ? undefined : claims[issuer.claims.groups]
    const name = issuer.claims.name === undefined ? undefined : claims[issuer.claims.name]
    const clientId = text(claims['azp'] ?? claims['appid'] ?? claims['client_id'])
    return {
      local: false,
      expiresAt,
      version: -1,
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

  /** An issuer may vouch for its own groups, never for one of our directory. */
  async function foreignGroups(issuer: string, claimed: readonly unknown[]): Promise<string[]> {
    const groups: string[] = []
    for (const name of claimed.slice(0, limits.tokenGroupsMax)) {
      if (typeof name !== 'string' || name === '') continue
      const id = objectIdOf(issuer, name)
      if ((await directory.record(id)) === undefined) groups.push(id)
    }
    return groups
  }

  /** When the token ends for us, milliseconds. */
  function checkTimes(claims: ParsedToken['claims']): number {
    const now = clock.now()
    const skew = limits.clockSkewSeconds * 1000
    const { exp, nbf } = claims
    if (typeof exp !== 'number' || !Number.isFinite(exp)) throw invalid('it names no expiry')
    if (now >= exp * 1000 + skew) throw expired(exp * 1000)
    if (nbf !== undefined && (typeof nbf !== 'number' || now < nbf * 1000 - skew)) {
      throw invalid('it is not valid yet')
    }
    return exp * 1000 + skew
  }

  function checkAudience(claim: unknown, accepted: readonly string[]): void {
    const audiences: readonly unknown[] = Array.isArray(claim) ? claim : [claim]
    const known = audiences.some(
      (a) => typeof a === 'string' && accepted.some((b) => withoutSlash(a) === withoutSlash(b)),
    )
    if (!known) {
      throw refuse('InvalidAuthenticationTokenAudience', {
        audience: audiences.map(text).join(' '),
        expected: accepted[0] ?? '',
      })
    }
  }

  return {
    expiryOf: (header) => (header === undefined ? undefined : verifiedBefore(header)?.expiresAt),
    authenticate(header) {
      if (header === undefined) throw refuse('AuthenticationFailed')
      const entry = verifiedBefore(header)
      if (entry === undefined) return verify(header)
      const moved = watch.refresh()
      if (moved !== undefined || entry.version !== watch.version) {
        return checkPrincipal(entry)
      }
      if (clock.now() >= entry.expiresAt) {
        forget(entry)
        throw expired(entry.expiresAt - limits.clockSkewSeconds * 1000)
      }
      return entry.principal
    },
  }
}

/** An issuer's own id made into an object id, together with the issuer: equal ids of two stay two principals. */
function toObjectId(issuer: string, id: string): string {
  const bytes = createHash('sha256')
    .update(JSON.stringify([issuer, id]))
    .digest()
    .subarray(0, 16)
  // Version 8 (own construction) and variant bits of RFC 9562.
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

function isoTime(at: number): string {
  return Number.isFinite(at) && Math.abs(at) < 8.64e15
    ? new Date(at).toISOString()
    : 'an unknown time'
}
