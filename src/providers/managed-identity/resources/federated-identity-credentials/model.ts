/** Whose tokens let somebody sign in as the identity above. */

export const federatedType = 'ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials'

export interface FederatedIdentityCredential {
  readonly issuer: string
  readonly subject: string
  readonly audiences: readonly string[]
}
