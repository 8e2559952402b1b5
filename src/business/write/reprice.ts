/**
 * Recomputes the lines of a document whose header changed: their prices, discounts and taxes become what they would
 * have been with the new header (business facts 6). The ledger updates the sums.
 */

import { allRows } from '#query/rows.ts'
import { discountAmountOf, grossOf } from '../amounts/line.ts'
import { hundredPercent, one, ratio, roundTo } from '../amounts/units.ts'
import { noGuid } from '../entity.ts'
import type { DocumentRow, LineRow } from '../tables.ts'
import * as tables from '../tables.ts'
import { convertAmount, type Rate } from './exchange-rates.ts'
import { termsOf } from './ledger.ts'
import { applyAmounts } from './line-figures.ts'
import { itemPrice, type LineDraft, taxAreaOf } from './line-object.ts'
import type { Lookups } from './lookups.ts'
import { updateRow, type WriteContext } from './rows.ts'
import { inRange } from './values.ts'

/** A change of one of these columns reprices the lines. */
export const pricingColumns = [
  'tax_liable',
  'tax_area_id',
  'amount_precision',
  'prices_include_tax',
  'currency_id',
] as const

type Header = Pick<DocumentRow, (typeof pricingColumns)[number]> & Rate

/** A header before or after the change, with the tax percent of one line under it. */
interface Pricing {
  readonly header: Header
  readonly taxPercent: number
}

/** Writes the rows of all lines except comments. */
export async function repriceLines(
  context: WriteContext,
  { before, after }: { readonly before: Header; readonly after: DocumentRow },
  lookups: Lookups,
): Promise<void> {
  const terms = termsOf(after)
  const where = "where document_id = ? and line_type <> 'Comment'"
  for (const row of await allRows(context.tx, tables.lines, where, after.id)) {
    const draft: LineDraft = { ...row }
    draft.tax_percent = await lookups.taxPercent(taxAreaOf(after), row.tax_code)
    const from = { header: before, taxPercent: row.tax_percent }
    const to = { header: after, taxPercent: draft.tax_percent }
    draft.unit_price = inRange('unitPrice', await priceAfter(row, from, to, lookups))
    const gross = grossOf(row.quantity, draft.unit_price, terms)
    const hasOtherGross = gross !== grossOf(row.quantity, row.unit_price, termsOf(before))
    draft.discount_amount = hasOtherGross
      ? discountAmountOf(gross, row.discount_percent, terms)
      : roundTo(row.discount_amount, terms.precision)
    applyAmounts(draft, terms)
    await updateRow(context.tx, tables.lines, row.id, {
      unit_price: draft.unit_price,
      discount_amount: draft.discount_amount,
      tax_percent: draft.tax_percent,
      tax_key: `${row.tax_code}|${draft.tax_percent}`,
      line_amount: draft.line_amount,
      amount_excluding_tax: draft.amount_excluding_tax,
      total_tax_amount: draft.total_tax_amount,
      amount_including_tax: draft.amount_including_tax,
    })
  }
}

/** A price that was the item's becomes the item's new price; any other keeps its value without tax. */
async function priceAfter(
  line: LineRow,
  from: Pricing,
  to: Pricing,
  lookups: Lookups,
): Promise<number> {
  const own = await ownPrices(line, from, to, lookups)
  if (own?.before === line.unit_price) return own.after
  const taxed = ratio(line.unit_price, factorOf(to), factorOf(from), 1)
  return inCurrencyOf(to.header, taxed, from.header)
}

/** An amount of a document whose currency changed; unchanged where a rate is missing. */
export function inCurrencyOf(after: Header, amount: number, before: Header): number {
  const isKnown = [before, after].every(
    (one) => one.currency_id === noGuid || one.exchange_rate_amount !== 0,
  )
  if (!isKnown || before.currency_id === after.currency_id) return amount
  return convertAmount(amount, before, after)
}

function factorOf({ header, taxPercent }: Pricing): number {
  return header.prices_include_tax === 0 ? hundredPercent : hundredPercent + taxPercent
}

/** The item's price under either header, in the unit of the line. */
async function ownPrices(
  line: LineRow,
  from: Pricing,
  to: Pricing,
  lookups: Lookups,
): Promise<{ readonly before: number; readonly after: number } | undefined> {
  if (line.item_id === noGuid) return undefined
  const by = { property: 'itemId', column: 'id', value: line.item_id }
  const item = await lookups.need(tables.items, 'item', by)
  const isBase = line.unit_of_measure_id === item.base_unit_of_measure_id
  const factor = isBase ? one : await lookups.unitFactor(item.id, line.unit_of_measure_id)
  const price = ({ header, taxPercent }: Pricing): number =>
    ratio(itemPrice(item, header, taxPercent), factor ?? one, one, 1)
  return { before: price(from), after: price(to) }
}
