/** The ledger as the rest of the provider uses it, with a transaction for recording. */

import type { VendorWords } from '#kernel/vendor.ts'
import type { Sql } from '#stores/store.ts'
import type { BillingLimits } from '../limits.ts'
import { Dimensions } from './dimensions.ts'
import type { NewEntry } from './entry.ts'
import { type LedgerFields, ledgerFields } from './fields.ts'
import { KnownStatements } from './known-statements.ts'
import type { LedgerDependencies } from './page.ts'
import { type Recording, type RecordOptions, record } from './record.ts'

export interface Ledger extends LedgerDependencies {
  readonly fields: LedgerFields
  record(entries: readonly NewEntry[], options: RecordOptions): Promise<Recording>
}

export function openLedger(sql: Sql, words: VendorWords, limits: BillingLimits): Ledger {
  const dimensions = new Dimensions(sql)
  return {
    sql,
    words,
    limits,
    dimensions,
    known: new KnownStatements(),
    fields: ledgerFields(words),
    async record(entries, options) {
      const recording = await sql.transact((tx) => record(tx, dimensions, entries, options))
      recording.committed()
      return recording
    },
  }
}
