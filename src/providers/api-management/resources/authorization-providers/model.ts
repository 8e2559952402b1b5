/** The stored form of an authorization provider, its secret sealed. */

import type { GrantType, Texts } from '../../domain/consent/model.ts'

export interface AuthorizationProvider {
  readonly displayName: string
  /** `oauth2`, or one of the well-known kinds (`endpoints.ts`). */
  readonly identityProvider: string
  /** Where the identity provider redirects the browser; our own address when left out. */
  readonly redirectUrl?: string
  readonly grantType: GrantType
  /** As given, without the secret. */
  readonly parameters: Texts
  readonly sealedSecret?: string
  /** The service's location. */
  readonly location?: string
}
