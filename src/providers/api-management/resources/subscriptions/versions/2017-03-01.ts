/**
 * The wire form of subscriptions while each was of one product: `productId` and `userId` are what later versions call
 * `scope` and `ownerId`. One of an API, or of all of them, has no product to show.
 */

import Type, { type Static } from 'typebox'
import type { Version } from '#plane/declare/wire.ts'
import { type Subscription, subscriptionStates } from '../model.ts'
import { type SubscriptionDependencies, subscription } from './2021-08-01.ts'

const key = Type.Optional(Type.String({ minLength: 1, maxLength: 256, writeOnly: true }))
const shownKey = Type.Optional(Type.String({ readOnly: true }))
const shared = {
  displayName: Type.String({ minLength: 1, maxLength: 100 }),
  userId: Type.Optional(Type.String({ maxLength: 2000 })),
  state: Type.Optional(Type.Enum([...subscriptionStates])),
  stateComment: Type.Optional(Type.String({ maxLength: 2000 })),
}
const body = Type.Object({
  properties: Type.Object({
    ...shared,
    productId: Type.String({ minLength: 1, maxLength: 2000 }),
    primaryKey: key,
    secondaryKey: key,
  }),
})
type Body = Static<typeof body> & { readonly place?: string }

export function subscriptionOfProduct(
  date: string,
  deps: SubscriptionDependencies,
): Version<Subscription> {
  const later = subscription(date, deps)
  return {
    ...later,
    body,
    answer: Type.Object({
      properties: Type.Object({
        ...shared,
        productId: Type.Optional(Type.String()),
        createdDate: Type.String({ readOnly: true }),
        primaryKey: shownKey,
        secondaryKey: shownKey,
      }),
    }),
    toModel({ properties: { productId, userId, ...given }, place }: Body, previous, context) {
      const named = { scope: productId, ...(userId === undefined ? {} : { ownerId: userId }) }
      const renamed = { place, properties: { ...given, ...named } }
      return later.toModel(renamed as never, previous, context)
    },
    fromModel(model, context) {
      // What that version shows.
      const { properties } = later.fromModel(model, context) as { readonly properties: Shown }
      const { scope, ownerId, allowTracing: _since2019, ...shown } = properties
      return {
        properties: {
          ...shown,
          ...(/\/products\/[^/]+$/i.test(scope) ? { productId: scope } : {}),
          ...(ownerId === undefined ? {} : { userId: ownerId }),
        },
      }
    },
  }
}

interface Shown {
  readonly scope: string
  readonly ownerId?: string
  readonly allowTracing: boolean
}
