/** The limits of this provider, as a parameter of `billingProvider`. */

export interface BillingLimits {
  /** The contract: `top` is at most 50. */
  readonly topMax: number
  /**
   * The number of different products, sections, customers and so on in the statements of one query that are kept in
   * memory.
   */
  readonly dimensionsMax: number
  /** Rows read for one page, which may come back short, with a next link. */
  readonly scanRowsMax: number
  /** Rows read one by one for a page when the filter cannot be expressed in SQL. */
  readonly readRowsMax: number
  /** Rows that are sorted in memory when no index has their order. */
  readonly sortRowsMax: number
  /**
   * Entries of a statement in one part of its indexes. Entries are stored with it, so it may only become smaller.
   */
  readonly partRows: number
  /** Below this share of a statement, reading by its dimensions costs less than skipping the other entries. */
  readonly rarePart: number
  /**
   * Entries of some dimensions from which a page is picked, which takes about 2 ms; larger sets are read one by
   * one.
   */
  readonly pickedRowsMax: number
  /** Entries that are equal in the first fields of an order and are sorted by the others for each page. */
  readonly tieRowsMax: number
  readonly countRowsMax: number
  /** Entries skipped for one page; its next link continues. */
  readonly skippedRowsMax: number
  /** The number of statements in one query. */
  readonly statementsMax: number
  readonly refusalsKeptMax: number
  readonly importTextMax: number
  /** Records of one piece. They are recorded in one transaction, which blocks all others of the embedded store. */
  readonly importRecordsMax: number
  readonly downloadSeconds: number
}

export const defaultBillingLimits: BillingLimits = Object.freeze({
  topMax: 50,
  dimensionsMax: 5000,
  scanRowsMax: 4000,
  readRowsMax: 600,
  sortRowsMax: 1000,
  partRows: 131_072,
  rarePart: 1 / 40,
  pickedRowsMax: 20_000,
  tieRowsMax: 50_000,
  countRowsMax: 2_000_000,
  skippedRowsMax: 1_000_000,
  statementsMax: 120,
  refusalsKeptMax: 10_000,
  importTextMax: 3_000_000,
  importRecordsMax: 2_000,
  downloadSeconds: 3600,
})
