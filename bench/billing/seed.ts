/** Transactions for the benchmark of billing, recorded through the ledger itself in a stopped installation. */

import { hash } from 'node:crypto'
import { contractWords } from '../../src/kernel/vendor.ts'
import type { NewEntry } from '../../src/providers/billing/domain/ledger/entry.ts'
import { openLedger } from '../../src/providers/billing/domain/ledger/ledger.ts'
import { defaultBillingLimits } from '../../src/providers/billing/domain/limits.ts'
import { openStore } from '../contestants/open-store.ts'

export const invoice = 'G123456789'
const rowsAtOnce = 5000

/** In random order, which is the more expensive case for an index. */
function nameAt(at: number): string {
  const hex = hash('sha256', `bench ${at}`)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** One row as a database or a file has it, with money in major units. */
export interface PlainRow {
  readonly id: number
  readonly date: number
  readonly quantity: number
  readonly price: number
  readonly subTotal: number
  readonly tax: number
  readonly amount: number
  readonly product: string
  readonly family: string
  readonly customer: string
  readonly section: string
}

export function plainRow(at: number): PlainRow {
  const product = at % 97
  const quantity = 1 + ((at * 7919) % 50)
  const subTotal = quantity * (product + 1) * 13
  const tax = Math.round(subTotal * 0.19)
  return {
    id: at,
    date: Date.UTC(2026, 8, 1) + ((at * 37) % 2_592_000) * 1000,
    quantity,
    price: ((product + 1) * 13) / 100,
    subTotal: subTotal / 100,
    tax: tax / 100,
    amount: (subTotal + tax) / 100,
    product: `Product ${product} of the catalogue`,
    family: `Family ${product % 9}`,
    customer: `Customer ${at % 40}`,
    section: `Section ${at % 5}`,
  }
}

const minor = (amount: number): number => Math.round(amount * 10_000)

function entryAt(at: number): NewEntry {
  const row = plainRow(at)
  return {
    invoice,
    dimension: {
      billingCurrency: 'USD',
      billingProfileDisplayName: 'Default',
      customerDisplayName: row.customer,
      invoiceSectionDisplayName: row.section,
      productDescription: row.product,
      productFamily: row.family,
      transactionType: 'Purchase',
      recordedBy: 'Application|bench',
    },
    measures: {
      name: nameAt(at),
      date: row.date,
      quantity: row.quantity,
      units: row.quantity,
      effectivePrice: row.price,
      marketPrice: null,
      exchangeRate: 1,
      subTotal: minor(row.subTotal),
      tax: minor(row.tax),
      amount: minor(row.amount),
      credit: null,
      commitment: null,
      refunded: null,
      requested: null,
      refundOperation: null,
      periodStart: null,
      periodEnd: null,
    },
  }
}

/** Returns the number of rows recorded per second. */
export async function seedLedger(
  database: string,
  account: string,
  count: number,
): Promise<number> {
  await using store = await openStore(database)
  const ledger = openLedger(store.sql, contractWords, defaultBillingLimits)
  const place = { account, profile: 'default' }
  const began = performance.now()
  for (let at = 0; at < count; at += rowsAtOnce) {
    const size = Math.min(rowsAtOnce, count - at)
    const entries = Array.from({ length: size }, (_, index) => entryAt(at + index))
    await ledger.record(entries, { place, now: Date.UTC(2026, 9, 1), mayBePresent: true })
  }
  return (count / (performance.now() - began)) * 1000
}
