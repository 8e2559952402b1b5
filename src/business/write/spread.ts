/**
 * The tax groups of a document while it is written: their sums, their part of an invoice discount, and their rows.
 * Knows no line.
 */

import { deleteRows, insertRow, updateRows } from '#query/rows.ts'
import type { SqlTx } from '#stores/store.ts'
import { shown } from '../amounts/decimals.ts'
import type { Terms } from '../amounts/line.ts'
import { emptyGroup, settled, type TaxGroup } from '../amounts/tax-group.ts'
import { decimalUnit } from '../entity.ts'
import { badValue, ruleBroken } from '../errors.ts'
import { type DocumentTaxGroupRow, documentTaxGroups } from '../tables.ts'

export interface Group {
  readonly percent: number
  /** Its row exists. */
  isStored: boolean
  /** Its lines' shares of an invoice discount are read out of running sums, not written. */
  readonly isSpread: boolean
  count: number
  sums: TaxGroup
  /** Of its lines, what an invoice discount is taken of. Known only where there is one. */
  eligible: number
  /** The sizes of its lines, see `sizeOf`. Known only where there is an invoice discount. */
  extent: number
}

export function newGroup(percent: number): Group {
  return {
    percent,
    isStored: false,
    isSpread: true,
    count: 0,
    sums: emptyGroup,
    eligible: 0,
    extent: 0,
  }
}

export function groupOfRow(row: DocumentTaxGroupRow): Group {
  return {
    percent: row.tax_percent,
    isStored: true,
    isSpread: row.spread > 0,
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
 * The size of a line, whatever its sign, in whole units of the currency. Their sum over a document bounds every sum
 * of some of its lines, which would otherwise not be bounded by the totals, so that all of them are exact.
 */
export function sizeOf(lineAmount: number): number {
  return Math.trunc(Math.abs(lineAmount) / decimalUnit)
}

/** With as much again as 100,000 lines may have behind the point, below 2^53 in the form of columns. */
export const sizesMax = 80_000_000_000

/** The sums of a group that got this part of the discount. */
export function spreadOver(group: Group, invoiceDiscount: number, terms: Terms): TaxGroup {
  const { lineAmount } = group.sums
  const left = lineAmount - invoiceDiscount
  const leading = { net: left, including: left }
  return { lineAmount, invoiceDiscount, ...settled(leading, group.percent, terms) }
}

/** A discount that was asked for and cannot be is refused; one whose lines went away shrinks with them. */
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

/** Which row, and the terms that the view of its lines needs. */
interface GroupPlace {
  readonly documentId: string
  readonly key: string
  readonly terms: Terms
}

/** Writes the row, or removes that of a group without lines. `spread`: 0 where there is no invoice discount. */
export async function writeGroup(
  tx: SqlTx,
  { documentId, key, terms }: GroupPlace,
  group: Group,
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
  if (group.isStored) await updateRows(tx, documentTaxGroups, place, cells)
  else await insertRow(tx, documentTaxGroups, { ...place, ...cells, tax_percent: group.percent })
}
