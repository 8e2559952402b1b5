/** An authorization as it is stored, its tokens sealed. */

import type { GrantType, Texts } from '../../domain/consent/model.ts'

export interface Authorization {
  readonly authorizationType: 'OAuth2'
  readonly grantType: GrantType
  readonly parameters: Texts
  readonly status: 'Connected' | 'Error'
  readonly error?: { readonly code: string; readonly message: string }
  /** A consent code was confirmed: the anti-phishing page is shown no more. */
  readonly confirmedAt?: number
  readonly tokens?: KeptTokens
  /** A worker is refreshing the tokens; others leave them alone until then. */
  readonly refreshingUntil?: number
  /** The newest last. */
  readonly logins: readonly Login[]
  /** The service's. */
  readonly location?: string
}

/** One login link, from being asked for to its consent code being used. */
export interface Login {
  readonly id: string
  readonly postLoginRedirectUrl: string
  readonly expiresAt: number
  /** The browser was sent to the identity provider: hashes of what it must come back with. */
  readonly sent?: {
    readonly stateHash: string
    readonly browserHash: string
    readonly sealedVerifier: string
    /**
     * Hash of where the code and the verifier are to be sent (`receiverOf`). Absent in those begun before it was kept,
     * which are begun again.
     */
    readonly provider?: string
  }
  /** The browser came back, and was given a consent code. */
  readonly returned?: {
    readonly codeHash: string
    readonly codeExpiresAt: number
    readonly usedAt?: number
    /** Gone once the code was used. */
    readonly tokens?: KeptTokens
  }
}

export interface KeptTokens {
  /** `Tokens` as JSON. */
  readonly sealed: string
  /** Milliseconds. */
  readonly expiresAt: number
  /** The id of the identity provider that issued the tokens; they are sent to no other. */
  readonly provider: string
  /** There is a way to get fresh ones without a person. */
  readonly refreshable: boolean
}

/** Tokens of a connection. */
export interface Tokens {
  readonly accessToken: string
  readonly tokenType: string
  readonly refreshToken?: string
}

export const unauthenticated = {
  code: 'Unauthenticated',
  message: 'This connection is not authenticated.',
} as const
