/** Products: what is charged, and its price. */

import Type, { type Static } from 'typebox'
import { billingEntity, currency, percent, title } from '../../domain/entity.ts'
import { entityName } from '../../domain/names.ts'

const amount = Type.Object({ currency, value: Type.Number({ minimum: 0, maximum: 900_000_000 }) })

const productProperties = Type.Object({
  displayName: title,
  productFamily: Type.Optional(Type.String({ maxLength: 128 })),
  productType: Type.Optional(Type.String({ maxLength: 128 })),
  unitOfMeasure: Type.Optional(Type.String({ maxLength: 64 })),
  unitType: Type.Optional(Type.String({ maxLength: 64 })),
  price: amount,
  discount: percent,
  meter: Type.Optional(
    Type.String({
      maxLength: 128,
      description: 'The meter that it prices, by the hour of one unit held: `containerGroups/cpu`.',
    }),
  ),
})
export type Product = Static<typeof productProperties>

export const products = billingEntity({
  type: 'Billing/billingAccounts/products',
  description: 'What is charged, and its price.',
  name: entityName,
  properties: productProperties,
  sample: { displayName: 'Sample', price: { currency: 'USD', value: 1.5 } },
  changed: { displayName: 'Sample', price: { currency: 'USD', value: 2 } },
})
