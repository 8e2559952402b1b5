/**
 * The event of a sign-in or a token request, successful or not. All ways to sign in share this shape. It holds no
 * secret.
 */

import type { RequestOrigin } from '#kernel/request-origin.ts'

export interface SignInEvent {
  /** `delayed`: the attempt was not checked, because of earlier failures. */
  readonly outcome: 'succeeded' | 'refused' | 'delayed'
  /**
   * `password` is the sign-in page; `managed_identity` is the owner by the local secret; the others are OAuth's
   * names.
   */
  readonly grant:
    | 'password'
    | 'managed_identity'
    | 'authorization_code'
    | 'client_credentials'
    | 'on_behalf_of'
    | 'device_code'
    | 'refresh_token'
    | 'other'
  /** The principal. A refusal names one only where the caller proved to be that principal. */
  readonly principalId: string | undefined
  /** The sign-in name or client id that was tried, as sent, shortened, without control characters. */
  readonly name: string
  readonly clientId: string
  readonly origin: RequestOrigin
  /** OAuth's error code of a refusal. */
  readonly error: string | undefined
}

/** Called when the outcome is known. It is never awaited and must not throw. */
export type OnSignIn = (event: SignInEvent) => void

const nameMax = 256

/** Text of a stranger, made safe to store and show. */
export function triedName(text: string): string {
  return text.slice(0, nameMax).replace(/[\p{Cc}\p{Cs}]/gu, '?')
}
