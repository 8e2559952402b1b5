/** Rules for names of this namespace (contract, operation 4; facts 5.1), and their refusals. */

import type { NameRule } from '#plane/declare/wire.ts'
import { refuseBilling } from '../errors.ts'

const accountPattern: RegExp =
  /^([0-9]+|([Pp][Cc][Nn]\.[A-Za-z0-9]+)|[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}(:[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}_[0-9]{4}(-[0-9]{2}){2})?)$/

export const invoicePattern: RegExp =
  /^(H[0-9]-[A-Z0-9]+)$|^(?:([GHT]|HT){1}[A-Z0-9]{9})$|^(?:[D]{1}[A-Z0-9]{9})$|^(?:E{1}[B-Z0-9]{1}[A-Z0-9]{8})$|^(?:EA[A-Z0-9]{8})$/

export function requireAccountName(name: string): void {
  if (!accountPattern.test(name)) {
    throw refuseBilling.InvalidBillingAccountName({ name, pattern: accountPattern.source })
  }
}

export function requireInvoiceName(name: string): void {
  if (!invoicePattern.test(name)) {
    throw refuseBilling.InvalidInvoiceName({ name, pattern: invoicePattern.source })
  }
}

export const accountName: NameRule = {
  pattern: accountPattern,
  rule: 'digits, PCN. and letters or digits, or a GUID',
  refuse: (name) =>
    refuseBilling.InvalidBillingAccountName({ name, pattern: accountPattern.source }),
}

/** Profiles, invoice sections, customers, products, imports. */
export const entityName: NameRule = {
  pattern: /^[a-zA-Z\d_-]{1,128}$/,
  rule: '1 to 128 letters, digits, hyphens and underscores',
}
