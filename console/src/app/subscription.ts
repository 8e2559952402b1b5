/** The subscription that is looked at: named by the address (`?subscription=`), else the one used last, else the first. */

import { useCall } from '../api/queries.ts'
import { usePreference } from './preferences.ts'

export function useSubscriptions() {
  const found = useCall('listSubscriptions', { path: {} })
  const [used, setUsed] = usePreference<string>('subscription', '')
  const all = found.data?.value ?? []
  const current = all.find(({ subscriptionId }) => subscriptionId === used) ?? all[0]
  return { all, current, error: found.error, loading: found.isLoading, choose: setUsed }
}
