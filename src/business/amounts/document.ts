/**
 * The amounts of a whole document from its lines: the invoice discount spread over them, their net amounts and tax
 * per group, and the totals (facts 5.4, 5.5, 5.7). The line-by-line way of `tax-group.ts` gives the same totals.
 */

import { allocate } from './allocate.ts'
import { type Decimal, hundred, roundTo, zero } from './decimals.ts'
import { type Terms, taxFactor } from './line.ts'
import { emptyGroup, plus, type Share, type TaxGroup } from './tax-group.ts'

/** A line as far as the document's amounts depend on it. */
export interface DocumentLine {
  readonly lineAmount: Decimal
  readonly taxPercent: Decimal
  /** Lines with the same text are taxed as one sum. */
  readonly taxKey: string
  readonly allowsInvoiceDiscount: boolean
}

export interface DocumentAmounts {
  /** In the order of the lines. */
  readonly shares: readonly Share[]
  readonly groups: ReadonlyMap<string, TaxGroup>
}

export interface Totals {
  readonly discountAmount: Decimal
  readonly totalAmountExcludingTax: Decimal
  readonly totalTaxAmount: Decimal
  readonly totalAmountIncludingTax: Decimal
}

/** What a discount may be taken of: the lines that allow it. */
export function discountBase(lines: readonly DocumentLine[]): Decimal {
  return lines.reduce(
    (sum, line) => (line.allowsInvoiceDiscount ? sum.plus(line.lineAmount) : sum),
    zero,
  )
}

/** `lines` in the order of their sequences; `discount` is at most the base, which the caller has seen to. */
export function documentAmounts(
  lines: readonly DocumentLine[],
  discount: Decimal,
  terms: Terms,
): DocumentAmounts {
  const byKey = new Map<string, number[]>()
  for (const [at, line] of lines.entries()) {
    const members = byKey.get(line.taxKey)
    if (members === undefined) byKey.set(line.taxKey, [at])
    else members.push(at)
  }
  const eligible = (at: number): Decimal => {
    const line = lines[at]
    return line?.allowsInvoiceDiscount === true ? line.lineAmount : zero
  }
  const members = [...byKey.values()]
  const bases = members.map((ats) => ats.reduce((sum, at) => sum.plus(eligible(at)), zero))
  const ofGroups = allocate(discount, bases, terms.precision)
  const shares = new Array<Share>(lines.length)
  const groups = new Map<string, TaxGroup>()
  for (const [index, [key, ats]] of [...byKey].entries()) {
    const discounts = allocate(ofGroups[index] ?? zero, ats.map(eligible), terms.precision)
    const own = ats.flatMap((at) => lines[at] ?? [])
    const given = sharesOfGroup(own, discounts, terms)
    for (const [position, at] of ats.entries()) shares[at] = given[position] ?? emptyGroup
    groups.set(key, given.reduce(plus, emptyGroup))
  }
  return { shares, groups }
}

/** The tax of the group's sum, spread over its lines in proportion to what is taxed of them. */
function sharesOfGroup(
  lines: readonly DocumentLine[],
  discounts: readonly Decimal[],
  terms: Terms,
): readonly Share[] {
  const percent = lines[0]?.taxPercent ?? zero
  const left = lines.map((line, at) => line.lineAmount.minus(discounts[at] ?? zero))
  const sum = left.reduce((total, one) => total.plus(one), zero)
  const tax = terms.pricesIncludeTax
    ? sum.minus(roundTo(sum.div(taxFactor(percent)), terms.precision))
    : roundTo(sum.times(percent).div(hundred), terms.precision)
  const taxes = allocate(tax, left, terms.precision)
  return lines.map(({ lineAmount }, at) => {
    const own = left[at] ?? zero
    const ownTax = taxes[at] ?? zero
    return {
      lineAmount,
      invoiceDiscount: discounts[at] ?? zero,
      net: terms.pricesIncludeTax ? own.minus(ownTax) : own,
      including: terms.pricesIncludeTax ? own : own.plus(ownTax),
    }
  })
}

export function totalsOf(groups: Iterable<TaxGroup>): Totals {
  let sum = emptyGroup
  for (const group of groups) sum = plus(sum, group)
  return {
    discountAmount: sum.invoiceDiscount,
    totalAmountExcludingTax: sum.net,
    totalTaxAmount: sum.including.minus(sum.net),
    totalAmountIncludingTax: sum.including,
  }
}

/**
 * `invoiceDiscountAllocation` of a line (facts 5.5): with prices including tax, told without the tax. A line that
 * carries no discount shows none, though its net amount may have taken a cent.
 */
export function allocationShown(share: Share, amountExcludingTax: Decimal, terms: Terms): Decimal {
  if (share.invoiceDiscount.isZero()) return zero
  return terms.pricesIncludeTax ? amountExcludingTax.minus(share.net) : share.invoiceDiscount
}
