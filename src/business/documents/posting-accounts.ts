/** The accounts of a new company, and their posting purposes. */

import { insertRow } from '#query/rows.ts'
import * as tables from '../tables.ts'
import type { WriteContext } from '../write/rows.ts'

/** Number, name, category, whether lines may use it, and its purpose. */
export const firstAccounts = [
  ['1000', 'Bank', 'Assets', 0, 'Bank'],
  ['1200', 'Receivables', 'Assets', 0, 'Receivables'],
  ['2200', 'Sales tax', 'Liabilities', 0, 'Tax'],
  ['3900', 'Opening balances', 'Equity', 0, 'Opening'],
  ['4000', 'Sales of goods', 'Income', 1, 'Goods'],
  ['4100', 'Services', 'Income', 1, 'Services'],
  ['4900', 'Freight charged', 'Income', 1, ''],
  ['6000', 'Purchases', 'Cost of Goods Sold', 1, ''],
  ['7100', 'Exchange gains', 'Income', 0, 'Exchange Gains'],
  ['7200', 'Exchange losses', 'Expense', 0, 'Exchange Losses'],
  ['4950', 'Payment discounts', 'Income', 0, 'Payment Discounts'],
] as const

/** The `purposes` that were added after their enumeration was released. */
export const purposesAdded: readonly string[] = ['Payment Discounts']

export type Purpose = Exclude<(typeof firstAccounts)[number][4], ''>
export const purposes: readonly Purpose[] = firstAccounts.flatMap(([, , , , purpose]) =>
  purpose === '' ? [] : [purpose],
)

export async function createAccounts(context: WriteContext, companyId: string): Promise<void> {
  const { tx, ids, now } = context
  const own = { company_id: companyId, revision: 1, last_modified_date_time: now }
  for (const [number, name, category, direct, purpose] of firstAccounts) {
    const id = ids.uuid()
    await insertRow(tx, tables.accounts, {
      ...own,
      id,
      number,
      display_name: name,
      category,
      account_type: 'Posting',
      direct_posting: direct,
    })
    if (purpose === '') continue
    await insertRow(tx, tables.postingAccounts, {
      ...own,
      id: ids.uuid(),
      code: purpose,
      account_id: id,
      account_number: number,
    })
  }
}
