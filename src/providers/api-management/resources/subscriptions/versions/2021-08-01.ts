/**
 * The wire form of subscriptions. Keys are generated unless given. `listSecrets` returns them, and the answer of a PUT
 * does to a caller who may list them.
 */

import Type, { type Static } from 'typebox'
import type { Ids, Seal } from '#kernel/ports.ts'
import { added } from '#plane/declare/added.ts'
import type { Version } from '#plane/declare/wire.ts'
import { type Subscription, scopeAt, serviceOf, subscriptionStates } from '../model.ts'

export interface SubscriptionDependencies {
  readonly seal: Seal
  readonly ids: Ids
}

const key = Type.Optional(Type.String({ minLength: 1, maxLength: 256, writeOnly: true }))
const shared = {
  displayName: Type.String({ minLength: 1, maxLength: 100 }),
  scope: Type.String({ minLength: 1, maxLength: 2000 }),
  ownerId: Type.Optional(Type.String({ maxLength: 2000 })),
  state: Type.Optional(Type.Enum([...subscriptionStates])),
  stateComment: Type.Optional(Type.String({ maxLength: 2000 })),
  allowTracing: Type.Optional(Type.Boolean()),
}
const body = Type.Object({
  properties: Type.Object({ ...shared, primaryKey: key, secondaryKey: key }),
})
type Body = Static<typeof body> & { readonly place?: string }

export const keyBytes = 24

export function subscription(date: string, deps: SubscriptionDependencies): Version<Subscription> {
  return {
    date,
    body,
    answer: Type.Object({
      properties: Type.Object({
        ...shared,
        createdDate: Type.String({ readOnly: true }),
        primaryKey: added(Type.String({ readOnly: true })),
        secondaryKey: added(Type.String({ readOnly: true })),
      }),
    }),
    unknownProperties: 'ignore',
    toModel: (given: Body, previous) => toModel(given, previous, deps),
    fromModel: (model, { id, systemData }) => {
      const { place: _place, sealedPrimaryKey: _one, sealedSecondaryKey: _two, ...shown } = model
      const scope = scopeAt(id, model)
      return { properties: { ...shown, scope, createdDate: systemData.createdAt } }
    },
  }
}

function toModel(
  { properties: given, place: written }: Body,
  previous: Subscription | undefined,
  { seal, ids }: SubscriptionDependencies,
): Subscription {
  const place = previous?.place ?? written ?? ''
  const sealed = (name: 'primary' | 'secondary', text: string): string =>
    seal.seal(text, `${place}|${name}`)
  const service = serviceOf(place)
  return {
    place,
    displayName: given.displayName,
    scope: /^\/(apis|products)(\/|$)/i.test(given.scope) ? `${service}${given.scope}` : given.scope,
    ...(given.ownerId === undefined ? {} : { ownerId: given.ownerId }),
    state: given.state ?? previous?.state ?? 'active',
    ...(given.stateComment === undefined ? {} : { stateComment: given.stateComment }),
    allowTracing: given.allowTracing ?? false,
    sealedPrimaryKey:
      given.primaryKey === undefined && previous !== undefined
        ? previous.sealedPrimaryKey
        : sealed('primary', given.primaryKey ?? ids.secret(keyBytes)),
    sealedSecondaryKey:
      given.secondaryKey === undefined && previous !== undefined
        ? previous.sealedSecondaryKey
        : sealed('secondary', given.secondaryKey ?? ids.secret(keyBytes)),
  }
}
