/**
 * The figures of a line being written: unit, quantity, price, tax code and discount of a body, and the amounts that
 * come of them (business facts 5.2, 5.3 and 6). Independent of the order of the properties in a body.
 */

import { shown } from '../amounts/decimals.ts'
import {
  discountAmountOf,
  discountPercentOf,
  grossOf,
  lineAmountsOf,
  type Terms,
} from '../amounts/line.ts'
import { hundredPercent, one, ratio, roundTo } from '../amounts/units.ts'
import { noGuid } from '../entity.ts'
import { badValue, refuse } from '../errors.ts'
import * as tables from '../tables.ts'
import { termsOf } from './ledger.ts'
import { itemPrice, type LineContext, type LineDraft, taxAreaOf } from './line-object.ts'
import { type MaybePromise, reference, withFound } from './lookups.ts'
import { type GivenFields, inRange, type Parts } from './values.ts'

/**
 * `grossBefore`: what quantity and price came to before; undefined for a line that is new, or about something else now.
 */
export function applyFigures(
  draft: LineDraft,
  given: GivenFields,
  ground: LineContext,
  grossBefore: number | undefined,
): MaybePromise<void> {
  const terms = termsOf(ground.head)
  if (draft.line_type === 'Comment') refuseFigures(given)
  const hasUnit = unitNames.some((name) => given.has(name))
  const measured = hasUnit ? applyUnit(draft, given, ground) : undefined
  return withFound(measured, () => {
    if (given.has('quantity')) draft.quantity = numberGiven(given, 'quantity')
    const taxed = applyTax(draft, given, ground, grossBefore !== undefined)
    return withFound(taxed, () => {
      if (given.has('unitPrice')) draft.unit_price = numberGiven(given, 'unitPrice')
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

const unitNames = ['unitOfMeasureId', 'unitOfMeasureCode', 'unitOfMeasure'] as const

async function applyUnit(draft: LineDraft, given: GivenFields, ground: LineContext): Promise<void> {
  const { lookups } = ground
  const details = given.get('unitOfMeasure')?.value
  const part = details instanceof Map ? (details as Parts).get('code') : undefined
  const unit = await lookups.agree(tables.unitsOfMeasure, 'unit of measure', [
    reference('unitOfMeasureId', 'id', given.get('unitOfMeasureId')?.value),
    upper(reference('unitOfMeasureCode', 'code', given.get('unitOfMeasureCode')?.value)),
    upper(reference('unitOfMeasure/code', 'code', part)),
  ])
  if (unit === undefined || unit.id === draft.unit_of_measure_id) return
  const unitId = unit.id
  const code = unit.code
  const itemId = draft.item_id
  if (itemId !== noGuid) {
    const item = await lookups.need(tables.items, 'item', {
      property: 'itemId',
      column: 'id',
      value: itemId,
    })
    const factor =
      item.base_unit_of_measure_id === unitId ? one : await lookups.unitFactor(itemId, unitId)
    if (factor === undefined) {
      throw refuse.Internal_InvalidTableRelation(
        {
          property: 'unitOfMeasureId',
          reason: `the item ${item.number} is not sold in ${code}; add it to its 'itemUnitsOfMeasure'.`,
        },
        { target: 'unitOfMeasureId' },
      )
    }
    const price = itemPrice(item, ground.head, await rateOf(draft.tax_code, ground))
    draft.unit_price = inRange('unitPrice', ratio(price, factor, one, 1))
  }
  draft.unit_of_measure_id = unitId
  draft.unit_of_measure_code = code
}

function upper<T extends { readonly value: string }>(by: T | undefined): T | undefined {
  return by === undefined ? undefined : { ...by, value: by.value.toUpperCase() }
}

function rateOf(code: string, { head, lookups }: LineContext): MaybePromise<number> {
  return lookups.taxPercent(taxAreaOf(head), code)
}

/** A written code is cut to 20 characters (business facts 3) and stored in upper case. */
const taxCodeLength = 20

function applyTax(
  draft: LineDraft,
  given: GivenFields,
  ground: LineContext,
  isSameObject: boolean,
): MaybePromise<void> {
  if (draft.line_type === 'Comment') return
  const taxCode = given.get('taxCode')?.value
  if (typeof taxCode === 'string' && taxCode !== '') return applyCode(draft, taxCode, ground)
  // A line keeps its tax rate until its tax or its object changes.
  if (isSameObject) return
  return withFound(rateOf(draft.tax_code, ground), (percent) => {
    draft.tax_percent = percent
  })
}

async function applyCode(draft: LineDraft, taxCode: string, ground: LineContext): Promise<void> {
  const code = taxCode.slice(0, taxCodeLength).toUpperCase()
  const isChanged = draft.tax_code !== code
  if (isChanged) await ground.lookups.requireTaxGroup(code)
  const old = await rateOf(draft.tax_code, ground)
  draft.tax_code = code
  const percent = await rateOf(code, ground)
  draft.tax_percent = percent
  // When prices include tax, the price without tax stays (business facts 5.4).
  if (isChanged && ground.head.prices_include_tax !== 0 && draft.item_id !== noGuid) {
    const price = draft.unit_price
    const [before, after] = [hundredPercent + old, hundredPercent + percent]
    draft.unit_price = inRange('unitPrice', ratio(price, after, before, 1))
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
  const quantity = draft.quantity
  const gross = inRange('quantity', grossOf(quantity, draft.unit_price, terms))
  const hasAmount =
    given.has('discountAmount') && numberGiven(given, 'discountAmount') !== draft.discount_amount
  const hasPercent =
    given.has('discountPercent') && numberGiven(given, 'discountPercent') !== draft.discount_percent
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
    draft.discount_amount = amount
    draft.discount_percent = percent
    return
  }
  if (hasPercent) draft.discount_percent = numberGiven(given, 'discountPercent')
  const percent = draft.discount_percent
  if (percent < 0 || percent > hundredPercent) {
    throw badValue('discountPercent', `between 0 and 100 is allowed, not ${shown(percent)}.`)
  }
  // The percent of a given amount may not lead back to it; unchanged figures keep the amount.
  const isUntouched = !hasPercent && grossBefore === gross
  if (!isUntouched) draft.discount_amount = discountAmountOf(gross, percent, terms)
}

/** Fills the computed columns that depend only on the line. */
export function applyAmounts(draft: LineDraft, terms: Terms): void {
  const amounts = lineAmountsOf(
    {
      quantity: draft.quantity,
      unitPrice: draft.unit_price,
      discountAmount: draft.discount_amount,
      taxPercent: draft.tax_percent,
    },
    terms,
  )
  draft.line_amount = amounts.lineAmount
  draft.amount_excluding_tax = amounts.amountExcludingTax
  draft.total_tax_amount = amounts.totalTaxAmount
  draft.amount_including_tax = inRange('quantity', amounts.amountIncludingTax)
}
