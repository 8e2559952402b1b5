/** The current subscription: the one used last, else the first. The first one stays when others come. */

import { useEffect } from 'react'
import { nameSubscriptions } from '../api/ids.ts'
import { useCall, useList } from '../api/queries.ts'
import { useOwnPreference } from './preferences.ts'

export function useSubscriptions() {
  const found = useCall('listSubscriptions', { path: {} })
  const [used, setUsed] = useOwnPreference('subscription', '')
  const all = found.data?.value ?? []
  nameSubscriptions(all)
  const current = all.find(({ subscriptionId }) => subscriptionId === used) ?? all[0]
  const reload = (): void => void found.refetch()
  const isChosen = used !== ''
  return {
    all,
    current,
    error: found.error,
    loading: found.isLoading,
    reload,
    isChosen,
    choose: setUsed,
  }
}

/** As many groups as one chooses among. Search finds the others. */
const groupsMax = 2_000

/** The groups of the current subscription, read to their end. */
export function useGroups() {
  const { current } = useSubscriptions()
  const subscriptionId = current?.subscriptionId ?? ''
  const options = { enabled: current !== undefined }
  const groups = useList('listGroups', { path: { subscriptionId } }, options)
  const { more, loading, rows, loadMore } = groups
  useEffect(() => {
    if (more && !loading && rows.length < groupsMax) loadMore()
  })
  return { subscriptionId, groups }
}
