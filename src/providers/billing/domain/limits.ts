/** The bounds of this provider, as a parameter of `billingProvider`. */

export interface BillingLimits {
  /** The contract: `top` is at most 50. */
  readonly topMax: number
  /** Different products, sections, customers and so on in the statements of one question, kept in mind at once. */
  readonly dimensionsMax: number
  /** Rows looked at for one page; a page may come back short, with a next link. */
  readonly scanRowsMax: number
  /** Rows read one by one for a page where the filter is past what SQL is asked. */
  readonly readRowsMax: number
  /** Rows put in order by themselves, where no index has that order. */
  readonly sortRowsMax: number
  /** Entries of a statement in one part of its indexes. As they were recorded: it may only become smaller. */
  readonly partRows: number
  /** Below this part of a statement, going through its dimensions is less than walking past the others. */
  readonly rarePart: number
  /** Entries of some dimensions that a page is picked out of, which takes some 2 ms; more are read one by one. */
  readonly pickedRowsMax: number
  /** Entries alike by the first fields of an order, put in order by the others for each page. */
  readonly tieRowsMax: number
  readonly countRowsMax: number
  /** Entries passed over for one page; its next link leads over the rest. */
  readonly skippedRowsMax: number
  /** Statements one question may go over. */
  readonly statementsMax: number
  readonly refusalsKeptMax: number
  readonly importTextMax: number
  /** Records of one piece: they are recorded in one transaction, which holds up all others of the embedded store. */
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
