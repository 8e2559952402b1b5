/** All bounds of identity. The caller that opens identity may set any of them. */

export interface IdentityLimits {
  /** Lifetime of an access token or id token in seconds. A retired signing key is kept as long. */
  readonly tokenSeconds: number
  /** Seconds without use after which a refresh token, a session or a remembered sign-in ends. */
  readonly sessionSeconds: number
  /** Seconds after which a session ends even when it is used. */
  readonly sessionSecondsMax: number
  /** Seconds to finish a sign-in page, or to enter a device code. */
  readonly interactionSeconds: number
  /** The largest difference between an issuer's clock and ours, in seconds. */
  readonly clockSkewSeconds: number
  /** The longest bearer token, in characters. */
  readonly tokenLengthMax: number
  /** The number of verified tokens in each of the cache's two maps. */
  readonly tokensRemembered: number
  /** The number of principals, and of group lists, in each of the cache's two maps. */
  readonly principalsRemembered: number
  readonly passwordLengthMin: number
  readonly passwordLengthMax: number
  /** The number of password hashes computed at once; each takes 32 MiB. */
  readonly passwordsAtOnceMax: number
  /** The number of sign-ins of one address that may wait for such a computation; more are refused at once. */
  readonly passwordsWaitingMax: number
  /** Wrong passwords for one account from one address before the delays begin. */
  readonly signInFailuresFree: number
  /**
   * Wrong passwords from one address, for any account, before the delays begin; and the longest delay in seconds.
   */
  readonly addressFailuresFree: number
  readonly addressDelaySecondsMax: number
  /** The longest delay in seconds; the delay doubles with every further failure. */
  readonly signInDelaySecondsMax: number
  readonly secretsPerPrincipalMax: number
  readonly federatedCredentialsMax: number
  /** The number of sessions of one person. The session that was unused longest is removed for a new one. */
  readonly sessionsPerPrincipalMax: number
  /** Rows that the sign-ins, codes and refresh tokens of one person may have. Those that were used up go first. */
  readonly statesPerPrincipalMax: number
  readonly redirectUrisMax: number
  readonly nameLengthMax: number
  /** The number of custom attributes of one principal, and of values of one attribute. */
  readonly attributesMax: number
  readonly attributeValuesMax: number
  readonly pageSize: number
  readonly pageSizeMax: number
  /** The number of groups taken from the token of an external issuer. */
  readonly tokenGroupsMax: number
  /** The largest form posted to an OAuth route, in bytes. */
  readonly formBytesMax: number
  /**
   * The largest document of an external issuer in bytes, the seconds to wait for it, and the seconds it is valid.
   */
  readonly issuerDocumentBytesMax: number
  readonly issuerTimeoutSeconds: number
  /** How long a fetch waits for a place. */
  readonly issuerWaitSeconds: number
  readonly issuerKeysSeconds: number
  /** The seconds between two fetches that unknown key ids or failures may cause. */
  readonly issuerRetrySeconds: number
}

export const defaultIdentityLimits: IdentityLimits = Object.freeze({
  tokenSeconds: 3600,
  sessionSeconds: 14 * 24 * 3600,
  sessionSecondsMax: 30 * 24 * 3600,
  interactionSeconds: 900,
  clockSkewSeconds: 30,
  tokenLengthMax: 16 * 1024,
  tokensRemembered: 5000,
  principalsRemembered: 5000,
  passwordLengthMin: 10,
  passwordLengthMax: 256,
  passwordsAtOnceMax: 2,
  passwordsWaitingMax: 32,
  signInFailuresFree: 5,
  addressFailuresFree: 20,
  addressDelaySecondsMax: 60,
  signInDelaySecondsMax: 900,
  secretsPerPrincipalMax: 10,
  federatedCredentialsMax: 20,
  sessionsPerPrincipalMax: 100,
  statesPerPrincipalMax: 20_000,
  redirectUrisMax: 20,
  nameLengthMax: 256,
  attributesMax: 50,
  attributeValuesMax: 20,
  pageSize: 100,
  pageSizeMax: 1000,
  tokenGroupsMax: 200,
  formBytesMax: 48 * 1024,
  issuerDocumentBytesMax: 128 * 1024,
  issuerTimeoutSeconds: 5,
  issuerWaitSeconds: 10,
  issuerKeysSeconds: 3600,
  issuerRetrySeconds: 10,
})
