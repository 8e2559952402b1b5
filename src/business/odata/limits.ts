/** The limits of addresses, options and batches of the API (business facts 11). Numbers only. */

export const odataLimits = Object.freeze({
  /** Characters of the path and of the query together. */
  addressLengthMax: 16_384,
  /** Segments of a path. */
  segmentsMax: 12,
  /** `$expand` inside `$expand`. */
  expandDepthMax: 5,
  /** Navigations expanded at one level. */
  expandBreadthMax: 12,
  /** Navigations expanded in one request, over all levels. */
  expandsMax: 30,
  /** Names in one `$select`. */
  selectMax: 200,
  /**
   * The maximum number of rows of one page, whatever `odata.maxpagesize` says. Also the page size without that
   * preference.
   */
  pageSizeMax: 20_000,
  /** The page size of a request that expands lists and states no preference. */
  expandedPageSize: 200,
  /** Rows of one answer over all levels of `$expand`, or of all requests of a batch together. */
  answerRowsMax: 20_000,
  /** Characters of one answer, or of one batch. A page or a list that reaches the limit ends with a next link. */
  answerCharactersMax: 4 * 1024 * 1024,
  /** The same two limits inside one transaction (a change set, `Isolation: snapshot`), which cannot pause. */
  transactionRowsMax: 500,
  transactionCharactersMax: 1024 * 1024,
  /** Lines created together with their documents in one transaction. */
  nestedLinesMax: 10_000,
  /** Lines of documents that are changed as a whole in one transaction: another one is refused when there were so many. */
  wholeLinesMax: 20_000,
  /** Rows that filters and orders of all requests of one transaction may scan. */
  scannedRowsMax: 10_000,
  /** Rows that the lists, counts and later pages of one transaction may look through besides, of which it may show few. */
  listedRowsMax: 20_000,
  /** Rows and characters that every request of a batch gets, however many the earlier requests took. */
  partRowsKept: 10,
  partCharactersKept: 16 * 1024,
  /** Rows read and written between two pauses. The server does other work in a pause. */
  rowsAtOnce: 250,
  /** The same, where each row has expanded lists. */
  expandingRowsAtOnce: 50,
  /** Ids read together, before their rows are read in pieces. */
  idsAtOnce: 5_000,
  /** A larger `$skip` is refused. Next links cost less. */
  skipMax: 1_000_000_000,
  /** Requests in one batch (business facts 10.2). */
  batchRequestsMax: 100,
  /** Characters of one header line of a part in a multipart batch. */
  batchLineLengthMax: 16_384,
  /** Header lines of one part. */
  batchHeadersMax: 64,
})
