/** The locations of a subscription: a configured list of names, the same for every subscription. */

import { nameOf, type ResourceId } from '#kernel/resource-id.ts'
import { defineResource, type ResourceType } from '#plane/define.ts'
import { pageOfArray } from '../page-of-array.ts'
import { subscriptionVersions } from '../versions.ts'
import type { Location } from './locations.ts'

export function locations(all: readonly Location[]): ResourceType {
  return defineResource({
    type: 'Resources/subscriptions/locations',
    description: 'The location names resources of a subscription may carry.',
    scope: 'implied',
    tracked: false,
    name: { pattern: /^[a-z0-9]{1,64}$/i, rule: 'letters and digits' },
    versions: [],
    apiVersions: subscriptionVersions,
    source: {
      list: (context) =>
        Promise.resolve(
          pageOfArray(
            all.map((one) => show(context.parent, one)),
            context,
          ),
        ),
    },
  })
}

function show(subscription: ResourceId, location: Location): object {
  return {
    id: `${subscription.text}/locations/${location.name}`,
    subscriptionId: nameOf(subscription),
    name: location.name,
    type: 'Region',
    displayName: location.displayName,
    regionalDisplayName: `(${location.geography}) ${location.displayName}`,
    metadata: {
      regionType: 'Physical',
      regionCategory: 'Recommended',
      geography: location.geography,
      geographyGroup: location.geography,
    },
  }
}
