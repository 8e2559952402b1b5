/** What a printed invoice says, in reading order. Who draws it is given (`InvoicePrinter`). */

import { isJsonObject } from '#kernel/patch.ts'
import { parseResourceId } from '#kernel/resource-id.ts'
import type { Reader } from '#plane/declare/resource.ts'
import { accountIdOf, profileIdOf } from '../ids.ts'
import { entriesOf } from '../ledger/entries.ts'
import type { Entry, Statement } from '../ledger/entry.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { entryColumns, rowOf } from '../ledger/scan.ts'
import { dueAt, spanOfMonth } from '../ledger/statements.ts'
import { decimalsOfCurrency } from '../money/currencies.ts'
import { fromMinor, type Minor } from '../money/money.ts'

/** All texts are plain. */
interface InvoicePage {
  readonly language: string
  readonly title: string
  readonly number: string
  readonly company: string
  /** Lines of text. */
  readonly seller: string
  readonly billTo: string
  readonly facts: readonly (readonly [name: string, value: string])[]
  /** A description, and at most five columns after it. */
  readonly head: readonly string[]
  readonly rows: readonly { readonly description: string; readonly cells: readonly string[] }[]
  /** The number of rows left out, and the words after that number. */
  readonly left: number
  readonly more: string
  readonly sums: readonly {
    readonly name: string
    readonly value: string
    readonly isTotal: boolean
  }[]
  readonly look: {
    readonly logo: string
    readonly color: string
    readonly footer: string
    readonly slip: readonly (readonly [name: string, value: string])[]
    readonly slipTitle: string
  }
  /** In milliseconds since 1970. */
  readonly changedAt: number
}

export interface InvoicePrinter {
  /** A PDF. `ownerId`: who waits for it; nobody waits behind all that another wants. */
  make(ownerId: string, page: InvoicePage): Promise<Uint8Array>
}

/** As many as a reader leafs through; all of them are in the file of transactions. */
const rowsMax = 500
const ink = '#1a1a1a'

export async function pageOfInvoice(
  ledger: Ledger,
  reader: Pick<Reader, 'get'>,
  statement: Statement,
): Promise<InvoicePage> {
  const { currency, totals, month, closedAt = 0, invoice = '' } = statement
  const rows = await ledger.sql.all(
    `select ${entryColumns} from billing_entries where statement_id = ? order by id limit ?`,
    statement.id,
    rowsMax,
  )
  const entries = await entriesOf(ledger, rows.map(rowOf), new Map([[statement.id, statement]]))
  const period = spanOfMonth(month)
  const account = await namesOf(reader, accountIdOf(ledger.words, statement.account))
  const profile = await namesOf(reader, profileIdOf(ledger.words, statement))
  const money = (minor: Minor | bigint): string => moneyText(currency, minor)
  const sum = (name: string, minor: bigint, isTotal = false) => ({
    name,
    value: money(minor),
    isTotal,
  })
  return {
    language: 'en',
    title: totals.amount < 0n ? 'Credit note' : 'Invoice',
    number: invoice,
    company: account.name,
    seller: account.address,
    billTo: [profile.name, profile.address].filter((one) => one !== '').join('\n'),
    facts: [
      ['Date', dayOf(closedAt)],
      ['Period', `${dayOf(period.start)} – ${dayOf(period.end - 1)}`],
      ['Due', dayOf(dueAt(closedAt))],
      ['Billing account', statement.account],
      ['Billing profile', statement.profile],
    ],
    head: ['Description', 'Date', 'Section', 'Units', 'Tax', `Amount (${currency})`],
    rows: entries.map((entry) => lineOf(entry, money)),
    left: Math.max(0, statement.entries - entries.length),
    more: 'more transactions are in the file of transactions.',
    sums: [
      sum('Subtotal', totals.subTotal),
      sum('Tax', totals.tax),
      ...(totals.credit === 0n ? [] : [sum('Credits applied', totals.credit)]),
      sum(`Total (${currency})`, totals.amount, true),
    ],
    look: { logo: '', color: ink, footer: '', slip: [], slipTitle: '' },
    changedAt: closedAt,
  }
}

function lineOf(
  { row, dimension }: Entry,
  money: (minor: Minor) => string,
): InvoicePage['rows'][number] {
  const { productDescription, invoiceSectionDisplayName = '', transactionType = '' } = dimension
  return {
    description: productDescription ?? transactionType,
    cells: [
      dayOf(row.date),
      invoiceSectionDisplayName,
      row.units === null ? '' : String(row.units),
      money(row.tax),
      money(row.amount),
    ],
  }
}

function moneyText(currency: string, minor: Minor | bigint): string {
  return fromMinor(minor).toFixed(decimalsOfCurrency(currency))
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

/** Lines of an address, as published clients name them. */
const lines = ['companyName', 'addressLine1', 'addressLine2', 'addressLine3'] as const

/** The name and the address of an account or a profile, where it is still there. */
async function namesOf(
  reader: Pick<Reader, 'get'>,
  path: string,
): Promise<{ readonly name: string; readonly address: string }> {
  const id = parseResourceId(path)
  const found = id === undefined ? undefined : await reader.get(id)
  const model = isJsonObject(found?.model) ? found.model : {}
  const given = model['billTo'] ?? model['soldTo']
  const address = isJsonObject(given) ? given : {}
  const text = (name: string): string => (typeof address[name] === 'string' ? address[name] : '')
  const town = ['postalCode', 'city', 'region'].map(text).filter((one) => one !== '')
  const all = [...lines.map(text), town.join(' '), text('country')]
  const { displayName } = model
  return {
    name: typeof displayName === 'string' ? displayName : '',
    address: all.filter((one) => one !== '').join('\n'),
  }
}
