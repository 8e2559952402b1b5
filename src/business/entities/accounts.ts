/** Ledger accounts (business facts 14), which the interface only reads: they come with the company. Shape only. */

import {
  boolean,
  decimal,
  defineEntity,
  type Entity,
  guid,
  moment,
  oneOf,
  readOnly,
  text,
} from '../entity.ts'
import * as tables from '../tables.ts'

const never = { write: 'never' } as const

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
    guid('id', never),
    text('number', 20, never),
    text('displayName', 100, never),
    oneOf('category', 'accountCategory', accountCategories, never),
    text('subCategory', 80, never),
    boolean('blocked', never),
    oneOf('accountType', 'accountType', accountTypes, never),
    boolean('directPosting', never),
    decimal('netChange', never),
    text('taxGroupCode', 20, { ...never, versions: ['v2.0'] }),
    moment('lastModifiedDateTime', never),
  ],
  alternateKeys: [['number']],
  allows: readOnly,
  defaultOrder: ['number'],
})
