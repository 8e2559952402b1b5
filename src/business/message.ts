/**
 * A request to the business application and its answer, as plain data: what the edge hands in and puts on the
 * wire, and what a batch is made of. Knows no sockets.
 */

import type { RequestFrom } from '#activity/record.ts'
import type { Principal } from '#kernel/principal.ts'
import type { SqlRow, SqlValue } from '#stores/store.ts'
import type { Version } from './entity.ts'

export interface BusinessRequest {
  readonly method: string
  readonly version: Version
  /** The path after the version segment, still encoded, without a slash at its beginning; `''` is the root. */
  readonly path: string
  /** The query as sent, without the question mark. */
  readonly search: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The bytes as sent; `undefined` when there was no body. */
  readonly body: Uint8Array | undefined
  readonly principal: Principal
  readonly correlationId: string
  /** The address by which the caller came, without a slash at its end; the installation's own when left out. */
  readonly publicUrl?: string
  /** Counts the requests of a batch against the caller's allowance; throws what refuses them. */
  admit?(counts: Readonly<Record<'reads' | 'writes' | 'deletes', number>>): void
  /** Where it came from, for the audit trail. */
  readonly from?: RequestFrom
  /** Aborted at the request's deadline: what it has not committed by then it does not. */
  readonly signal?: AbortSignal
}

export interface BusinessAnswer {
  readonly status: number
  /** Names as they are to be written; `Content-Type` and `OData-Version` included. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** In place of the body: a file. */
  readonly bytes?: Uint8Array
}

/** Reading, inside a transaction or outside of one: `Sql`, `SqlReads` and `SqlTx` all are one. */
export interface Reads {
  all(text: string, ...values: readonly SqlValue[]): Promise<readonly SqlRow[]>
  /** As `Sql.scan`. A transaction that writes has none: what it looks through is bounded instead. */
  scan?(text: string, ...values: readonly SqlValue[]): Promise<readonly SqlRow[]>
}

export const jsonHeaders: Readonly<Record<string, string>> = Object.freeze({
  'Content-Type': 'application/json; odata.metadata=minimal; charset=utf-8',
  'OData-Version': '4.0',
})

export function textAnswer(body: string): BusinessAnswer {
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'OData-Version': '4.0' }
  return { status: 200, headers, body }
}

/** Whether a header of tags (`If-None-Match`) names this one. */
export function namesTag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.trim() === '*' || header.split(',').some((one) => one.trim() === etag)
}
