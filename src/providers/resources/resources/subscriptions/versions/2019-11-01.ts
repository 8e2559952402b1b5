/** Subscriptions on the wire, version 2019-11-01 (facts 9.8). Creating one is ours: name and tags are its body. */

import Type, { type Static } from 'typebox'
import type { Version } from '#plane/declare/wire.ts'
import { displayNameMax, type Subscription } from '../model.ts'

const displayName = Type.Optional(Type.String({ minLength: 1, maxLength: displayNameMax }))
const tags = Type.Optional(Type.Record(Type.String(), Type.String()))

const body = Type.Object({ displayName, tags, properties: Type.Optional(Type.Object({})) })
const patchBody = Type.Object({ displayName, tags })

const answer = Type.Object({
  subscriptionId: Type.String({ format: 'uuid' }),
  tenantId: Type.String({ format: 'uuid' }),
  displayName: Type.String(),
  state: Type.Enum(['Enabled', 'Disabled']),
  subscriptionPolicies: Type.Object({
    locationPlacementId: Type.String(),
    quotaId: Type.String(),
    spendingLimit: Type.String(),
  }),
  authorizationSource: Type.String(),
  managedByTenants: Type.Array(Type.Object({ tenantId: Type.String() })),
  tags: Type.Optional(Type.Record(Type.String(), Type.String())),
})

export const v2019_11_01: Version<Subscription> = {
  date: '2019-11-01',
  body,
  answer,
  unknownProperties: 'ignore',
  toModel(given: Static<typeof body>, previous: Subscription | undefined): Subscription {
    return {
      displayName: given.displayName ?? previous?.displayName ?? 'Subscription',
      // Changed by the actions cancel and enable alone.
      state: previous?.state ?? 'Enabled',
      tags: given.tags ?? {},
    }
  },
  fromModel(model: Subscription) {
    return { displayName: model.displayName, state: model.state, tags: model.tags }
  },
  patch: {
    body: patchBody,
    apply(given: Static<typeof patchBody>, previous: Subscription): Subscription {
      return {
        ...previous,
        displayName: given.displayName ?? previous.displayName,
        tags: given.tags ?? previous.tags,
      }
    },
  },
}
