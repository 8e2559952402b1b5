/**
 * Computes the amounts of one line by itself: gross, line discount, and the tax fields before the invoice discount
 * (business facts 5.2 and 5.3). All figures are in the stored form.
 */

import { hundredPercent, one, ratio } from './units.ts'

/** What decides how a document's amounts are rounded and whether its prices include tax. */
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
  /** Gross less the line discount; the invoice discount applies to it. */
  readonly lineAmount: number
  readonly amountExcludingTax: number
  readonly totalTaxAmount: number
  readonly amountIncludingTax: number
}

export function grossOf(quantity: number, unitPrice: number, { precision }: Terms): number {
  return ratio(quantity, unitPrice, one, precision)
}

/** The percent is kept: after a change of quantity or price the amount is computed from it again. */
export function discountAmountOf(gross: number, percent: number, { precision }: Terms): number {
  return ratio(gross, percent, hundredPercent, precision)
}

/** The percent of an amount. Its five places do not always lead back to the same amount. */
export function discountPercentOf(gross: number, amount: number): number {
  return gross === 0 ? 0 : ratio(amount, hundredPercent, gross, 1)
}

/** The part of an amount including tax that is not tax. */
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

/** Converts a price with tax of one kind of document to the other kind (business facts 14, `priceIncludesTax`). */
export function convertPrice(price: number, from: boolean, to: boolean, percent: number): number {
  if (from === to) return price
  return to ? withTax(price, percent, 1) : withoutTax(price, percent, 1)
}
