/** The locations of a subscription: a configured list of names, the same for every subscription. */

import Type from 'typebox'
import { nameOf, type ResourceId } from '#kernel/resource-id.ts'
import { added } from '#plane/declare/added.ts'
import { type ComputedType, defineComputed } from '#plane/declare/computed.ts'
import type { Location } from '../../domain/locations.ts'
import { pageOfArray } from '../../domain/page-of-array.ts'
import { subscriptionVersions } from '../../published-versions.ts'

const answer = Type.Object({
  subscriptionId: Type.String({ format: 'uuid' }),
  displayName: Type.String(),
  regionalDisplayName: Type.String(),
  metadata: Type.Object({
    regionType: Type.String(),
    regionCategory: Type.String(),
    geography: Type.String(),
    geographyGroup: Type.String(),
  }),
})

export function locations(all: readonly Location[]): ComputedType {
  return defineComputed({
    type: 'Resources/subscriptions/locations',
    description: 'The location names resources of a subscription may carry.',
    scope: 'implied',
    apiVersions: subscriptionVersions,
    answer: added(answer),
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
