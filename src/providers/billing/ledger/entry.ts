/**
 * What the ledger holds: entries (one transaction each), what many entries share (a dimension), and statements
 * (the entries of one invoice, or of one to come). Shapes only.
 */

import type { Minor } from '../money/money.ts'

/**
 * Everything about a transaction that many others have too, stored once and never changed. Names are the
 * contract's, less the brand word.
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

/** What differs from entry to entry. Money in ten-thousandths, moments in milliseconds. */
interface Measures {
  /** A GUID in lower case, unique in the billing account. */
  readonly name: string
  readonly date: number
  readonly quantity: number | null
  readonly units: number | null
  readonly effectivePrice: number | null
  readonly marketPrice: number | null
  readonly exchangeRate: number | null
  readonly subTotal: Minor
  readonly tax: Minor
  readonly amount: Minor
  readonly credit: Minor | null
  readonly commitment: Minor | null
  readonly refunded: Minor | null
  readonly requested: Minor | null
  readonly refundOperation: string | null
  readonly periodStart: number | null
  readonly periodEnd: number | null
}

/** An entry on its way into the ledger. */
export interface NewEntry {
  readonly measures: Measures
  readonly dimension: Dimension
  readonly tags?: Readonly<Record<string, string>>
  /** The invoice it was billed on elsewhere; without one it is still to be billed here. */
  readonly invoice?: string
}

/** An entry at rest. */
export interface Row extends Measures {
  /** In the order of recording. */
  readonly id: number
  readonly statementId: number
  readonly dimensionId: number
  readonly createdAt: number
}

/** The entries of one invoice: pending until it is closed and has a name. */
export interface Statement {
  readonly id: number
  /** Names as shown; the keys of the ledger are these in lower case. */
  readonly account: string
  readonly profile: string
  /** The invoice's name; undefined while pending. */
  readonly invoice: string | undefined
  readonly currency: string
  /** `2026-11`: whose entries it gathers while pending. */
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
