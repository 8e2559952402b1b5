/** The wire form of services: one shape in every version (facts 3.2, decision 0016). */

import Type, { type Static } from 'typebox'
import { nameOf } from '#kernel/resource-id.ts'
import { added } from '#plane/declare/added.ts'
import type { Version } from '#plane/declare/wire.ts'
import type { ServiceDependencies } from '../../../dependencies.ts'
import {
  givenIdentity,
  type IdentityBody,
  identityOf,
  showIdentity,
  shownIdentity,
} from '../../../domain/service-identity.ts'
import { type Service, skuNames } from '../model.ts'
import { gatewayAddress, gatewayAnswers, gatewayProperties, withGateway } from './gateway.ts'

const sku = {
  name: Type.Enum([...skuNames]),
  capacity: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000 })),
}
const properties = {
  publisherEmail: Type.String({ minLength: 1, maxLength: 100 }),
  publisherName: Type.String({ minLength: 1, maxLength: 100 }),
  ...gatewayProperties,
}
const zones = added(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 10 }))
const body = Type.Object({
  location: Type.Optional(Type.String()),
  tags: Type.Optional(Type.Record(Type.String(), Type.String())),
  sku: Type.Object(sku),
  zones,
  identity: added(givenIdentity),
  properties: Type.Object(properties),
})
type Body = Static<typeof body> & Pick<IdentityBody, 'assigned'>

export function serviceVersion(
  date: string,
  deps: ServiceDependencies | undefined,
): Version<Service> {
  const publicUrl = (): string => deps?.publicUrl() ?? ''
  return {
    date,
    body,
    answer: Type.Object({
      sku: Type.Object({ ...sku, capacity: Type.Integer() }),
      etag: added(Type.String({ readOnly: true })),
      zones,
      identity: added(shownIdentity),
      properties: Type.Object({
        ...properties,
        ...gatewayAnswers,
        provisioningState: Type.String({ readOnly: true }),
        createdAtUtc: Type.String({ readOnly: true }),
      }),
    }),
    unknownProperties: 'ignore',
    // Custom properties are texts, but templates send booleans.
    scalars: 'lenient',
    toModel: (given: Body, previous) => toModel(given, previous, deps),
    fromModel: (model, { id, state, systemData, etag, words }) => ({
      sku: model.sku,
      etag,
      ...(model.zones === undefined ? {} : { zones: model.zones }),
      ...(model.identity === undefined ? {} : { identity: showIdentity(model.identity) }),
      properties: {
        notificationSenderEmail: model.publisherEmail,
        managementApiUrl: publicUrl(),
        ...gatewayAddress(nameOf(id), publicUrl()),
        ...withGateway(model.gateway, words),
        publisherEmail: model.publisherEmail,
        publisherName: model.publisherName,
        provisioningState: state,
        createdAtUtc: systemData.createdAt,
      },
    }),
  }
}

function toModel(
  given: Body,
  previous: Service | undefined,
  deps: ServiceDependencies | undefined,
): Service {
  const identity = deps === undefined ? undefined : identityOf(given, previous?.identity, deps)
  const written = Object.entries(given.properties).filter(
    ([name, value]) => Object.hasOwn(gatewayProperties, name) && value !== null,
  )
  return {
    sku: {
      name: given.sku.name,
      capacity: given.sku.capacity ?? (given.sku.name === 'Consumption' ? 0 : 1),
    },
    publisherEmail: given.properties.publisherEmail,
    publisherName: given.properties.publisherName,
    ...(written.length === 0 ? {} : { gateway: Object.fromEntries(written) }),
    ...(given.zones === undefined ? {} : { zones: given.zones }),
    ...(identity === undefined ? {} : { identity }),
  }
}
