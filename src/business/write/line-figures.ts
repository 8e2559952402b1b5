/**
 * The figures of a line being written: unit, quantity, price, tax code and discount of a body, and the amounts that
 * come of them (business facts 5.2, 5.3 and 6). Independent of the order of the properties in a body.
 */

import type { SqlRow } from '#stores/store.ts'
import { shown } from '../amounts/decimals.ts'
import {
  convertPrice,
  discountAmountOf,
  discountPercentOf,
  grossOf,
  lineAmountsOf,
  type Terms,
} from '../amounts/line.ts'
import { hundredPercent, one, ratio, roundTo } from '../amounts/units.ts'
import { noGuid } from '../entity.ts'
import { badValue, refuse } from '../errors.ts'
import type { DocumentFacts, LineDraft } from './line-object.ts'
import { type Found, type Lookups, reference, withFound } from './lookups.ts'
import { flagOf, numberOf, textOf } from './rows.ts'
import { type GivenFields, inRange, type Parts } from './values.ts'

/** What figures depend on besides the line itself. */
interface FigureGround {
  readonly document: DocumentFacts
  readonly terms: Terms
  /** What quantity and price came to before; undefined for a line that is new, or about something else now. */
  readonly grossBefore: number | undefined
}

export function applyFigures(
  draft: LineDraft,
  given: GivenFields,
  { document, terms, grossBefore }: FigureGround,
  lookups: Lookups,
): Found<void> {
  if (draft['line_type'] === 'Comment') refuseFigures(given)
  const hasUnit = unitNames.some((name) => given.has(name))
  const measured = hasUnit ? applyUnit(draft, given, document, lookups) : undefined
  return withFound(measured, () => {
    if (given.has('quantity')) draft['quantity'] = numberGiven(given, 'quantity')
    return withFound(applyTax(draft, given, document, lookups), () => {
      if (given.has('unitPrice')) draft['unit_price'] = numberGiven(given, 'unitPrice')
      applyDiscount(draft, given, terms, grossBefore)
      applyAmounts(draft, terms)
    })
  })
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
function figure(draft: LineDraft, column: string): number {
  return Number(draft[column] ?? 0)
}

const unitNames = ['unitOfMeasureId', 'unitOfMeasureCode', 'unitOfMeasure'] as const

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
      item['base_unit_of_measure_id'] === unitId ? one : await lookups.unitFactor(itemId, unitId)
    if (factor === undefined) {
      throw refuse.Internal_InvalidTableRelation(
        {
          property: 'unitOfMeasureId',
          reason: `the item ${textOf(item, 'number')} is not sold in ${code}; add it to its 'itemUnitsOfMeasure'.`,
        },
        { target: 'unitOfMeasureId' },
      )
    }
    const price = await basePrice(draft, item, document, lookups)
    draft['unit_price'] = inRange('unitPrice', ratio(price, factor, one, 1))
  }
  draft['unit_of_measure_id'] = unitId
  draft['unit_of_measure_code'] = code
}

function upper<T extends { readonly value: string }>(by: T | undefined): T | undefined {
  return by === undefined ? undefined : { ...by, value: by.value.toUpperCase() }
}

async function basePrice(
  draft: LineDraft,
  item: SqlRow,
  document: DocumentFacts,
  lookups: Lookups,
): Promise<number> {
  const percent = await rateOf(String(draft['tax_code']), document, lookups)
  const price = numberOf(item, 'unit_price')
  const includes = flagOf(item, 'price_includes_tax')
  return convertPrice(price, includes, document.pricesIncludeTax, percent)
}

function rateOf(code: string, document: DocumentFacts, lookups: Lookups): Found<number> {
  return lookups.taxPercent(document.taxLiable ? document.taxAreaId : noGuid, code)
}

/** A written code is cut to 20 (business facts 3); codes are upper case. */
const taxCodeLength = 20

