/** Services on the wire: one shape in every version (facts 3.2, decision 0016). */

import Type, { type Static } from 'typebox'
import type { Version } from '#plane/declare/wire.ts'
import { type Service, skuNames } from '../model.ts'

const sku = {
  name: Type.Enum([...skuNames]),
  capacity: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000 })),
}
const properties = {
  publisherEmail: Type.String({ minLength: 1, maxLength: 100 }),
  publisherName: Type.String({ minLength: 1, maxLength: 100 }),
}
const body = Type.Object({
  location: Type.Optional(Type.String()),
  tags: Type.Optional(Type.Record(Type.String(), Type.String())),
  sku: Type.Object(sku),
  properties: Type.Object(properties),
})

export function service(date: string): Version<Service> {
  return {
    date,
    body,
    answer: Type.Object({
      sku: Type.Object({ ...sku, capacity: Type.Integer() }),
      properties: Type.Object({
        ...properties,
        provisioningState: Type.String({ readOnly: true }),
        createdAtUtc: Type.String({ readOnly: true }),
      }),
    }),
    unknownProperties: 'ignore',
    toModel: (given: Static<typeof body>) => ({
      sku: {
        name: given.sku.name,
        capacity: given.sku.capacity ?? (given.sku.name === 'Consumption' ? 0 : 1),
      },
      publisherEmail: given.properties.publisherEmail,
      publisherName: given.properties.publisherName,
    }),
    fromModel: ({ sku: kept, publisherEmail, publisherName }, { state, systemData }) => ({
      sku: kept,
      properties: {
        publisherEmail,
        publisherName,
        provisioningState: state,
        createdAtUtc: systemData.createdAt,
      },
    }),
  }
}
