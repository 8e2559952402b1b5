/** Customers: the receivers of purchases. */

import Type, { type Static } from 'typebox'
import { billingEntity, title } from '../../domain/entity.ts'
import { entityName } from '../../domain/names.ts'

export const customerProperties = Type.Object({ displayName: title })
export type Customer = Static<typeof customerProperties>

export const customers = billingEntity({
  type: 'Billing/billingAccounts/billingProfiles/customers',
  description: 'For whom something was bought.',
  name: entityName,
  properties: customerProperties,
  sample: { displayName: 'Sample' },
  changed: { displayName: 'Sample, changed' },
})
