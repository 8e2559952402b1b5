/** That a subscription lies in a management group: the id says it all. */

export interface GroupSubscription {
  /** It would be placed, and nobody has asked for the right that this takes. Rules refuse it, so it is never stored. */
  readonly isUnchecked?: true
}
