/** Builds ids of the namespace's resources from names. */

import { qualify, type VendorWords } from '#kernel/vendor.ts'
import type { Entry, Statement } from './ledger/entry.ts'

export function accountIdOf(words: VendorWords, account: string): string {
  return `/providers/${qualify(words, 'Billing')}/billingAccounts/${account}`
}

export function profileIdOf(
  words: VendorWords,
  { account, profile }: Pick<Statement, 'account' | 'profile'>,
): string {
  return `${accountIdOf(words, account)}/billingProfiles/${profile}`
}

/** Undefined while pending. */
export function invoiceIdOf(
  words: VendorWords,
  { account, invoice }: Pick<Statement, 'account' | 'invoice'>,
): string | undefined {
  return invoice === undefined ? undefined : `${accountIdOf(words, account)}/invoices/${invoice}`
}

export function transactionIdOf(
  words: VendorWords,
  { statement, row }: Pick<Entry, 'statement' | 'row'>,
): string {
  return `${profileIdOf(words, statement)}/transactions/${row.name}`
}
