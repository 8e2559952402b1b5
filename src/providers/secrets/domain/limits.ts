/** The bounds of this provider, as a parameter of `secretsProvider`. */

export interface SecretLimits {
  /** Values kept of one secret; the oldest go first, and what refers to them resolves no more. */
  readonly versionsPerSecretMax: number
}

export const defaultSecretLimits: SecretLimits = Object.freeze({ versionsPerSecretMax: 10 })
