/**
 * What the published service keeps between a seller and its customers, and an installation that charges its own users does
 * not have. Clients list it on their way (decision 0174).
 */

import { defineAbsent } from '#plane/declare/absent.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { billingVersion } from '../../domain/entity.ts'

const kinds = {
  'billingAccounts/agreements': 'What was agreed with a seller. Nothing: nobody sells here.',
  'billingAccounts/billingRoleAssignments':
    'Roles of billing alone. There are none: roles are those of the account’s scope.',
  'billingAccounts/billingRoleDefinitions': 'Roles of billing alone. There are none.',
  'billingAccounts/departments':
    'Departments of an enrollment. There are none: profiles and sections part the costs.',
  'billingAccounts/enrollmentAccounts': 'Accounts of an enrollment. There are none.',
  'billingAccounts/paymentMethods': 'How an account pays. Nothing is paid here.',
  'billingAccounts/billingProfiles/instructions': 'Instructions for invoices. There are none.',
  enrollmentAccounts: 'Accounts of an enrollment that the caller has. There are none.',
  transfers: 'Subscriptions on their way to another account. There are none.',
}

export function absentFromBilling(): readonly ResourceType[] {
  return defineAbsent('Billing', kinds, { scope: 'tenant', apiVersions: [billingVersion] })
}
