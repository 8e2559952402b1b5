/**
 * The figures of a line being written: unit, quantity, price, tax code and discount of a body, and the amounts that
 * come of them (facts 5.2, 5.3 and 6). Independent of the order of the properties in a body.
 */

import type { SqlRow } from '#stores/store.ts'
import { Decimal, fits, fromStored, hundred, roundFive, toStored } from '../amounts/decimals.ts'
import {
  convertPrice,
  discountAmountOf,
  discountPercentOf,
  grossOf,
  lineAmountsOf,
  type Terms,
  taxFactor,
} from '../amounts/line.ts'
import { noGuid } from '../entity.ts'
import { badValue, refuse } from '../errors.ts'
import type { DocumentFacts, LineDraft } from './line-object.ts'
import { type Lookups, reference } from './lookups.ts'
import { flagOf, numberOf, textOf } from './rows.ts'
import type { GivenFields, Parts } from './values.ts'

export async function applyFigures(
  draft: LineDraft,
  given: GivenFields,
  document: DocumentFacts,
  terms: Terms,
  lookups: Lookups,
): Promise<void> {
  if (draft['line_type'] === 'Comment') refuseFigures(given)
  await applyUnit(draft, given, document, lookups)
  if (given.has('quantity')) draft['quantity'] = numberGiven(given, 'quantity')
  await applyTax(draft, given, document, lookups)
  if (given.has('unitPrice')) draft['unit_price'] = numberGiven(given, 'unitPrice')
  applyDiscount(draft, given, terms)
  applyAmounts(draft, terms)
}

const figures = ['quantity', 'unitPrice', 'discountAmount', 'discountPercent'] as const

function refuseFigures(given: GivenFields): void {
  for (const name of figures) {
    if (given.has(name) && numberGiven(given, name) !== 0) {
      throw badValue(name, "a comment has no figures; set 'lineType' to Item or Account.")
    }
  }
  for (const name of ['taxCode', 'unitOfMeasureCode']) {
    const value = given.get(name)?.value
    if (value !== undefined && value !== '') {
      throw badValue(name, "a comment has none; set 'lineType' to Item or Account.")
    }
  }
  for (const name of ['unitOfMeasureId', 'itemVariantId', 'locationId']) {
    if (reference(name, 'id', given.get(name)?.value) !== undefined) {
      throw badValue(name, "a comment has none; set 'lineType' to Item or Account.")
    }
  }
}

function numberGiven(given: GivenFields, name: string): number {
  return Number(given.get(name)?.value ?? 0)
}

/** The cell of a draft that holds a decimal. */
function figure(draft: LineDraft, column: string): Decimal {
  return fromStored(Number(draft[column] ?? 0))
}

async function applyUnit(
  draft: LineDraft,
  given: GivenFields,
  document: DocumentFacts,
  lookups: Lookups,
): Promise<void> {
  const details = given.get('unitOfMeasure')?.value
  const part = details instanceof Map ? (details as Parts).get('code') : undefined
  const unit = await lookups.agree('business_units_of_measure', 'unit of measure', [
    reference('unitOfMeasureId', 'id', given.get('unitOfMeasureId')?.value),
    upper(reference('unitOfMeasureCode', 'code', given.get('unitOfMeasureCode')?.value)),
    upper(reference('unitOfMeasure/code', 'code', part)),
  ])
  if (unit === undefined || unit['id'] === draft['unit_of_measure_id']) return
  const unitId = textOf(unit, 'id')
  const code = textOf(unit, 'code')
  const itemId = String(draft['item_id'])
  if (itemId !== noGuid) {
    const item = await lookups.need('business_items', 'item', {
      property: 'itemId',
      column: 'id',
      value: itemId,
    })
    const factor =
      item['base_unit_of_measure_id'] === unitId
        ? new Decimal(1)
        : await lookups.unitFactor(itemId, unitId)
    if (factor === undefined) {
      throw refuse.Internal_InvalidTableRelation(
        {
          property: 'unitOfMeasureId',
          reason: `the item ${textOf(item, 'number')} is not sold in ${code}; add it to its 'itemUnitsOfMeasure'.`,
        },
        { target: 'unitOfMeasureId' },
      )
    }
    draft['unit_price'] = toStored(
      checked(
        'unitPrice',
        roundFive((await basePrice(draft, item, document, lookups)).times(factor)),
      ),
    )
  }
  draft['unit_of_measure_id'] = unitId
  draft['unit_of_measure_code'] = code
}

function upper<T extends { readonly value: string }>(one: T | undefined): T | undefined {
  return one === undefined ? undefined : { ...one, value: one.value.toUpperCase() }
}

async function basePrice(
  draft: LineDraft,
  item: SqlRow,
  document: DocumentFacts,
  lookups: Lookups,
): Promise<Decimal> {
  const percent = await rateOf(String(draft['tax_code']), document, lookups)
  const price = fromStored(numberOf(item, 'unit_price'))
  const includes = flagOf(item, 'price_includes_tax')
  return convertPrice(price, includes, document.pricesIncludeTax, percent)
}

