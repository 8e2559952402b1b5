/**
 * What authorization providers, authorizations and access policies share: their types, and the contexts of their
 * sealed secrets.
 */

export type GrantType = 'AuthorizationCode' | 'ClientCredentials'
export type Texts = Readonly<Record<string, string>>

export const types = {
  providers: 'ApiManagement/service/authorizationProviders',
  authorizations: 'ApiManagement/service/authorizationProviders/authorizations',
  policies: 'ApiManagement/service/authorizationProviders/authorizations/accessPolicies',
} as const

/** The context that a sealed text is bound to: it opens nowhere else. */
export const sealedFor = {
  secret: (providerKey: string) => `client secret ${providerKey}`,
  tokens: (authorizationKey: string) => `tokens ${authorizationKey}`,
  verifier: (authorizationKey: string) => `verifier ${authorizationKey}`,
  link: 'consent link',
  state: 'consent state',
} as const
