/**
 * The running sums of a document's lines with one tax set-up, and the amounts a line gets against them (facts
 * 5.4): the tax of the whole group is right to the cent, and the line written last takes the cent that is over.
 *
 * A group is *complete* when its tax is the tax of its sums. Every function here that adds a line gives a complete
 * group when it was given one; taking a line away may leave a cent, which `cents` tells and another line takes.
 */

import { type Terms, withoutTax } from './line.ts'
import { hundredPercent, ratio } from './units.ts'

/** Sums over the lines of a group. `net` decides when prices exclude tax, `including` when they include it. */
export interface TaxGroup {
  readonly lineAmount: number
  readonly invoiceDiscount: number
  readonly net: number
  readonly including: number
}

/** The share of one line in its group. */
export type Share = TaxGroup

export const emptyGroup: TaxGroup = { lineAmount: 0, invoiceDiscount: 0, net: 0, including: 0 }

export function plus(group: TaxGroup, share: Share): TaxGroup {
  return {
    lineAmount: group.lineAmount + share.lineAmount,
    invoiceDiscount: group.invoiceDiscount + share.invoiceDiscount,
    net: group.net + share.net,
    including: group.including + share.including,
  }
}

export function minus(group: TaxGroup, share: Share): TaxGroup {
  return {
    lineAmount: group.lineAmount - share.lineAmount,
    invoiceDiscount: group.invoiceDiscount - share.invoiceDiscount,
    net: group.net - share.net,
    including: group.including - share.including,
  }
}

/** The net amounts of a line that joins `others`, the group without it. */
export function shareOf(
  others: TaxGroup,
  {
    lineAmount,
    invoiceDiscount,
    taxPercent,
  }: { readonly lineAmount: number; readonly invoiceDiscount: number; readonly taxPercent: number },
  terms: Terms,
): Share {
  const left = lineAmount - invoiceDiscount
  // Nothing is left to tax: a surplus cent belongs to another line.
  if (left === 0) return { lineAmount, invoiceDiscount, net: 0, including: 0 }
  const whole = terms.pricesIncludeTax
    ? completeAmounts({ net: 0, including: others.including + left }, taxPercent, terms)
    : completeAmounts({ net: others.net + left, including: 0 }, taxPercent, terms)
  return {
    lineAmount,
    invoiceDiscount,
    net: whole.net - others.net,
    including: whole.including - others.including,
  }
}

/** Computes the dependent side from the deciding one. */
export function completeAmounts(
  { net, including }: Pick<TaxGroup, 'net' | 'including'>,
  taxPercent: number,
  { pricesIncludeTax, precision }: Terms,
): Pick<TaxGroup, 'net' | 'including'> {
  if (pricesIncludeTax) return { net: withoutTax(including, taxPercent, precision), including }
  return { net, including: net + ratio(net, taxPercent, hundredPercent, precision) }
}

/** The difference to a complete group, which one of its lines gets. */
export function cents(
  group: TaxGroup,
  taxPercent: number,
  terms: Terms,
): Pick<Share, 'net' | 'including'> {
  const wanted = completeAmounts(group, taxPercent, terms)
  return { net: wanted.net - group.net, including: wanted.including - group.including }
}
