/**
 * The running sums of a document's lines with one tax set-up, and the amounts a line gets against them (facts
 * 5.4): the tax of the whole group is right to the cent, and the line written last takes the cent that is over.
 *
 * A group is *settled* when its tax is the tax of its sums. Every function here that adds a line gives a settled
 * group when it was given one; taking a line away may leave a cent, which `cents` tells and another line takes.
 */

import { type Decimal, hundred, roundTo, zero } from './decimals.ts'
import { type Terms, taxFactor } from './line.ts'

/** Sums over the lines of a group. With prices that exclude tax, `net` leads; with such that include it, `including`. */
export interface TaxGroup {
  readonly lineAmount: Decimal
  readonly invoiceDiscount: Decimal
  readonly net: Decimal
  readonly including: Decimal
}

/** What one line adds to its group. */
export type Share = TaxGroup

export const emptyGroup: TaxGroup = {
  lineAmount: zero,
  invoiceDiscount: zero,
  net: zero,
  including: zero,
}

export function plus(group: TaxGroup, share: Share): TaxGroup {
  return {
    lineAmount: group.lineAmount.plus(share.lineAmount),
    invoiceDiscount: group.invoiceDiscount.plus(share.invoiceDiscount),
    net: group.net.plus(share.net),
    including: group.including.plus(share.including),
  }
}

export function minus(group: TaxGroup, share: Share): TaxGroup {
  return {
    lineAmount: group.lineAmount.minus(share.lineAmount),
    invoiceDiscount: group.invoiceDiscount.minus(share.invoiceDiscount),
    net: group.net.minus(share.net),
    including: group.including.minus(share.including),
  }
}

/** The net amounts of a line that joins `others`, the group without it. */
export function shareOf(
  others: TaxGroup,
  lineAmount: Decimal,
  invoiceDiscount: Decimal,
  taxPercent: Decimal,
  terms: Terms,
): Share {
  const left = lineAmount.minus(invoiceDiscount)
  // Nothing left to tax: a cent that is over belongs to another line.
  if (left.isZero()) return { lineAmount, invoiceDiscount, net: zero, including: zero }
  const whole = terms.pricesIncludeTax
    ? settled({ net: zero, including: others.including.plus(left) }, taxPercent, terms)
    : settled({ net: others.net.plus(left), including: zero }, taxPercent, terms)
  return {
    lineAmount,
    invoiceDiscount,
    net: whole.net.minus(others.net),
    including: whole.including.minus(others.including),
  }
}

/** The side that follows from the one that leads. */
function settled(
  sums: Pick<TaxGroup, 'net' | 'including'>,
  taxPercent: Decimal,
  terms: Terms,
): Pick<TaxGroup, 'net' | 'including'> {
  if (terms.pricesIncludeTax) {
    const net = roundTo(sums.including.div(taxFactor(taxPercent)), terms.precision)
    return { net, including: sums.including }
  }
  const tax = roundTo(sums.net.times(taxPercent).div(hundred), terms.precision)
  return { net: sums.net, including: sums.net.plus(tax) }
}

/** What is missing to a settled group: to be added to the amounts of one of its lines. */
export function cents(
  group: TaxGroup,
  taxPercent: Decimal,
  terms: Terms,
): Pick<Share, 'net' | 'including'> {
  const wanted = settled(group, taxPercent, terms)
  return {
    net: wanted.net.minus(group.net),
    including: wanted.including.minus(group.including),
  }
}
