/** Examples of a type, for the contract suite that every type is put through. */

/** How the resource contract suite makes valid resources of a type. */
export interface Sample {
  name(seed: number): string
  /** A valid PUT body per version. */
  body(seed: number, version: string): object
  /** A body that is valid and differs from `body(seed)`; updates are tried with it. */
  changed(seed: number, version: string): object
  /** Of one parent there is one at a time: that pages joined are the list is its provider's to test. */
  readonly isAlone?: true
  /** Strings that must never come back in an answer. */
  readonly secrets?: readonly string[]
  /** Of a type that keeps secrets for a receiver: merge patches of `body(seed)`, each of which changes the receiver. */
  readonly redirects?: readonly object[]
}