function rateOf(code: string, document: DocumentFacts, lookups: Lookups): Promise<Decimal> {
  return lookups.taxPercent(document.taxLiable ? document.taxAreaId : noGuid, code)
}

/** A written code is cut to 20 (facts 3); codes are upper case. */
const taxCodeLength = 20

async function applyTax(
  draft: LineDraft,
  given: GivenFields,
  document: DocumentFacts,
  lookups: Lookups,
): Promise<void> {
  if (draft['line_type'] === 'Comment') return
  const before = figure(draft, 'tax_percent')
  const told = given.get('taxCode')?.value
  if (typeof told === 'string' && told !== '') {
    const code = told.slice(0, taxCodeLength).toUpperCase()
    const isChanged = draft['tax_code'] !== code
    const old = await rateOf(String(draft['tax_code']), document, lookups)
    draft['tax_code'] = code
    const percent = await rateOf(code, document, lookups)
    draft['tax_percent'] = toStored(percent)
    // With prices that include the tax the price without it stays (facts 5.4).
    if (isChanged && document.pricesIncludeTax && draft['item_id'] !== noGuid) {
      const price = figure(draft, 'unit_price').times(taxFactor(percent)).div(taxFactor(old))
      draft['unit_price'] = toStored(checked('unitPrice', roundFive(price)))
    }
    return
  }
  const percent = await rateOf(String(draft['tax_code']), document, lookups)
  if (!percent.eq(before)) draft['tax_percent'] = toStored(percent)
}

/**
 * The percent survives: without a word about the discount the amount is made anew from it. Of both, the one that
 * says something new counts; where both do, the percent, unless it is nothing but a zero beside an amount.
 */
function applyDiscount(draft: LineDraft, given: GivenFields, terms: Terms): void {
  const gross = checked(
    'quantity',
    grossOf({ quantity: figure(draft, 'quantity'), unitPrice: figure(draft, 'unit_price') }, terms),
  )
  const hasAmount =
    given.has('discountAmount') && numberGiven(given, 'discountAmount') !== draft['discount_amount']
  const hasPercent =
    given.has('discountPercent') &&
    numberGiven(given, 'discountPercent') !== draft['discount_percent']
  const isBareZero = hasPercent && numberGiven(given, 'discountPercent') === 0 && hasAmount
  if (hasAmount && (!hasPercent || isBareZero)) {
    const amount = fromStored(numberGiven(given, 'discountAmount'))
    const rounded = amount.div(terms.precision).toDecimalPlaces(0).times(terms.precision)
    if (!rounded.isZero() && figure(draft, 'quantity').isZero()) {
      throw badValue('discountAmount', "needs a 'quantity' other than 0.")
    }
    const percent = discountPercentOf(gross, rounded)
    if (percent.isNegative() || percent.gt(hundred) || (gross.isZero() && !rounded.isZero())) {
      throw badValue(
        'discountAmount',
        `comes to ${percent} % of ${gross}; between 0 and 100 % is allowed.`,
      )
    }
    draft['discount_amount'] = toStored(rounded)
    draft['discount_percent'] = toStored(percent)
    return
  }
  if (hasPercent) draft['discount_percent'] = numberGiven(given, 'discountPercent')
  const percent = figure(draft, 'discount_percent')
  if (percent.isNegative() || percent.gt(hundred)) {
    throw badValue('discountPercent', `between 0 and 100 is allowed, not ${percent}.`)
  }
  // An amount given by itself has a percent that may not lead back to it; untouched figures keep it.
  const isUntouched =
    !hasPercent && draft['gross'] !== undefined && fromStored(Number(draft['gross'])).eq(gross)
  if (!isUntouched) draft['discount_amount'] = toStored(discountAmountOf(gross, percent, terms))
}

/** Fills the calculated columns that depend on the line alone. */
export function applyAmounts(draft: LineDraft, terms: Terms): void {
  const amounts = lineAmountsOf(
    {
      quantity: figure(draft, 'quantity'),
      unitPrice: figure(draft, 'unit_price'),
      discountPercent: figure(draft, 'discount_percent'),
      discountAmount: figure(draft, 'discount_amount'),
      taxPercent: figure(draft, 'tax_percent'),
    },
    terms,
  )
  checked('quantity', amounts.amountIncludingTax)
  draft['line_amount'] = toStored(amounts.lineAmount)
  draft['amount_excluding_tax'] = toStored(amounts.amountExcludingTax)
  draft['total_tax_amount'] = toStored(amounts.totalTaxAmount)
  draft['amount_including_tax'] = toStored(amounts.amountIncludingTax)
}

function checked(property: string, amount: Decimal): Decimal {
  if (fits(amount)) return amount
  throw badValue(property, 'the amounts that come of it have more than ten digits.')
}
