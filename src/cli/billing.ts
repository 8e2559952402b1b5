/** Shared by the commands of billing: the paths of account and profile, and their api-version. */

import { textOf } from '#client/answer.ts'
import { propertiesOf, propertyOf } from '#client/resource.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { LocalProblem } from './command.ts'
import type { Connection } from './context.ts'
import { member } from './directory.ts'
import type { Column } from './output/table.ts'
import { extensionPath } from './resource-path.ts'

export const billingVersion = { 'api-version': '2024-04-01' } as const

export const billingOptions = {
  account: {
    type: 'string',
    value: 'name',
    summary: 'The billing account; the installation’s own when left out',
  },
  profile: {
    type: 'string',
    value: 'name',
    summary: 'Billing profile [default: default]',
  },
} as const

interface BillingPlace {
  readonly account: string | undefined
  readonly profile: string | undefined
}

export async function accountPath(connection: Connection, place: BillingPlace): Promise<string> {
  const accounts = extensionPath(connection.words, '/', 'Billing/billingAccounts')
  const own = place.account ?? connection.running?.tenantId
  if (own !== undefined) return `${accounts}/${encodeURIComponent(own)}`
  const [first] = await connection.client.list(accounts, { query: billingVersion })
  const name = textOf(first, 'name')
  if (name === undefined) throw new LocalProblem('NoAccount', 'There is no billing account yet.')
  return `${accounts}/${encodeURIComponent(name)}`
}

export async function profilePath(connection: Connection, place: BillingPlace): Promise<string> {
  const account = await accountPath(connection, place)
  return `${account}/billingProfiles/${encodeURIComponent(place.profile ?? 'default')}`
}

function amount(row: unknown, name: string): string {
  const held = propertiesOf(row)[name]
  return isJsonObject(held) ? `${held['value']} ${held['currency']}` : ''
}

export const transactionColumns: readonly Column<unknown>[] = [
  { title: 'DATE', of: (row) => propertyOf(row, 'date').slice(0, 10) },
  { title: 'TYPE', of: (row) => propertyOf(row, 'transactionType') },
  { title: 'PRODUCT', of: (row) => propertyOf(row, 'productDescription') },
  { title: 'UNITS', of: (row) => propertyOf(row, 'units') },
  { title: 'AMOUNT', of: (row) => amount(row, 'transactionAmount') },
  { title: 'INVOICE', of: (row) => propertyOf(row, 'invoice') },
  { title: 'NAME', of: member('name') },
]

export const invoiceColumns: readonly Column<unknown>[] = [
  { title: 'NAME', of: member('name') },
  { title: 'DATE', of: (row) => propertyOf(row, 'invoiceDate').slice(0, 10) },
  { title: 'TOTAL', of: (row) => amount(row, 'totalAmount') },
  { title: 'STATUS', of: (row) => propertyOf(row, 'status') },
]

/** `MM-DD-YYYY`, the form that lists of a profile require. */
export function periodDate(milliseconds: number): string {
  const [year, month, day] = new Date(milliseconds).toISOString().slice(0, 10).split('-')
  return `${month}-${day}-${year}`
}
