/** Ledger accounts (business facts 14), what posting uses them for, and what stands on them. Shapes only. */

import { purposes, purposesAdded } from '../documents/posting-accounts.ts'
import {
  boolean,
  decimal,
  defineEntity,
  type Entity,
  editable,
  guid,
  moment,
  oneOf,
  readOnly,
  text,
  toOne,
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

/** What was booked on each account until now. */
export const trialBalances: Entity = defineEntity({
  set: 'trialBalances',
  type: 'trialBalance',
  table: tables.accounts,
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
  ],
  alternateKeys: [['number']],
  navigations: [toOne('account', 'accounts', 'id')],
  allows: readOnly,
  defaultOrder: ['number'],
})
