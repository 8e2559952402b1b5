/**
 * Refusals of authentication, each with the challenge that tells a client where to sign in (RFC 6750, 3). An answer
 * repeats nothing of a token except what the caller sent.
 */

import { type ApiError, type Params, refuse } from '#kernel/error.ts'

type AuthenticationCode =
  | 'AuthenticationFailed'
  | 'AuthenticationFailedInvalidHeader'
  | 'InvalidAuthenticationToken'
  | 'ExpiredAuthenticationToken'
  | 'InvalidAuthenticationTokenTenant'
  | 'InvalidAuthenticationTokenAudience'

/** Returns the refusal with its `WWW-Authenticate` header. The edge adds where to sign in. */
export function refuseAuthentication(code: AuthenticationCode, params: Params = {}): ApiError {
  const shown = Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, String(value).slice(0, 200)]),
  )
  const error = refuse[code](shown)
  // A request without credentials is not wrong yet; the standard wants no error code then.
  if (code === 'AuthenticationFailed') return error
  const challenge = `Bearer error="invalid_token", error_description="${quotable(error.message)}"`
  return refuse[code](shown, { headers: { 'WWW-Authenticate': challenge } })
}

/** Keeps only what a quoted header value may hold: printable ASCII without quote and backslash. */
function quotable(text: string): string {
  return text.replace(/["\\]/g, "'").replace(/[^\x20-\x7e]/g, '?')
}

export function invalidToken(reason: string): Error {
  return refuseAuthentication('InvalidAuthenticationToken', { reason })
}

export function expiredToken(at: number): Error {
  return refuseAuthentication('ExpiredAuthenticationToken', { expiredAt: isoTime(at) })
}

function isoTime(at: number): string {
  return Number.isFinite(at) && Math.abs(at) < 8.64e15
    ? new Date(at).toISOString()
    : 'an unknown time'
}
