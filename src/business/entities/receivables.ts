/** What customers owe and since when, computed from their invoices as of today. Shapes only. */

import type { Dialect } from '#query/table.ts'
import { unitOfCurrency, unitsOfCurrencies } from '../amounts/units.ts'
import {
  date,
  decimal,
  defineEntity,
  type Entity,
  guid,
  moment,
  readOnly,
  text,
  toOne,
  type View,
} from '../entity.ts'
import * as tables from '../tables.ts'

const never = { write: 'never' } as const

/** The days of a period: overdue amounts are grouped by periods. */
const periodDays = 30

const dayMs = 86_400_000

/** The day so many days before a moment, as a literal in the form of date columns. */
function daysBefore(days: number, now: number): string {
  return `'${new Date(now - days * dayMs).toISOString().slice(0, 10)}'`
}

/** The smallest amount of the company's own currency. */
const ownUnit = `(select case local_currency_code ${Object.entries(unitsOfCurrencies)
  .map(([code, unit]) => `when '${code}' then ${unit}`)
  .join(
    ' ',
  )} else ${unitOfCurrency('')} end from business_companies where id = customers.company_id)`

/**
 * The amount in the company's own currency, as posting computes it. One dialect's store provides `share_of`; in the
 * other a migration makes it.
 */
function local(column: string): string {
  return `case when exchange_rate_amount = 0 then ${column}
    else share_of(${column}, relational_exchange_rate_amount, exchange_rate_amount, ${ownUnit}) end`
}

/** The sum of a customer's documents; beyond exact numbers, the nearest one. */
function sumOf(dialect: Dialect, value: string, condition: string): string {
  const own = 'bill_to_customer_id = customers.id'
  const all = [own, ...tables.withinTime(dialect, 'bill_to_customer_id'), condition].join(' and ')
  return `(select coalesce(sum(${tables.asNumber(value)}), 0) from business_documents where ${all})`
}

const open = "kind = 'invoice' and status = 'Open'"
const posted = "kind in ('invoice', 'creditMemo') and status not in ('Draft', 'In Review')"

const worked = {
  ...tables.customers.columns,
  aged_as_of: tables.documents.columns.posting_date,
  period_length: tables.customers.columns.number,
  overdue: tables.customers.columns.balance_due,
  current_amount: tables.customers.columns.balance_due,
  period_1: tables.customers.columns.balance_due,
  period_2: tables.customers.columns.balance_due,
  period_3: tables.customers.columns.balance_due,
  total_sales: tables.customers.columns.balance_due,
}
/** Customers with values computed from their documents. */
const receivables = { ...tables.customers, columns: worked }

/**
 * What is open and not yet due, together with unapplied payments and credits, is the rest, so the parts add up to
 * the balance. The tag changes with the day, because the parts do.
 */
function select(dialect: Dialect, now: number): string {
  const day = (periods: number) => daysBefore(periods * periodDays, now)
  const dueBetween = (from: string, until: string) =>
    sumOf(dialect, local('remaining_amount'), `${open} and due_date < ${until}${from}`)
  const sums = `select ${Object.keys(tables.customers.columns)
    .map((column) =>
      column === 'revision'
        ? `revision + cast(replace(${day(0)}, '-', '') as bigint) * 100000000 as revision`
        : column,
    )
    .join(', ')}, ${day(0)} as aged_as_of, '${periodDays}D' as period_length,
    ${dueBetween(` and due_date >= ${day(1)}`, day(0))} as period_1,
    ${dueBetween(` and due_date >= ${day(2)}`, day(1))} as period_2,
    ${dueBetween('', day(2))} as period_3,
    ${sumOf(dialect, `case kind when 'invoice' then 1 else -1 end * ${local('total_amount_excluding_tax')}`, posted)} as total_sales
    from business_customers customers`
  return `select *, period_1 + period_2 + period_3 as overdue,
    balance_due - period_1 - period_2 - period_3 as current_amount from (${sums}) as sums`
}

const view: View = {
  select,
  sums: 'business_documents',
  columns: new Set([
    'revision',
    'aged_as_of',
    'period_length',
    'overdue',
    'current_amount',
    'period_1',
    'period_2',
    'period_3',
    'total_sales',
  ]),
}

export const agedAccountsReceivables: Entity = defineEntity({
  set: 'agedAccountsReceivables',
  type: 'agedAccountsReceivable',
  table: receivables,
  view,
  key: 'customerId',
  fields: [
    guid('customerId', { ...never, column: 'id' }),
    text('customerNumber', 20, { ...never, column: 'number' }),
    text('name', 100, { ...never, column: 'display_name' }),
    text('currencyCode', 10, never),
    decimal('balanceDue', never),
    decimal('currentAmount', never),
    decimal('period1Amount', { ...never, column: 'period_1' }),
    decimal('period2Amount', { ...never, column: 'period_2' }),
    decimal('period3Amount', { ...never, column: 'period_3' }),
    date('agedAsOfDate', { ...never, column: 'aged_as_of' }),
    text('periodLengthFilter', 20, { ...never, column: 'period_length' }),
  ],
  alternateKeys: [['customerNumber']],
  navigations: [toOne('customer', 'customers', 'id')],
  allows: readOnly,
  defaultOrder: ['customerNumber'],
})

export const customerFinancialDetails: Entity = defineEntity({
  set: 'customerFinancialDetails',
  type: 'customerFinancialDetail',
  table: receivables,
  view,
  fields: [
    guid('id', never),
    text('number', 20, never),
    decimal('balance', { ...never, column: 'balance_due' }),
    decimal('totalSalesExcludingTax', { ...never, column: 'total_sales' }),
    decimal('overdueAmount', { ...never, column: 'overdue' }),
    moment('lastModifiedDateTime', never),
  ],
  alternateKeys: [['number']],
  navigations: [toOne('customer', 'customers', 'id')],
  allows: readOnly,
  defaultOrder: ['number'],
})
