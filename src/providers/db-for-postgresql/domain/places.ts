/**
 * The places of migrations at work. One keeps its place as long as its servers like, and none is ended for others: its data
 * would have to move anew. So the later places are for resource groups without a migration at work, and the last ones for
 * subscriptions without one.
 */

interface Taken {
  readonly inGroup: number
  readonly inSubscription: number
  readonly inAll: number
}

interface Full {
  readonly scope: 'group' | 'installation'
  /** When there is room, after "when". */
  readonly reason: string
}

/** Of so many places one is for newcomers, of either kind. */
const placesForEachNewcomer = 8

/** What has no room for another migration, if anything has. */
export function fullScope(
  { inGroup, inSubscription, inAll }: Taken,
  max: number,
): Full | undefined {
  const groupMax = Math.max(1, Math.floor(max / 2))
  const last = Math.floor(max / placesForEachNewcomer)
  if (inGroup >= groupMax) {
    const reason = `one of ${groupMax} in its resource group is at its end: no more are at work there`
    return { scope: 'group', reason }
  }
  const bounds = [
    [0, true, 'no more are at work in this installation'],
    [last, inSubscription > 0, 'the last places are for subscriptions without one'],
    [last * 2, inGroup > 0, 'the last places are for resource groups without one'],
  ] as const
  for (const [left, isBound, why] of bounds) {
    if (!isBound || inAll < max - left) continue
    return { scope: 'installation', reason: `one of ${max - left} is at its end: ${why}` }
  }
  return undefined
}
