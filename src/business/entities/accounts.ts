/** Ledger accounts (business facts 14), what posting uses them for, and what stands on them. Shapes only. */

import { purposes, purposesAdded } from '../documents/posting-accounts.ts'
import {
  boolean,
  date,
  decimal,
  defineEntity,
  type Entity,
  editable,
  guid,
  moment,
  noDate,
  oneOf,
  readOnly,
  text,
  toOne,
  type View,
} from '../entity.ts'
import * as tables from '../tables.ts'

const never = { write: 'never' } as const
const once = { write: 'create' } as const
const v2 = { versions: ['v2.0'] } as const

const accountTypes = ['Posting', 'Heading', 'Total', 'Begin-Total', 'End-Total'] as const
const accountCategories = [
  ' ',
  'Assets',
  'Liabilities',
  'Equity',
  'Income',
  'Cost of Goods Sold',
  'Expense',
] as const

export const accounts: Entity = defineEntity({
  set: 'accounts',
  type: 'account',
  table: tables.accounts,
  fields: [
    guid('id', once),
    text('number', 20, once),
    text('displayName', 100),
    oneOf('category', 'accountCategory', accountCategories),
    text('subCategory', 80),
    boolean('blocked'),
    oneOf('accountType', 'accountType', accountTypes),
    boolean('directPosting'),
    decimal('netChange', never),
    text('taxGroupCode', 20, v2),
    moment('lastModifiedDateTime', never),
  ],
  alternateKeys: [['number']],
  allows: editable,
  defaultOrder: ['number'],
})

/** Ours: the account of each purpose that posting has. */
export const postingAccounts: Entity = defineEntity({
  set: 'postingAccounts',
  type: 'postingAccount',
  table: tables.postingAccounts,
  versions: ['v2.0'],
  fields: [
    guid('id', never),
    oneOf('code', 'postingPurpose', [' ', ...purposes], { ...never, added: purposesAdded }),
    guid('accountId'),
    text('accountNumber', 20),
    moment('lastModifiedDateTime', never),
  ],
  alternateKeys: [['code']],
  navigations: [toOne('account', 'accounts', 'account_id')],
  allows: { create: false, change: true, delete: false },
  defaultOrder: ['code'],
})

/** Of a filter without a last day. */
const lastDay = '9999-12-31'
const booked = ['total_debit', 'total_credit', 'balance_debit', 'balance_credit']
const unbooked = Object.keys(tables.accounts.columns).filter((one) => !booked.includes(one))

/** Totals of a period, and balances at its end. Without one they are of all entries, and stored. */
const balances: View = {
  period: 'date_filter',
  sums: 'business_general_ledger_entries',
  columns: new Set(['date_filter', ...booked]),
  select(dialect, _now, period) {
    if (period === undefined) return `select *, '${noDate}' as date_filter from business_accounts`
    const { from = noDate, until = lastDay } = period
    const own = ['account_id = accounts.id', ...tables.withinTime(dialect, 'account_id')].join(
      ' and ',
    )
    const sum = (value: string, since: string) =>
      `(select cast(coalesce(sum(${value}), 0) as bigint) from business_general_ledger_entries
         where ${own} and posting_date between '${since}' and '${until}')`
    const side = (sign: string) => `case when ${sign}balance > 0 then ${sign}balance else 0 end`
    return `select sums.*, ${side('')} as balance_debit, ${side('-')} as balance_credit,
      '${until}' as date_filter from (select ${unbooked.join(', ')},
        ${sum('debit_amount', from)} as total_debit, ${sum('credit_amount', from)} as total_credit,
        ${sum('debit_amount - credit_amount', noDate)} as balance
        from business_accounts accounts) as sums`
  },
}

/** What was booked on each account, until now or in the period of the filter. */
export const trialBalances: Entity = defineEntity({
  set: 'trialBalances',
  type: 'trialBalance',
  table: {
    ...tables.accounts,
    columns: { ...tables.accounts.columns, date_filter: tables.documents.columns.posting_date },
  },
  view: balances,
  fields: [
    guid('id', never),
    text('number', 20, never),
    guid('accountId', { ...never, column: 'id' }),
    oneOf('accountType', 'accountType', accountTypes, never),
    text('display', 100, { ...never, column: 'display_name' }),
    decimal('totalDebit', never),
    decimal('totalCredit', never),
    decimal('balanceAtDateDebit', { ...never, column: 'balance_debit' }),
    decimal('balanceAtDateCredit', { ...never, column: 'balance_credit' }),
    date('dateFilter', { ...never, isAdded: true }),
  ],
  alternateKeys: [['number']],
  navigations: [toOne('account', 'accounts', 'id')],
  allows: readOnly,
  defaultOrder: ['number'],
})