function applyTax(
  draft: LineDraft,
  given: GivenFields,
  document: DocumentFacts,
  lookups: Lookups,
): Found<void> {
  if (draft['line_type'] === 'Comment') return
  const told = given.get('taxCode')?.value
  if (typeof told === 'string' && told !== '') return applyCode(draft, told, document, lookups)
  return withFound(rateOf(String(draft['tax_code']), document, lookups), (percent) => {
    draft['tax_percent'] = percent
  })
}

async function applyCode(
  draft: LineDraft,
  told: string,
  document: DocumentFacts,
  lookups: Lookups,
): Promise<void> {
  const code = told.slice(0, taxCodeLength).toUpperCase()
  const isChanged = draft['tax_code'] !== code
  const old = await rateOf(String(draft['tax_code']), document, lookups)
  draft['tax_code'] = code
  const percent = await rateOf(code, document, lookups)
  draft['tax_percent'] = percent
  // With prices that include the tax the price without it stays (business facts 5.4).
  if (isChanged && document.pricesIncludeTax && draft['item_id'] !== noGuid) {
    const price = figure(draft, 'unit_price')
    const [before, after] = [hundredPercent + old, hundredPercent + percent]
    draft['unit_price'] = inRange('unitPrice', ratio(price, after, before, 1))
  }
}

/**
 * The percent survives: without a word about the discount the amount is made anew from it. Of both, the one that
 * says something new counts; where both do, the percent, unless it is nothing but a zero beside an amount.
 */
function applyDiscount(
  draft: LineDraft,
  given: GivenFields,
  terms: Terms,
  grossBefore: number | undefined,
): void {
  const quantity = figure(draft, 'quantity')
  const gross = inRange('quantity', grossOf(quantity, figure(draft, 'unit_price'), terms))
  const hasAmount =
    given.has('discountAmount') && numberGiven(given, 'discountAmount') !== draft['discount_amount']
  const hasPercent =
    given.has('discountPercent') &&
    numberGiven(given, 'discountPercent') !== draft['discount_percent']
  const isBareZero = hasPercent && numberGiven(given, 'discountPercent') === 0 && hasAmount
  if (hasAmount && (!hasPercent || isBareZero)) {
    const amount = roundTo(numberGiven(given, 'discountAmount'), terms.precision)
    if (amount !== 0 && quantity === 0) {
      throw badValue('discountAmount', "needs a 'quantity' other than 0.")
    }
    const percent = discountPercentOf(gross, amount)
    if (percent < 0 || percent > hundredPercent || (gross === 0 && amount !== 0)) {
      throw badValue(
        'discountAmount',
        `comes to ${shown(percent)} % of ${shown(gross)}; between 0 and 100 % is allowed.`,
      )
    }
    draft['discount_amount'] = amount
    draft['discount_percent'] = percent
    return
  }
  if (hasPercent) draft['discount_percent'] = numberGiven(given, 'discountPercent')
  const percent = figure(draft, 'discount_percent')
  if (percent < 0 || percent > hundredPercent) {
    throw badValue('discountPercent', `between 0 and 100 is allowed, not ${shown(percent)}.`)
  }
  // An amount given by itself has a percent that may not lead back to it; untouched figures keep it.
  const isUntouched = !hasPercent && grossBefore === gross
  if (!isUntouched) draft['discount_amount'] = discountAmountOf(gross, percent, terms)
}

/** Fills the calculated columns that depend on the line alone. */
export function applyAmounts(draft: LineDraft, terms: Terms): void {
  const amounts = lineAmountsOf(
    {
      quantity: figure(draft, 'quantity'),
      unitPrice: figure(draft, 'unit_price'),
      discountAmount: figure(draft, 'discount_amount'),
      taxPercent: figure(draft, 'tax_percent'),
    },
    terms,
  )
  draft['line_amount'] = amounts.lineAmount
  draft['amount_excluding_tax'] = amounts.amountExcludingTax
  draft['total_tax_amount'] = amounts.totalTaxAmount
  draft['amount_including_tax'] = inRange('quantity', amounts.amountIncludingTax)
}
