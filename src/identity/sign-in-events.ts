/**
 * The event of a sign-in or a token request, successful or not: one shape for all ways to sign in.
 * Nothing secret is in it.
 */

import type { RequestOrigin } from '#kernel/request-origin.ts'

export interface SignInEvent {
  /** `delayed`: not looked at, because of failures before. */
  readonly outcome: 'succeeded' | 'refused' | 'delayed'
  /** `password` is the sign-in page; `managed_identity` the owner by the local secret; others by OAuth's names. */
  readonly grant:
    | 'password'
    | 'managed_identity'
    | 'authorization_code'
    | 'client_credentials'
    | 'on_behalf_of'
    | 'device_code'
    | 'refresh_token'
    | 'other'
  /** Who it is; of a refusal only where the caller proved to be that principal. */
  readonly principalId: string | undefined
  /** The name that was tried: a sign-in name, or a client id. As sent, shortened, without control characters. */
  readonly name: string
  readonly clientId: string
  readonly origin: RequestOrigin
  /** OAuth's word for a refusal. */
  readonly error: string | undefined
}

/** Called when the answer is settled, and never awaited: it may not throw. */
export type OnSignIn = (event: SignInEvent) => void

const nameMax = 256

/** A stranger's text, safe to keep and show. */
export function triedName(text: string): string {
  return text.slice(0, nameMax).replace(/[\p{Cc}\p{Cs}]/gu, '?')
}
