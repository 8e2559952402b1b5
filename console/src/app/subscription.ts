/**
 * Where one looks: one subscription, a management group with the subscriptions in it, or all that one may read. What needs
 * one subscription (a form) takes the one used last, else the first. The first one stays when others come.
 */

import { nameSubscriptions } from '../api/ids.ts'
import { type ItemOf, useAllOf, useCall, useLists } from '../api/queries.ts'
import { useOwnPreference } from './preferences.ts'
import { everywhere, type PlacedScope, scopesOf, subscriptionsIn } from './scopes.ts'

export type Subscription = ItemOf<'listSubscriptions'>

export function useSubscriptions() {
  const found = useCall('listSubscriptions', { path: {} })
  const [used, setUsed] = useOwnPreference('subscription', '')
  const [wide] = useOwnPreference('scope', '')
  const all = found.data?.value ?? []
  nameSubscriptions(all)
  const { placed, loading: isPlacing } = usePlaced(wide !== '' && wide !== everywhere)
  const inScope = subscriptionsIn(all, placed, wide)
  const isWide = wide !== '' && inScope.length > 0
  const choosable = isWide ? inScope : all
  const current = choosable.find(({ subscriptionId }) => subscriptionId === used) ?? choosable[0]
  const reload = (): void => void found.refetch()
  const isChosen = used !== ''
  return {
    all,
    current,
    /** Those that one looks at: the current one, or all of the chosen scope. */
    looked: isWide ? inScope : current === undefined ? [] : [current],
    /** The id of the management group, `everywhere`, or nothing where one looks at one subscription. */
    wide: isWide ? wide : '',
    error: found.error,
    loading: found.isLoading || isPlacing,
    reload,
    isChosen,
    choose: setUsed,
  }
}

/** Milliseconds. Groups change seldom. */
const keepFor = 60_000

/** Management groups and what lies in them, as far as one may read. */
function usePlaced(enabled: boolean): {
  readonly placed: readonly PlacedScope[]
  readonly loading: boolean
} {
  const found = useCall('getEntities', { path: {} }, { enabled, keepFor })
  return { placed: found.data?.value ?? [], loading: found.isLoading }
}

/** What the picker offers, and the choice. */
export function useScopes() {
  const { all, current, wide, choose } = useSubscriptions()
  const [, setWide] = useOwnPreference('scope', '')
  const scopes = scopesOf(all, usePlaced(true).placed)
  return {
    scopes,
    chosen: wide === '' ? (current?.subscriptionId ?? '') : wide,
    choose(id: string): void {
      const isSubscription = all.some(({ subscriptionId }) => subscriptionId === id)
      setWide(isSubscription ? '' : id)
      if (isSubscription) choose(id)
    },
  }
}

/** As many groups as one chooses among. Search finds the others. */
const groupsMax = 2_000

/** The groups of the current subscription, read to their end. */
export function useGroups() {
  const { current } = useSubscriptions()
  const subscriptionId = current?.subscriptionId ?? ''
  const groups = useGroupsOf(current === undefined ? [] : [subscriptionId])
  return { subscriptionId, groups }
}

/** The groups of several subscriptions, read to their end. */
export function useGroupsOf(subscriptionIds: readonly string[]) {
  const groups = useLists(
    'listGroups',
    subscriptionIds.map((subscriptionId) => ({ path: { subscriptionId } })),
    { enabled: subscriptionIds.length > 0 },
  )
  return useAllOf(groups, groupsMax)
}
