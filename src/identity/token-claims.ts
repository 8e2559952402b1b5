/** The claims of our access tokens about a principal. They are the same wherever a token is made. */

import type { PrincipalRecord } from './principal-record.ts'

/** Claims besides those of the standard (`iss`, `aud`, `exp` …). */
export function principalClaims(
  principal: PrincipalRecord,
  options: {
    readonly clientId: string
    readonly tenantId: string
    readonly scope: string | undefined
    /** The ids of the credential and the session that the token rests on. The token ends with either. */
    readonly credentialId?: string | undefined
    readonly sessionId?: string | undefined
  },
): Record<string, unknown> {
  const user = principal.type === 'User'
  return {
    oid: principal.id,
    tid: options.tenantId,
    appid: options.clientId,
    idtyp: user ? 'user' : 'app',
    name: principal.displayName,
    gen: principal.generation,
    ...(options.credentialId === undefined ? {} : { cred: options.credentialId }),
    ...(options.sessionId === undefined ? {} : { sid: options.sessionId }),
    ...(user ? { upn: principal.signInName } : {}),
    ...(options.scope === undefined ? {} : { scp: options.scope }),
  }
}
