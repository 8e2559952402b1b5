/** The types of a page's request, its sources, and its result. */

import type { VendorWords } from '#kernel/vendor.ts'
import type { Sql } from '#stores/store.ts'
import type { BillingLimits } from '../limits.ts'
import type { Dimensions } from './dimensions.ts'
import type { Entry, Statement } from './entry.ts'
import type { KnownStatements } from './known-statements.ts'
import type { LedgerQuery } from './query.ts'

export interface PageRequest {
  readonly query: LedgerQuery
  readonly words: readonly string[]
  readonly statements: readonly Statement[]
  readonly limit: number
  readonly skip: number
  readonly cursor: string | undefined
}

export interface EntryPage {
  readonly entries: readonly Entry[]
  readonly next?: string
}

export interface LedgerDependencies {
  readonly sql: Sql
  readonly words: VendorWords
  readonly dimensions: Dimensions
  readonly known: KnownStatements
  readonly limits: BillingLimits
}
