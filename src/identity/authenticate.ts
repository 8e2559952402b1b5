/**
 * Turns the `Authorization` header into a principal or a refusal. The rest of the tree uses nothing else of
 * identity during a request. A verified token is remembered until it expires; whether its principal may still act
 * is checked again after every change of the directory.
 */

import type { Principal } from '#kernel/principal.ts'
import { expiredToken, invalidToken, refuseAuthentication } from './challenge.ts'
import type { IdentityDirectory } from './directory.ts'
import { parseToken } from './jwt.ts'
import { createLruCache } from './lru-cache.ts'
import type { PrincipalRecord } from './principal-record.ts'
import { parseObjectId } from './principal-rules.ts'
import { stepsIn } from './token-claims.ts'
import {
  createTokenVerifier,
  type TokenVerifierOptions,
  type VerifiedToken,
} from './verify-token.ts'

export interface Authenticator {
  /**
   * The caller. The answer is synchronous for a token seen before, unless the directory has changed. Throws, or
   * rejects with, the 401 refusals of facts 9.7, each with its `WWW-Authenticate` header.
   */
  authenticate(authorizationHeader: string | undefined): Principal | Promise<Principal>
  /** The id of the principal of a token that was accepted; undefined when the token is not remembered. */
  callerOf(authorizationHeader: string): string | undefined
  /** The expiry of a token that was accepted, in milliseconds; undefined when the token is no longer remembered. */
  expiryOf(authorizationHeader: string | undefined): number | undefined
}

export interface AuthenticatorOptions extends TokenVerifierOptions {
  readonly directory: Pick<IdentityDirectory, 'record' | 'grounds' | 'isClient' | 'watch'>
}

interface Entry extends VerifiedToken {
  /** The whole header that was verified. */
  readonly header: string
  /** The version of the directory at which the principal was last looked up. */
  version: number
}

/** The number of characters of a header that are hashed to find it again: a part of the signature. */
const hashedLength = 48

function hashedPart(header: string): string {
  return header.slice(-hashedLength)
}

const bearer = /^bearer +([!-~]+) *$/i

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { directory, clock, limits } = options
  const { watch } = directory
  const verifyToken = createTokenVerifier(options)
  const verified = createLruCache<Entry>(limits.tokensRemembered)
  /** Only the end of a header is hashed, which is cheap. The whole header is compared afterwards. */
  function verifiedBefore(header: string): Entry | undefined {
    const entry = verified.get(hashedPart(header))
    return entry?.header === header ? entry : undefined
  }

  function forget({ header }: Entry): void {
    verified.delete(hashedPart(header))
  }

  /** Refuses a principal that was disabled or deleted, and one that its issuer may not speak for. */
  async function checkPrincipal(entry: Entry): Promise<Principal> {
    const moved = watch.refresh()
    if (moved !== undefined) await moved
    const version = watch.version
    const record = await directory.record(entry.principal.id)
    if (entry.local ? record?.enabled !== true : record !== undefined) {
      forget(entry)
      throw invalidToken(
        entry.local
          ? 'its principal is disabled or deleted'
          : 'its issuer may not speak for a principal of this directory',
      )
    }
    const gone = record === undefined ? undefined : await findRevocation(record, entry)
    if (gone !== undefined) {
      forget(entry)
      throw invalidToken(gone)
    }
    entry.version = version
    return unlessExpired(entry)
  }

  function unlessExpired(entry: Entry): Principal {
    if (clock.now() < entry.expiresAt) return entry.principal
    forget(entry)
    throw expiredToken(entry.expiresAt - limits.clockSkewSeconds * 1000)
  }

  /**
   * The reason why an unexpired token of this server is no longer valid. Earlier versions put neither credential
   * nor session into a token.
   */
  async function findRevocation(
    record: PrincipalRecord,
    { claims = {} }: Entry,
  ): Promise<string | undefined> {
    const { gen, cred, sid, appid, via } = claims
    if ((gen ?? 0) !== record.generation) return 'it was revoked'
    const { credentials, ended } = await directory.grounds(record.id)
    if (typeof cred === 'string' && !credentials.has(cred)) {
      return 'the secret or password it was got with is there no more'
    }
    if (typeof sid === 'string' && ended.has(sid)) return 'its session has ended'
    if (typeof appid === 'string' && (await isClientGone(appid, record))) {
      return 'the application that it was issued to is disabled or deleted'
    }
    for (const step of stepsIn(via)) {
      const reason = await findRevokedStep(step)
      if (reason !== undefined) return reason
    }
    return undefined
  }

  async function findRevokedStep({
    principalId,
    generation,
    credentialId,
  }: ReturnType<typeof stepsIn>[number]): Promise<string | undefined> {
    const application = await directory.record(principalId)
    if (application?.enabled !== true) {
      return 'an application that it was got through is disabled or deleted'
    }
    if (application.generation !== generation) return 'tokens of its application were revoked'
    if (credentialId === undefined) return undefined
    const { credentials } = await directory.grounds(principalId)
    return credentials.has(credentialId)
      ? undefined
      : 'the secret of the application that it was got with is there no more'
  }

  /** A token for somebody else than the application itself: a user that it acts for. */
  async function isClientGone(clientId: string, record: PrincipalRecord): Promise<boolean> {
    const isOther = clientId !== record.id && clientId !== record.clientId
    // The clients of this product have other ids, and are always there.
    if (!isOther || parseObjectId(clientId) === undefined) return false
    return !(await directory.isClient(clientId))
  }

  async function verify(header: string): Promise<Principal> {
    const token = bearer.exec(header)?.[1]
    if (token === undefined) throw refuseAuthentication('AuthenticationFailedInvalidHeader')
    if (token.length > limits.tokenLengthMax) throw invalidToken('it is too long')
    const parsed = parseToken(token)
    if (typeof parsed === 'string') throw invalidToken(parsed)
    const entry: Entry = { ...(await verifyToken(parsed)), header, version: -1 }
    const principal = await checkPrincipal(entry)
    verified.set(hashedPart(header), entry)
    return principal
  }

  /** The caller of a verified token, once it is known whether the directory has changed. */
  function callerNow(entry: Entry): Principal | Promise<Principal> {
    return entry.version === watch.version ? unlessExpired(entry) : checkPrincipal(entry)
  }

  return {
    callerOf: (header) => verifiedBefore(header)?.principal.id,
    expiryOf: (header) => (header === undefined ? undefined : verifiedBefore(header)?.expiresAt),
    authenticate(header) {
      if (header === undefined) throw refuseAuthentication('AuthenticationFailed')
      const entry = verifiedBefore(header)
      if (entry === undefined) return verify(header)
      const moved = watch.refresh()
      return moved === undefined ? callerNow(entry) : moved.then(() => callerNow(entry))
    },
  }
}
