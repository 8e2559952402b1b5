/**
 * Computes the amounts of a whole document from its lines: the spread invoice discount, net amounts and tax per
 * group, and the totals (business facts 5.4, 5.5, 5.7). `tax-group.ts` computes the same totals line by line.
 */

import { allocate } from './allocate.ts'
import type { Terms } from './line.ts'
import { completeAmounts, emptyGroup, plus, type Share, type TaxGroup } from './tax-group.ts'

/** The part of a line that the document's amounts depend on. */
export interface DocumentLine {
  readonly lineAmount: number
  readonly taxPercent: number
  /** Lines with the same key are taxed as one sum. */
  readonly taxKey: string
  readonly allowsInvoiceDiscount: boolean
}

interface DocumentAmounts {
  /** In the order of the lines. */
  readonly shares: readonly Share[]
  readonly groups: ReadonlyMap<string, TaxGroup>
}

interface Totals {
  readonly discountAmount: number
  readonly totalAmountExcludingTax: number
  readonly totalTaxAmount: number
  readonly totalAmountIncludingTax: number
}

/** The sum of the lines that allow an invoice discount. */
export function discountBase(lines: readonly DocumentLine[]): number {
  return lines.reduce((sum, line) => (line.allowsInvoiceDiscount ? sum + line.lineAmount : sum), 0)
}

/** `lines` are in order of their sequences; the caller ensures that `discount` is at most the base. */
export function documentAmounts(
  lines: readonly DocumentLine[],
  discount: number,
  terms: Terms,
): DocumentAmounts {
  const byKey = new Map<string, number[]>()
  for (const [at, line] of lines.entries()) {
    const members = byKey.get(line.taxKey)
    if (members === undefined) byKey.set(line.taxKey, [at])
    else members.push(at)
  }
  const eligible = (at: number): number => {
    const line = lines[at]
    return line?.allowsInvoiceDiscount === true ? line.lineAmount : 0
  }
  // Sorted by key: the order of groups must not depend on the order of lines.
  const ordered = [...byKey].sort(([left], [right]) => (left < right ? -1 : 1))
  const members = ordered.map(([, ats]) => ats)
  const bases = members.map((ats) => ats.reduce((sum, at) => sum + eligible(at), 0))
  const ofGroups = allocate(discount, bases, terms.precision)
  const shares = new Array<Share>(lines.length)
  const groups = new Map<string, TaxGroup>()
  for (const [index, [key, ats]] of ordered.entries()) {
    const discounts = allocate(ofGroups[index] ?? 0, ats.map(eligible), terms.precision)
    const own = ats.flatMap((at) => lines[at] ?? [])
    const given = sharesOfGroup(own, discounts, terms)
    for (const [position, at] of ats.entries()) shares[at] = given[position] ?? emptyGroup
    groups.set(key, given.reduce(plus, emptyGroup))
  }
  return { shares, groups }
}

/** Spreads the tax of the group's sum over its lines, in proportion to their taxed amounts. */
function sharesOfGroup(
  lines: readonly DocumentLine[],
  discounts: readonly number[],
  terms: Terms,
): readonly Share[] {
  const percent = lines[0]?.taxPercent ?? 0
  const left = lines.map((line, at) => line.lineAmount - (discounts[at] ?? 0))
  const sum = left.reduce((total, one) => total + one, 0)
  const whole = completeAmounts({ net: sum, including: sum }, percent, terms)
  const taxes = allocate(whole.including - whole.net, left, terms.precision)
  return lines.map(({ lineAmount }, at) => {
    const own = left[at] ?? 0
    const tax = taxes[at] ?? 0
    return {
      lineAmount,
      invoiceDiscount: discounts[at] ?? 0,
      net: terms.pricesIncludeTax ? own - tax : own,
      including: terms.pricesIncludeTax ? own : own + tax,
    }
  })
}

export function totalsOf(groups: Iterable<TaxGroup>): Totals {
  let sum = emptyGroup
  for (const group of groups) sum = plus(sum, group)
  return {
    discountAmount: sum.invoiceDiscount,
    totalAmountExcludingTax: sum.net,
    totalTaxAmount: sum.including - sum.net,
    totalAmountIncludingTax: sum.including,
  }
}

/**
 * `invoiceDiscountAllocation` of a line (business facts 5.5): with prices including tax, told without the tax. A line that
 * carries no discount shows none, though its net amount may have taken a cent.
 */
export function allocationShown(share: Share, amountExcludingTax: number, terms: Terms): number {
  if (share.invoiceDiscount === 0) return 0
  return terms.pricesIncludeTax ? amountExcludingTax - share.net : share.invoiceDiscount
}
