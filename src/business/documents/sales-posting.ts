/** What an invoice or a credit memo posts: the amount owed against sales and tax. */

import { allRows } from '#query/rows.ts'
import { fits } from '../amounts/decimals.ts'
import { lineSelect } from '../entities/line-view.ts'
import { noGuid } from '../entity.ts'
import type { DocumentRow } from '../tables.ts'
import * as tables from '../tables.ts'
import { inLocal, type OwnCurrency, type Rate } from '../write/exchange-rates.ts'
import type { WriteContext } from '../write/rows.ts'
import { type Posting, tooLarge } from './posting.ts'

/** `sign`: 1 adds the document's amounts, -1 subtracts them. `local`: its total in the company's own currency. */
interface Sold {
  readonly sign: 1 | -1
  readonly local: number
  readonly rate: Rate
  readonly own: OwnCurrency
}

/**
 * One sum for each account and tax combination, whatever the number of lines. Each is the difference of two sums in
 * the company's currency, so that the parts add up to the total exactly.
 */
export async function bookSale(
  { tx }: WriteContext,
  posting: Posting,
  document: Pick<DocumentRow, 'id' | 'discount_amount'>,
  { sign, local, rate, own }: Sold,
): Promise<void> {
  await requireModest(tx, document.id, rate, own)
  const lines = document.discount_amount === 0 ? tables.lines.name : `(${lineSelect})`
  const nets = await tx.all(
    `select lines.account_id as account_id, coalesce(items.type, '') as type,
       cast(sum(lines.net_amount) as bigint) as net from ${lines} as lines
       left join business_items items on items.id = lines.item_id
       where lines.document_id = ? and lines.line_type <> 'Comment' group by 1, 2 order by 1, 2`,
    document.id,
  )
  const where = 'where document_id = ? order by tax_key'
  const taxes = await allRows(tx, tables.documentTaxGroups, where, document.id)
  const sums: { accountId: string; amount: number; taxed?: { percent: number; net: number } }[] = []
  for (const { account_id, type, net } of nets) {
    const sales = type === 'Service' ? 'Services' : 'Goods'
    const accountId = account_id === noGuid ? await posting.accountOf(sales) : String(account_id)
    sums.push({ accountId, amount: Number(net) })
  }
  for (const { including, net, tax_percent } of taxes) {
    if (tax_percent === 0) continue
    const accountId = await posting.accountOf('Tax')
    sums.push({ accountId, amount: including - net, taxed: { percent: tax_percent, net } })
  }
  let upTo = 0
  let booked = 0
  for (const [at, { accountId, amount, taxed }] of sums.entries()) {
    upTo += amount
    const whole = at === sums.length - 1 ? local : inLocal(upTo, rate, own)
    const part = sign * (whole - booked)
    posting.book(accountId, -part)
    if (taxed !== undefined) posting.tax(taxed.percent, sign * inLocal(taxed.net, rate, own), part)
    booked = whole
  }
}

/**
 * Large amounts that cancel out would still stand on the accounts: a few invoices would fill one, and sums on the way would
 * not be exact.
 */
async function requireModest(
  tx: WriteContext['tx'],
  documentId: string,
  rate: Rate,
  own: OwnCurrency,
): Promise<void> {
  const [row] = await tx.all(
    `select coalesce(sum(abs(${tables.asNumber('line_amount')})), 0) as extent
       from business_lines where document_id = ?`,
    documentId,
  )
  if (!fits(inLocal(Number(row?.['extent']), rate, own))) throw tooLarge()
}
