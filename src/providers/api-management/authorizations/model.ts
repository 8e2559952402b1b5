/** Authorization providers, authorizations and access policies as they are stored. Secrets and tokens only sealed. */

export type GrantType = 'AuthorizationCode' | 'ClientCredentials'
export type Texts = Readonly<Record<string, string>>

export interface AuthorizationProvider {
  readonly displayName: string
  /** `oauth2`, or one of the well-known kinds (`endpoints.ts`). */
  readonly identityProvider: string
  /** Where the identity provider sends the browser back to; our own address when left out. */
  readonly redirectUrl?: string
  readonly grantType: GrantType
  /** As given, without the secret. */
  readonly parameters: Texts
  readonly sealedSecret?: string
}

/** Tokens of a connection. */
export interface Tokens {
  readonly accessToken: string
  readonly tokenType: string
  readonly refreshToken?: string
}

export interface KeptTokens {
  /** `Tokens` as JSON. */
  readonly sealed: string
  /** Milliseconds. */
  readonly expiresAt: number
  /** Of the identity provider that gave them: nobody else is sent what is in there. */
  readonly provider: string
  /** There is a way to get fresh ones without a person. */
  readonly refreshable: boolean
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

export interface Authorization {
  readonly authorizationType: 'OAuth2'
  readonly grantType: GrantType
  readonly parameters: Texts
  readonly status: 'Connected' | 'Error'
  readonly error?: { readonly code: string; readonly message: string }
  /** A consent code was confirmed: the anti-phishing page is shown no more. */
  readonly confirmedAt?: number
  readonly tokens?: KeptTokens
  /** Until then, somebody is getting fresh tokens. */
  readonly refreshingUntil?: number
  /** The newest last. */
  readonly logins: readonly Login[]
}

export interface AccessPolicy {
  readonly tenantId: string
  readonly objectId: string
  readonly appIds: readonly string[]
}

export const types = {
  providers: 'ApiManagement/service/authorizationProviders',
  authorizations: 'ApiManagement/service/authorizationProviders/authorizations',
  policies: 'ApiManagement/service/authorizationProviders/authorizations/accessPolicies',
} as const

export const unauthenticated = {
  code: 'Unauthenticated',
  message: 'This connection is not authenticated.',
} as const

/** What a sealed text is bound to: it opens nowhere else. */
export const sealedFor = {
  secret: (providerKey: string) => `client secret ${providerKey}`,
  tokens: (authorizationKey: string) => `tokens ${authorizationKey}`,
  verifier: (authorizationKey: string) => `verifier ${authorizationKey}`,
  link: 'consent link',
  state: 'consent state',
} as const
