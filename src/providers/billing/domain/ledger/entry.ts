/**
 * The content of the ledger: entries (one transaction each), what many entries share (a dimension), and statements
 * (the entries of one invoice, or of a future one). Types only.
 */

import type { RowOf } from '#query/table.ts'
import type { entries } from '../tables.ts'

/**
 * The part of a transaction that many others share, stored once and never changed. Names are the contract's,
 * without the brand word.
 */
export interface Dimension {
  readonly plan?: string
  readonly billingCurrency: string
  readonly billingProfileDisplayName?: string
  readonly creditType?: string
  readonly customerDisplayName?: string
  readonly customerId?: string
  readonly discount?: number
  readonly invoiceSectionDisplayName?: string
  readonly invoiceSectionId?: string
  readonly isThirdParty?: boolean
  readonly kind?: string
  readonly partNumber?: string
  readonly pricingCurrency?: string
  readonly productDescription?: string
  readonly productFamily?: string
  readonly productType?: string
  readonly productTypeId?: string
  readonly reasonCode?: string
  readonly specialTaxationType?: string
  readonly transactionType?: string
  readonly unitOfMeasure?: string
  readonly unitType?: string
  /** `User|{principal id}`: who recorded it, for `systemData`. */
  readonly recordedBy: string
}

/** The part that differs from entry to entry. Its name is a GUID in lower case, unique in the billing account. */
type Measures = Omit<Row, 'id' | 'statementId' | 'dimensionId' | 'createdAt'>

/** An entry to be recorded. */
export interface NewEntry {
  readonly measures: Measures
  readonly dimension: Dimension
  readonly tags?: Readonly<Record<string, string>>
  /** The invoice of an entry that was billed elsewhere; without one it is still to be billed here. */
  readonly invoice?: string
}

/** A stored entry; ids are in recording order. */
export type Row = RowOf<typeof entries>

/** The entries of one invoice. It is pending until it is closed and has a name. */
export interface Statement {
  readonly id: number
  /** Names as shown; the ledger's keys are these in lower case. */
  readonly account: string
  readonly profile: string
  /** The invoice's name; undefined while pending. */
  readonly invoice: string | undefined
  readonly currency: string
  /** `2026-11`: the month whose entries it collects while pending. */
  readonly month: string
  readonly entries: number
  readonly closedAt: number | undefined
  /** `Due` unless an import said otherwise. */
  readonly status: string
  readonly totals: Totals
}

export interface Totals {
  readonly subTotal: bigint
  readonly tax: bigint
  readonly amount: bigint
  readonly credit: bigint
  readonly commitment: bigint
}

export interface Entry {
  readonly row: Row
  readonly dimension: Dimension
  readonly statement: Statement
}
