/** Numbers of documents and of master data that brings none: counted per company, without gaps by our doing. */

import type { WriteContext } from '../write/rows.ts'

export const series = {
  invoice: 'S-INV1',
  postedInvoice: 'PS-INV1',
  quote: 'S-QUO1',
  creditMemo: 'S-CR1',
  postedCreditMemo: 'PS-CR1',
  customer: 'C',
  item: 'I',
  payment: 'PAY',
} as const

const digits = 5

/** The next number of a series. Writers of one company wait for each other here, until the end of the transaction. */
export async function nextNumber(
  context: WriteContext,
  name: keyof typeof series,
): Promise<string> {
  const { tx, companyId } = context
  const [row] = await tx.all(
    `insert into business_counters (company_id, name, last) values (?, ?, 1)
       on conflict (company_id, name) do update set last = business_counters.last + 1 returning last`,
    companyId,
    name,
  )
  if (row === undefined) throw new Error(`the counter ${name} gave no number`)
  return `${series[name]}${String(row['last']).padStart(digits, '0')}`
}
