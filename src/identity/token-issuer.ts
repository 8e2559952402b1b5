/**
 * Makes access tokens without the OAuth library: for the owner, for managed identities, and in exchange for another
 * token.
 */

import type { Clock, Ids } from '#kernel/ports.ts'
import { signToken } from './jwt.ts'
import type { KeyRing } from './keys.ts'
import type { IdentityLimits } from './limits.ts'
import type { PrincipalRecord } from './principal-record.ts'
import { resourceScope } from './rewrite.ts'
import { principalClaims } from './token-claims.ts'

export interface Issued {
  readonly principalId: string
  readonly clientId: string
  readonly token: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  readonly now: number
}

/** The properties of a token besides its principal. */
interface IssueFor {
  readonly clientId?: string
  readonly credentialId?: string | undefined
  readonly sessionId?: string | undefined
  readonly through?: readonly string[]
  /** The latest expiry, in milliseconds since 1970. */
  readonly endsAt?: number
}

export type TokenIssuer = (principal: PrincipalRecord, how?: IssueFor) => Promise<Issued>

export function createTokenIssuer({
  keys,
  clock,
  ids,
  limits,
  tenantId,
  publicUrl,
  audience,
}: {
  readonly keys: Pick<KeyRing, 'active'>
  readonly clock: Clock
  readonly ids: Ids
  readonly limits: IdentityLimits
  readonly tenantId: string
  readonly publicUrl: () => string
  readonly audience: () => string
}): TokenIssuer {
  return async (principal, how = {}) => {
    const key = await keys.active()
    const now = clock.now()
    const iat = Math.floor(now / 1000)
    const exp = Math.min(iat + limits.tokenSeconds, Math.floor((how.endsAt ?? Infinity) / 1000))
    const clientId = how.clientId ?? principal.clientId ?? principal.id
    const token = await signToken(
      {
        ...principalClaims(principal, { ...how, clientId, tenantId, scope: resourceScope }),
        jti: ids.uuid(),
        sub: principal.id,
        iss: publicUrl(),
        aud: audience(),
        iat,
        nbf: iat,
        exp,
        client_id: clientId,
        scope: resourceScope,
      },
      key,
    )
    return { principalId: principal.id, clientId, token, expiresAt: exp * 1000, now }
  }
}
