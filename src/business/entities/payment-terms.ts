/** Terms of payment, ways of paying and ways of shipping (business facts 14). Shapes only. */

import { boolean, decimal, type Entity, text } from '../entity.ts'
import * as tables from '../tables.ts'
import { defineCoded } from './coded.ts'

/** The formulas are those of `documents/date-formula.ts`. */
export const paymentTerms: Entity = defineCoded({
  set: 'paymentTerms',
  type: 'paymentTerm',
  table: tables.paymentTerms,
  own: [
    text('dueDateCalculation', 32),
    text('discountDateCalculation', 32),
    decimal('discountPercent'),
    boolean('calculateDiscountOnCreditMemos'),
  ],
})

export const paymentMethods: Entity = defineCoded({
  set: 'paymentMethods',
  type: 'paymentMethod',
  table: tables.paymentMethods,
})

export const shipmentMethods: Entity = defineCoded({
  set: 'shipmentMethods',
  type: 'shipmentMethod',
  table: tables.shipmentMethods,
})
