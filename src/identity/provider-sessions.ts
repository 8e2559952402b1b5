/**
 * Connects the OAuth library's sessions to the ones in sessions.ts: when one begins, which one a token rests on,
 * and when one ends. Loaded with the library.
 */

import type { Context, Token, TokenSource } from 'oidc-provider'
import type { Clock } from '#kernel/ports.ts'
import type { RequestOrigin } from '#kernel/request-origin.ts'
import { isServed } from './answers.ts'
import { requestBehind } from './oauth-request.ts'
import { routes } from './rewrite.ts'
import type { Session, Sessions } from './sessions.ts'

const unknownOrigin: RequestOrigin = { address: '', userAgent: '' }

/** Called during every authorization. The person has just signed in if interactions.ts left a note. */
export async function beginSession(ctx: Context, sessions: Sessions): Promise<void> {
  const { session, account, result } = ctx.oidc
  const signIn = result?.signIn
  if (session === undefined || account === undefined || signIn === undefined) return
  await sessions.begin(session.uid, { principalId: account.accountId, ...signIn })
}

/** True when the library's session is still there but ours has ended or timed out. */
export async function isOver(ctx: Context, sessions: Sessions): Promise<boolean> {
  const { session, account } = ctx.oidc
  if (session?.accountId === undefined || account === undefined) return false
  const key = { uid: session.uid, clientId: undefined }
  return (await sessions.use(key, account.accountId)) === undefined
}

/** The session that a person's token rests on; `undefined` when it has ended. */
export async function sessionOfToken(
  ctx: Context,
  token: Token,
  sessions: Sessions,
): Promise<Session | undefined> {
  const { RefreshToken: refresh, AuthorizationCode: code, DeviceCode: device } = ctx.oidc.entities
  const redeemed: TokenSource | undefined = refresh ?? code ?? device
  const source = redeemed ?? token
  const { sessionUid: uid, accountId: principalId } = source
  if (uid === undefined || principalId === undefined) return undefined
  // A token that nothing was redeemed for comes from the implicit flow, which happens in the browser's session.
  if (redeemed === undefined || source.expiresWithSession === true) {
    return sessions.use({ uid, clientId: undefined }, principalId)
  }
  const key = { uid, clientId: token.clientId }
  if (refresh === undefined) {
    const origin = requestBehind(ctx.req)?.origin ?? unknownOrigin
    return sessions.beginOwn(key, { principalId, origin, grantId: source.grantId ?? '' })
  }
  return sessions.use(key, principalId)
}

const rotationSeconds = 60

/**
 * Whether a refresh token is used up by its use. One that was used up is kept until it would have expired, to see that it
 * was stolen, so a new one takes its place at most this often.
 */
export function isToRotate({ oidc }: Context, libraryClock: Clock): boolean {
  const issuedAt = oidc.entities.RefreshToken?.iat ?? 0
  return libraryClock.now() / 1000 - issuedAt >= rotationSeconds
}

/**
 * Wraps three steps of the library: signing out, revoking a refresh token, and redeeming a code for the second time all end
 * sessions. `revoked`: the grant that the library revoked while it served a request.
 */
export function endSessions(
  sessions: Sessions,
  revoked: Pick<WeakMap<Context, string>, 'get'>,
): (ctx: Context, next: () => Promise<void>) => Promise<void> {
  return async (ctx, next) => {
    await next()
    if (isServed(ctx, `${routes.end_session}/confirm`)) {
      const { session } = ctx.oidc
      if (session?.destroyed === true) {
        await sessions.endByKey({ uid: session.uid, clientId: undefined })
      }
    } else if (isServed(ctx, routes.revocation) && ctx.status === 200) {
      const given = ctx.oidc.entities.RefreshToken
      // Another client's request gets the same answer, and the token stays.
      if (given?.clientId !== ctx.oidc.client?.clientId) return
      if (given?.sessionUid === undefined || given.expiresWithSession === true) return
      await sessions.endByKey({ uid: given.sessionUid, clientId: given.clientId })
    } else if (isServed(ctx, routes.token)) {
      const grantId = revoked.get(ctx)
      if (grantId === undefined || ctx.oidc.params['grant_type'] !== 'authorization_code') return
      await sessions.endByGrant(grantId)
    }
  }
}
