/**
 * The tax groups of a document while it is written: their sums, their part of an invoice discount, and their rows.
 */

import { deleteRows, insertRow, sendUpdate } from '#query/rows.ts'
import type { SqlTx } from '#stores/store.ts'
import { shown } from '../amounts/decimals.ts'
import type { Terms } from '../amounts/line.ts'
import { completeAmounts, emptyGroup, type TaxGroup } from '../amounts/tax-group.ts'
import { decimalUnit } from '../entity.ts'
import { badValue, ruleBroken } from '../errors.ts'
import { type DocumentTaxGroupRow, documentTaxGroups } from '../tables.ts'

export interface GroupSums {
  readonly percent: number
  /** Its row exists. */
  isStored: boolean
  /** Its lines' shares of an invoice discount are computed from running sums, not stored. */
  readonly isComputed: boolean
  count: number
  sums: TaxGroup
  /** The base of the invoice discount in its lines. Known only when there is one. */
  eligible: number
  /** The sizes of its lines, see `sizeOf`. Known only when there is an invoice discount. */
  extent: number
}

export function newGroup(percent: number): GroupSums {
  return {
    percent,
    isStored: false,
    isComputed: true,
    count: 0,
    sums: emptyGroup,
    eligible: 0,
    extent: 0,
  }
}

export function groupOfRow(row: DocumentTaxGroupRow): GroupSums {
  return {
    percent: row.tax_percent,
    isStored: true,
    isComputed: row.spread > 0,
    count: row.line_count,
    sums: {
      lineAmount: row.line_amount,
      invoiceDiscount: row.invoice_discount,
      net: row.net,
      including: row.including,
    },
    eligible: row.eligible,
    extent: row.extent,
  }
}

/**
 * The size of a line without its sign, in whole units of the currency. The sum of sizes over a document bounds
 * every partial sum of its lines, which the totals would not, so that all sums are exact.
 */
export function sizeOf(lineAmount: number): number {
  return Math.trunc(Math.abs(lineAmount) / decimalUnit)
}

/** Below 2^53 in the stored form, including the fractions of 100,000 lines. */
export const sizesMax = 80_000_000_000

/** The sums of a group with this part of the discount. */
export function discountedSums(group: GroupSums, invoiceDiscount: number, terms: Terms): TaxGroup {
  const { lineAmount } = group.sums
  const left = lineAmount - invoiceDiscount
  const leading = { net: left, including: left }
  return { lineAmount, invoiceDiscount, ...completeAmounts(leading, group.percent, terms) }
}

/** A requested discount that is too large is refused; one whose lines were removed shrinks. */
export function limited(discount: number, base: number, isAsked: boolean): number {
  const [low, high] = base < 0 ? [base, 0] : [0, base]
  if (discount >= low && discount <= high) return discount
  if (isAsked) {
    throw base === 0
      ? ruleBroken(
          'The document has no line that an invoice discount may be taken of.',
          'discountAmount',
        )
      : badValue(
          'discountAmount',
          `between ${shown(low)} and ${shown(high)}, the sum of the lines that allow it.`,
        )
  }
  return discount < low ? low : high
}

/** The key of the row, and the terms that the view of its lines needs. */
interface GroupPlace {
  readonly documentId: string
  readonly key: string
  readonly terms: Terms
}

/** Writes the row, or removes that of a group without lines. `spread`: 0 without an invoice discount. */
export async function writeGroup(
  tx: SqlTx,
  { documentId, key, terms }: GroupPlace,
  group: GroupSums,
  spread: number,
): Promise<void> {
  const place = { document_id: documentId, tax_key: key }
  if (group.count === 0) {
    if (group.isStored) await deleteRows(tx, documentTaxGroups, place)
    return
  }
  const { lineAmount, invoiceDiscount, net, including } = group.sums
  const cells = {
    line_count: group.count,
    line_amount: lineAmount,
    invoice_discount: invoiceDiscount,
    net,
    including,
    eligible: group.eligible,
    extent: group.extent,
    spread,
    amount_precision: terms.precision,
    prices_include_tax: terms.pricesIncludeTax ? 1 : 0,
  }
  if (group.isStored) await sendUpdate(tx, documentTaxGroups, place, cells)
  else await insertRow(tx, documentTaxGroups, { ...place, ...cells, tax_percent: group.percent })
}
