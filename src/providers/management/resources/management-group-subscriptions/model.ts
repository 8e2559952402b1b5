/** That a subscription lies in a management group: the id says it all. */

export type GroupSubscription = Readonly<Record<string, never>>
