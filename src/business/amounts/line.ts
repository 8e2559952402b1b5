/**
 * The amounts of one line on its own: gross, line discount, and the tax fields before the invoice discount
 * (business facts 5.2 and 5.3). Knows no other line. All figures are as columns hold them.
 */

import { hundredPercent, one, ratio } from './units.ts'

/** What decides how a document's amounts are rounded and whether its prices hold the tax. */
export interface Terms {
  /** The smallest amount of the currency. */
  readonly precision: number
  readonly pricesIncludeTax: boolean
}

export interface LineFigures {
  readonly quantity: number
  readonly unitPrice: number
  readonly discountAmount: number
  readonly taxPercent: number
}

interface LineAmounts {
  /** Gross less the line discount; what the invoice discount is taken of. */
  readonly lineAmount: number
  readonly amountExcludingTax: number
  readonly totalTaxAmount: number
  readonly amountIncludingTax: number
}

export function grossOf(quantity: number, unitPrice: number, { precision }: Terms): number {
  return ratio(quantity, unitPrice, one, precision)
}

/** The percent is what survives: a change of quantity or price makes the amount anew from it. */
export function discountAmountOf(gross: number, percent: number, { precision }: Terms): number {
  return ratio(gross, percent, hundredPercent, precision)
}

/** The percent an amount comes to; not always the way back, since it has five places. */
export function discountPercentOf(gross: number, amount: number): number {
  return gross === 0 ? 0 : ratio(amount, hundredPercent, gross, 1)
}

/** What of it is not tax, of an amount that holds the tax. */
export function withoutTax(amount: number, percent: number, unit: number): number {
  return ratio(amount, hundredPercent, hundredPercent + percent, unit)
}

function withTax(amount: number, percent: number, unit: number): number {
  return ratio(amount, hundredPercent + percent, hundredPercent, unit)
}

export function lineAmountsOf(figures: LineFigures, terms: Terms): LineAmounts {
  const { quantity, unitPrice, discountAmount, taxPercent } = figures
  const lineAmount = grossOf(quantity, unitPrice, terms) - discountAmount
  const { precision, pricesIncludeTax } = terms
  const excluding = pricesIncludeTax ? withoutTax(lineAmount, taxPercent, precision) : lineAmount
  const including = pricesIncludeTax ? lineAmount : withTax(lineAmount, taxPercent, precision)
  return {
    lineAmount,
    amountExcludingTax: excluding,
    totalTaxAmount: including - excluding,
    amountIncludingTax: including,
  }
}

/** A price with the tax of one kind of document, as the price of the other kind (business facts 14, `priceIncludesTax`). */
export function convertPrice(price: number, from: boolean, to: boolean, percent: number): number {
  if (from === to) return price
  return to ? withTax(price, percent, 1) : withoutTax(price, percent, 1)
}
