/** The stored form of an authorization, its tokens sealed. */

import type { GrantType, Texts } from '../../domain/consent/model.ts'

export interface Authorization {
  readonly authorizationType: 'OAuth2'
  readonly grantType: GrantType
  readonly parameters: Texts
  readonly status: 'Connected' | 'Error'
  readonly error?: { readonly code: string; readonly message: string }
  /**
   * For which provider (`shownOf`) a consent code was confirmed: the anti-phishing page is not shown any more while it is the
   * same.
   */
  readonly confirmedFor?: string
  readonly tokens?: KeptTokens
  /** A worker is refreshing the tokens until then; others wait. */
  readonly refreshingUntil?: number
  /** The newest last. */
  readonly logins: readonly Login[]
  /** The service's location. */
  readonly location?: string
}

/** One login link, from its creation to the use of its consent code. */
export interface Login {
  readonly id: string
  readonly postLoginRedirectUrl: string
  readonly expiresAt: number
  /** The browser was sent to the identity provider: hashes of what it must return with. */
  readonly sent?: {
    readonly stateHash: string
    readonly browserHash: string
    readonly sealedVerifier: string
    /**
     * A hash of where the code and the verifier are to be sent (`receiverOf`). Logins of earlier versions lack it
     * and start over.
     */
    readonly provider?: string
  }
  /** The browser returned and got a consent code. */
  readonly returned?: {
    readonly codeHash: string
    readonly codeExpiresAt: number
    readonly usedAt?: number
    /** The provider that the person consented at (`shownOf`). */
    readonly shown?: string
    /** Absent once the code was used. */
    readonly tokens?: KeptTokens
  }
}

export interface KeptTokens {
  /** `Tokens` as JSON. */
  readonly sealed: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  /** The id of the identity provider that issued the tokens; they are sent to no other. */
  readonly provider: string
  /** New tokens can be had without a person. */
  readonly refreshable: boolean
}

/** The tokens of a connection. */
export interface Tokens {
  readonly accessToken: string
  readonly tokenType: string
  readonly refreshToken?: string
}

export const unauthenticated = {
  code: 'Unauthenticated',
  message: 'This connection is not authenticated.',
} as const
