/** Transactions for the benchmark of billing: recorded through the ledger itself into a stopped installation. */

import { businessMigrations } from '../../src/business/migrations.ts'
import { identityMigrations } from '../../src/identity/migrations.ts'
import { installationMigrations } from '../../src/installation/record.ts'
import { defaultLimits } from '../../src/kernel/limits.ts'
import { contractWords } from '../../src/kernel/vendor.ts'
import type { NewEntry } from '../../src/providers/billing/ledger/entry.ts'
import { openLedger } from '../../src/providers/billing/ledger/ledger.ts'
import { defaultBillingLimits } from '../../src/providers/billing/limits.ts'
import { guidOf } from '../../src/providers/billing/transactions/read-transaction.ts'
import { providerMigrations } from '../../src/providers/index.ts'
import { openSqlite } from '../../src/stores/sqlite/open.ts'

export const invoice = 'G123456789'
const rowsAtOnce = 5000

export function entryAt(at: number): NewEntry {
  const product = at % 97
  const quantity = 1 + ((at * 7919) % 50)
  const subTotal = quantity * (product + 1) * 1300
  const tax = Math.round(subTotal * 0.0019) * 100
  return {
    invoice,
    dimension: {
      billingCurrency: 'USD',
      billingProfileDisplayName: 'Default',
      customerDisplayName: `Customer ${at % 40}`,
      invoiceSectionDisplayName: `Section ${at % 5}`,
      productDescription: `Product ${product} of the catalogue`,
      productFamily: `Family ${product % 9}`,
      transactionType: 'Purchase',
      recordedBy: 'Application|bench',
    },
    measures: {
      name: guidOf(`bench ${at}`),
      date: Date.UTC(2026, 8, 1) + ((at * 37) % 2_592_000) * 1000,
      quantity,
      units: quantity,
      effectivePrice: (product + 1) * 0.13,
      marketPrice: null,
      exchangeRate: 1,
      subTotal,
      tax,
      amount: subTotal + tax,
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

/** Answers rows recorded in a second. */
export async function seedLedger(
  database: string,
  account: string,
  count: number,
): Promise<number> {
  await using store = await openSqlite({
    path: database,
    migrations: [
      ...installationMigrations,
      ...identityMigrations,
      ...providerMigrations,
      ...businessMigrations,
    ],
    words: contractWords,
    transactionRetriesMax: defaultLimits.transactionRetriesMax,
  })
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
