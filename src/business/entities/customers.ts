/** Customers, with what decides the tax of their documents (business facts 5.6 and 14). Shape only. */

import {
  added,
  boolean,
  decimal,
  defineEntity,
  type Entity,
  editable,
  guid,
  moment,
  oneOf,
  text,
  toMany,
  toOne,
} from '../entity.ts'
import * as tables from '../tables.ts'

const calculated = { write: 'never' } as const
const v2 = { versions: ['v2.0'] } as const

const customerBlocks = [' ', 'Ship', 'Invoice', 'All'] as const

export const customers: Entity = defineEntity({
  set: 'customers',
  type: 'customer',
  table: tables.customers,
  fields: [
    guid('id', { write: 'create' }),
    text('number', 20, { write: 'create' }),
    text('displayName', 100),
    text('additionalName', 50, v2),
    oneOf('type', 'contactType', ['Company', 'Person']),
    text('addressLine1', 100, v2),
    text('addressLine2', 50, v2),
    text('city', 30, v2),
    text('state', 30, v2),
    text('country', 10, v2),
    text('postalCode', 20, v2),
    text('phoneNumber', 30),
    text('email', 80),
    text('website', 80),
    text('salespersonCode', 20, v2),
    decimal('balanceDue', { ...v2, ...calculated }),
    decimal('creditLimit', v2),
    boolean('taxLiable'),
    guid('taxAreaId'),
    text('taxAreaDisplayName', 100, { ...calculated, column: 'display_name', join: 'taxArea' }),
    text('taxRegistrationNumber', 20),
    guid('currencyId'),
    text('currencyCode', 10),
    guid('paymentTermsId'),
    guid('shipmentMethodId'),
    guid('paymentMethodId'),
    oneOf('blocked', 'customerBlocked', customerBlocks),
    boolean('pricesIncludeTax', v2),
    moment('lastModifiedDateTime', calculated),
  ],
  joins: [
    {
      name: 'taxArea',
      table: tables.taxAreas,
      on: [{ foreign: 'id', local: { column: 'tax_area_id' } }],
    },
  ],
  alternateKeys: [['number']],
  navigations: [
    toOne('currency', 'currencies', 'currency_id'),
    toOne('taxArea', 'taxAreas', 'tax_area_id'),
    toMany('salesInvoices', 'salesInvoices', 'customer_id'),
    toMany('salesQuotes', 'salesQuotes', 'customer_id'),
    toMany('salesCreditMemos', 'salesCreditMemos', 'customer_id'),
    toMany('customerPayments', 'customerPayments', 'customer_id'),
    added(toOne('customerFinancialDetail', 'customerFinancialDetails', 'id', ['v2.0'])),
    added(toOne('customerFinancialDetails', 'customerFinancialDetails', 'id', ['v1.0'])),
    added(toOne('agedAccountsReceivable', 'agedAccountsReceivables', 'id')),
  ],
  allows: editable,
  defaultOrder: ['number'],
})
