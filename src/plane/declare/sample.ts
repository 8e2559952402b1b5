/** Example bodies of a type, for the resource contract suite. */

/** How the resource contract suite makes valid resources of a type. */
export interface Sample {
  name(seed: number): string
  /** A valid PUT body per version. */
  body(seed: number, version: string): object
  /** A valid body that differs from `body(seed)`, for tests of updates. */
  changed(seed: number, version: string): object
  /** A parent holds only one at a time, so the suite cannot test its pages; the provider's own tests do. */
  readonly isAlone?: true
  /** Strings that no answer may contain. */
  readonly secrets?: readonly string[]
  /**
   * For a type that keeps secrets for a receiver: merge patches of `body(seed)`, each of which changes the receiver.
   */
  readonly redirects?: readonly object[]
}
