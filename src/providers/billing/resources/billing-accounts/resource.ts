/** Billing accounts: who is billed. */

import Type, { type Static } from 'typebox'
import { address, billingEntity, title } from '../../domain/entity.ts'
import { profilesBelow } from '../../domain/expand.ts'
import { accountName } from '../../domain/names.ts'
import { accountStanding } from '../../domain/standing.ts'

const accountProperties = Type.Object({
  soldTo: address,
  displayName: title,
  accountType: Type.Optional(
    Type.Enum(['Other', 'Enterprise', 'Individual', 'Partner', 'Reseller', 'Business', 'Tenant']),
  ),
})
export type BillingAccount = Static<typeof accountProperties>

export const billingAccounts = billingEntity({
  type: 'Billing/billingAccounts',
  description: 'Who is billed.',
  name: accountName,
  properties: accountProperties,
  address: 'soldTo',
  standing: accountStanding,
  below: profilesBelow,
  nameOf: (seed) => String(7000 + seed),
  sample: { displayName: 'Sample' },
  changed: { displayName: 'Sample, changed' },
})
