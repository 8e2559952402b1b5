/** Preview features: everything that this installation can do is on, so none can be registered. */

import { defineAbsent } from '#plane/declare/absent.ts'
import type { ResourceType } from '#plane/declare/provider.ts'

const kinds = {
  features: 'Features that a subscription would have to ask for. There are none.',
  subscriptionFeatureRegistrations: 'Features that a subscription has requested. There are none.',
}

export function features(): readonly ResourceType[] {
  return defineAbsent('Features', kinds, { scope: 'subscription', apiVersions: ['2021-07-01'] })
}
