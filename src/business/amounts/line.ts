/**
 * The amounts of one line on its own: gross, line discount, and the tax fields before the invoice discount
 * (facts 5.2 and 5.3). Knows no other line.
 */

import { Decimal, hundred, roundFive, roundTo, zero } from './decimals.ts'

/** What decides how a document's amounts are rounded and whether its prices hold the tax. */
export interface Terms {
  /** The smallest amount of the currency. */
  readonly precision: Decimal
  readonly pricesIncludeTax: boolean
}

export interface LineFigures {
  readonly quantity: Decimal
  readonly unitPrice: Decimal
  readonly discountPercent: Decimal
  readonly discountAmount: Decimal
  readonly taxPercent: Decimal
}

export interface LineAmounts {
  /** Gross less the line discount; what the invoice discount is taken of. */
  readonly lineAmount: Decimal
  readonly amountExcludingTax: Decimal
  readonly totalTaxAmount: Decimal
  readonly amountIncludingTax: Decimal
}

export function grossOf(
  figures: Pick<LineFigures, 'quantity' | 'unitPrice'>,
  terms: Terms,
): Decimal {
  return roundTo(figures.quantity.times(figures.unitPrice), terms.precision)
}

/** The percent is what survives: a change of quantity or price makes the amount anew from it. */
export function discountAmountOf(gross: Decimal, percent: Decimal, terms: Terms): Decimal {
  return roundTo(gross.times(percent).div(hundred), terms.precision)
}

/** The percent an amount comes to; not always the way back, since it has five places. */
export function discountPercentOf(gross: Decimal, amount: Decimal): Decimal {
  return gross.isZero() ? zero : roundFive(amount.div(gross).times(hundred))
}

export function lineAmountsOf(figures: LineFigures, terms: Terms): LineAmounts {
  const lineAmount = grossOf(figures, terms).minus(figures.discountAmount)
  const factor = taxFactor(figures.taxPercent)
  const { precision } = terms
  const [excluding, including] = terms.pricesIncludeTax
    ? [roundTo(lineAmount.div(factor), precision), lineAmount]
    : [lineAmount, roundTo(lineAmount.times(factor), precision)]
  return {
    lineAmount,
    amountExcludingTax: excluding,
    totalTaxAmount: including.minus(excluding),
    amountIncludingTax: including,
  }
}

export function taxFactor(percent: Decimal): Decimal {
  return percent.div(hundred).plus(1)
}

/** A price with the tax of one kind of document, as the price of the other kind (facts 14, `priceIncludesTax`). */
export function convertPrice(
  price: Decimal,
  from: boolean,
  to: boolean,
  percent: Decimal,
): Decimal {
  if (from === to) return price
  const factor = taxFactor(percent)
  return roundFive(to ? price.times(factor) : price.div(factor))
}

export const noAmounts: LineAmounts = {
  lineAmount: new Decimal(0),
  amountExcludingTax: new Decimal(0),
  totalTaxAmount: new Decimal(0),
  amountIncludingTax: new Decimal(0),
}
