/** The limits of this provider, as a parameter of `secretsProvider`. */

export interface SecretLimits {
  /** The number of values kept per secret. The oldest are removed, and references to them no longer resolve. */
  readonly versionsPerSecretMax: number
}

export const defaultSecretLimits: SecretLimits = Object.freeze({ versionsPerSecretMax: 10 })
