/** Every bound of the interface's addresses, options and batches in one table (business facts 11). Numbers only. */

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
  /** Rows of one page at the most, whatever `odata.maxpagesize` says; also the page when nothing is said. */
  pageSizeMax: 20_000,
  /** The page when nothing is said and the request expands lists. */
  expandedPageSize: 200,
  /** Rows of one answer over all levels of `$expand`, or of one batch over all of its requests. */
  answerRowsMax: 20_000,
  /** Characters of one answer, or of one batch. A page and a list end where they are used up, with a next link. */
  answerCharactersMax: 4 * 1024 * 1024,
  /** The same two inside one transaction (a change set, `Isolation: snapshot`), which cannot pause. */
  transactionRowsMax: 500,
  transactionCharactersMax: 1024 * 1024,
  /** Lines that come with their documents in one transaction. */
  nestedLinesMax: 1_000,
  /** Rows that filters and orders of the requests in one transaction look through. */
  scannedRowsMax: 10_000,
  /** What every request of a batch has left, however much those before it took: rows and characters. */
  partRowsKept: 10,
  partCharactersKept: 16 * 1024,
  /** Rows read and written between two pauses, in which the server does other work. */
  rowsAtOnce: 250,
  /** The same where lists are expanded below each row. */
  expandingRowsAtOnce: 50,
  /** Ids read at once, before the rows are read in pieces. */
  idsAtOnce: 5_000,
  /** `$skip` beyond this is refused: next links cost less. */
  skipMax: 1_000_000_000,
  /** Operators of arithmetic in one filter. */
  arithmeticMax: 8,
  /** Requests of one batch (business facts 10.2). */
  batchRequestsMax: 100,
  /** Characters of one line of a part's head in a multipart batch. */
  batchLineLengthMax: 16_384,
  /** Header lines of one part. */
  batchHeadersMax: 64,
})
