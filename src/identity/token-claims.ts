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
    /** The applications that the token of a user went through (`stepOf`). It ends with each of them. */
    readonly through?: readonly string[] | undefined
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
    ...(options.through === undefined ? {} : { via: options.through }),
    ...(user ? { upn: principal.signInName } : {}),
    ...(options.scope === undefined ? {} : { scp: options.scope }),
  }
}

/** An application that got a token for a user, with the credential by which it proved who it is. */
interface Step {
  readonly principalId: string
  readonly generation: number
  readonly credentialId: string | undefined
}

/** One element of the claim `via`. */
export function stepOf(
  { id, generation }: Pick<PrincipalRecord, 'id' | 'generation'>,
  credentialId: string | undefined,
): string {
  return [id, generation, ...(credentialId === undefined ? [] : [credentialId])].join(' ')
}

/** The claim `via` of a token of this server. Tokens of earlier versions have none. */
export function stepsIn(via: unknown): readonly Step[] {
  if (!Array.isArray(via)) return []
  return via.map((one) => {
    const [principalId = '', generation, credentialId] = String(one).split(' ')
    return { principalId, generation: Number(generation), credentialId }
  })
}
