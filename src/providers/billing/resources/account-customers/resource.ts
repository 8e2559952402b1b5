/** The customers of an account, over all of its profiles: older clients list them so. */

import Type from 'typebox'
import { defineComputed } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Resource } from '#plane/declare/resource.ts'
import { billingVersion } from '../../domain/entity.ts'
import { showEntity } from '../../domain/expand.ts'
import { customerProperties } from '../customers/resource.ts'

export function accountCustomers(): ResourceType {
  const type = 'Billing/billingAccounts/billingProfiles/customers'
  return defineComputed({
    type: 'Billing/billingAccounts/customers',
    description: 'The customers of all profiles of an account.',
    scope: 'tenant',
    apiVersions: [billingVersion],
    answer: Type.Object({ properties: customerProperties }),
    source: {
      async list(context) {
        const { reader, parent: under, cursor: after, limit } = context
        const { items, next } = await reader.page({ type, under, after, limit })
        // Their type's `toModel` made the rows.
        const customers = items as readonly Resource<object>[]
        return {
          items: customers.map((one) =>
            showEntity(context, one, { type, standing: undefined }, {}),
          ),
          ...(next === undefined ? {} : { next }),
        }
      },
    },
  })
}
