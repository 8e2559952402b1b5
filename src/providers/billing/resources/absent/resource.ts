/**
 * What the published service keeps between a seller and its customers, and an installation that charges its own users does
 * not have. Clients list it on their way (decision 0174).
 */

import { defineAbsent } from '#plane/declare/absent.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { billingVersion } from '../../domain/entity.ts'

const account = 'Billing/billingAccounts'
const kinds = {
  [`${account}/agreements`]: 'What was agreed with a seller. Nothing: nobody sells here.',
  [`${account}/billingRoleAssignments`]:
    'Roles of billing alone. There are none: roles are those of the account’s scope.',
  [`${account}/billingRoleDefinitions`]: 'Roles of billing alone. There are none.',
  [`${account}/departments`]:
    'Departments of an enrollment. There are none: profiles and sections part the costs.',
  [`${account}/enrollmentAccounts`]: 'Accounts of an enrollment. There are none.',
  [`${account}/paymentMethods`]: 'How an account pays. Nothing is paid here.',
  [`${account}/billingProfiles/instructions`]: 'Instructions for invoices. There are none.',
  'Billing/enrollmentAccounts': 'Accounts of an enrollment that the caller has. There are none.',
  'Billing/transfers': 'Subscriptions on their way to another account. There are none.',
}

export function absentFromBilling(): readonly ResourceType[] {
  return Object.entries(kinds).map(([type, description]) =>
    defineAbsent({ type, description, scope: 'tenant', apiVersions: [billingVersion] }),
  )
}
