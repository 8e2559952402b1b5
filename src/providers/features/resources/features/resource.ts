/** Preview features: everything that this installation can do is on, so none can be registered. */

import { defineAbsent } from '#plane/declare/absent.ts'
import type { ResourceType } from '#plane/declare/provider.ts'

const apiVersions = ['2021-07-01']

export function features(): readonly ResourceType[] {
  const scope = 'subscription'
  return [
    defineAbsent({
      type: 'Features/features',
      description: 'Features that a subscription would have to ask for. There are none.',
      scope,
      apiVersions,
    }),
    defineAbsent({
      type: 'Features/subscriptionFeatureRegistrations',
      description: 'Features that a subscription has requested. There are none.',
      scope,
      apiVersions,
    }),
  ]
}
