/** Terms of payment, ways of paying and ways of shipping (business facts 14). Shapes only. */

import type { Table } from '#query/table.ts'
import {
  boolean,
  decimal,
  defineEntity,
  type Entity,
  editable,
  type Field,
  guid,
  moment,
  text,
} from '../entity.ts'
import * as tables from '../tables.ts'

interface Shape {
  readonly set: string
  readonly type: string
  readonly table: Table
  readonly own?: readonly Field[]
}

function coded({ set, type, table, own = [] }: Shape): Entity {
  return defineEntity({
    set,
    type,
    table,
    fields: [
      guid('id', { write: 'create' }),
      text('code', 10, { write: 'create' }),
      text('displayName', 100),
      ...own,
      moment('lastModifiedDateTime', { write: 'never' }),
    ],
    alternateKeys: [['code']],
    allows: editable,
    defaultOrder: ['code'],
  })
}

/** The formulas are those of `documents/date-formula.ts`. */
export const paymentTerms: Entity = coded({
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

export const paymentMethods: Entity = coded({
  set: 'paymentMethods',
  type: 'paymentMethod',
  table: tables.paymentMethods,
})

export const shipmentMethods: Entity = coded({
  set: 'shipmentMethods',
  type: 'shipmentMethod',
  table: tables.shipmentMethods,
})
