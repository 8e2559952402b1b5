/** Every bound of identity in one table. Plain numbers; those who open identity may set any of them. */

export interface IdentityLimits {
  /** Seconds an access token or id token is good for; a retired signing key is kept as long. */
  readonly tokenSeconds: number
  /** Seconds without use after which a refresh token, a session or a remembered sign-in ends. */
  readonly sessionSeconds: number
  /** Seconds after which they end however much they are used. */
  readonly sessionSecondsMax: number
  /** Seconds to finish a sign-in page, or to enter a device code. */
  readonly interactionSeconds: number
  /** Seconds by which the clocks of an issuer and ours may differ. */
  readonly clockSkewSeconds: number
  /** Characters of a bearer token at the most. */
  readonly tokenLengthMax: number
  /** Verified tokens remembered, in each of the cache's two maps. */
  readonly tokensRemembered: number
  /** Principals, and group lists, remembered in memory, in each of the cache’s two maps. */
  readonly principalsRemembered: number
  readonly passwordLengthMin: number
  readonly passwordLengthMax: number
  /** Password hashes computed at once; each takes 32 MiB. */
  readonly passwordsAtOnceMax: number
  /** Sign-ins that may wait for such a computation; more are refused at once. */
  readonly passwordsWaitingMax: number
  /** Wrong passwords for one account from one address before the delays begin. */
  readonly signInFailuresFree: number
  /** Wrong passwords from one address, whatever the accounts, before the delays begin; and seconds of delay at the most. */
  readonly addressFailuresFree: number
  readonly addressDelaySecondsMax: number
  /** Seconds of delay at the most; it doubles with every further failure. */
  readonly signInDelaySecondsMax: number
  readonly secretsPerPrincipalMax: number
  readonly federatedCredentialsMax: number
  /** Sessions of one person; the one that was used longest ago makes room. */
  readonly sessionsPerPrincipalMax: number
  readonly redirectUrisMax: number
  readonly nameLengthMax: number
  /** Custom attributes of one principal, and values of one attribute. */
  readonly attributesMax: number
  readonly attributeValuesMax: number
  readonly pageSize: number
  readonly pageSizeMax: number
  /** Groups taken from the token of an external issuer. */
  readonly tokenGroupsMax: number
  /** Bytes of a form posted to an OAuth route. */
  readonly formBytesMax: number
  /** Bytes of an external issuer's documents, seconds to wait for them, and how long they are good for. */
  readonly issuerDocumentBytesMax: number
  readonly issuerTimeoutSeconds: number
  readonly issuerKeysSeconds: number
  /** Seconds between two fetches that unknown key ids or failures may cause. */
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
  redirectUrisMax: 20,
  nameLengthMax: 256,
  attributesMax: 50,
  attributeValuesMax: 20,
  pageSize: 100,
  pageSizeMax: 1000,
  tokenGroupsMax: 200,
  formBytesMax: 48 * 1024,
  issuerDocumentBytesMax: 512 * 1024,
  issuerTimeoutSeconds: 5,
  issuerKeysSeconds: 3600,
  issuerRetrySeconds: 10,
})
