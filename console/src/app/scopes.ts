/** Management groups and subscriptions as one list with levels, for the picker of the scope. Pure, and tested by itself. */

export const everywhere = 'all'

/** A management group or subscription, with the group that it lies in. */
export interface PlacedScope {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly properties: {
    readonly displayName: string
    readonly parent: { readonly id: string }
  }
}

interface NamedSubscription {
  readonly subscriptionId: string
  readonly displayName: string
}

export interface Scope {
  /** Of a management group; for a subscription its `subscriptionId`; or `everywhere`, which has no name of its own. */
  readonly id: string
  readonly name: string
  readonly level: number
}

/** More levels than management groups have: a circle, which the server does not make, would not end. */
const levelsMax = 10

function keyOf(id: string): string {
  return id.toLowerCase()
}

function isSubscription({ id }: PlacedScope): boolean {
  return keyOf(id).startsWith('/subscriptions/')
}

/**
 * Everything, then each group with what is in it, then the subscriptions whose group one may not read. A group without a
 * subscription to look at is left out, and so is everything where there is only one thing to look at.
 */
export function scopesOf(
  all: readonly NamedSubscription[],
  placed: readonly PlacedScope[],
): readonly Scope[] {
  const groups = placed.filter((one) => !isSubscription(one))
  const known = new Set(groups.map(({ id }) => keyOf(id)))
  const parentOf = parentsOf(placed)
  const inside = (parent: string | undefined, level: number): readonly Scope[] => {
    if (level > levelsMax) return []
    const isHere = (id: string): boolean => {
      const own = parentOf.get(keyOf(id))
      return parent === undefined ? own === undefined || !known.has(own) : own === parent
    }
    const ofGroups = groups
      .filter(({ id }) => isHere(id))
      .flatMap(({ id, properties }) => {
        const below = inside(keyOf(id), level + 1)
        return below.length === 0 ? [] : [{ id, name: properties.displayName, level }, ...below]
      })
    const ofSubscriptions = all
      .filter(({ subscriptionId }) => isHere(`/subscriptions/${subscriptionId}`))
      .map(({ subscriptionId, displayName }) => ({ id: subscriptionId, name: displayName, level }))
    return [...ofGroups, ...ofSubscriptions]
  }
  const scopes = inside(undefined, 1)
  return scopes.length < 2 ? scopes : [{ id: everywhere, name: '', level: 0 }, ...scopes]
}

/** The subscriptions of a scope, also of groups in it; empty where the scope is not there. */
export function subscriptionsIn<T extends NamedSubscription>(
  all: readonly T[],
  placed: readonly PlacedScope[],
  scope: string,
): readonly T[] {
  if (scope === everywhere) return all
  const parentOf = parentsOf(placed)
  return all.filter(({ subscriptionId }) => {
    let at = parentOf.get(keyOf(`/subscriptions/${subscriptionId}`))
    for (let level = 0; at !== undefined && level < levelsMax; level += 1) {
      if (at === keyOf(scope)) return true
      at = parentOf.get(at)
    }
    return false
  })
}

function parentsOf(placed: readonly PlacedScope[]): ReadonlyMap<string, string> {
  return new Map(placed.map(({ id, properties }) => [keyOf(id), keyOf(properties.parent.id)]))
}
