/**
 * A request to the business application and its answer, as plain data. The edge and batches use it. It knows no
 * sockets.
 */

import type { RequestFrom } from '#activity/record.ts'
import type { Principal } from '#kernel/principal.ts'
import type { Awaited } from '#kernel/room.ts'
import type { Bytes } from '#kernel/stored-bytes.ts'
import type { SqlRow, SqlValue } from '#stores/store.ts'
import type { Version } from './entity.ts'

export interface BusinessRequest {
  readonly method: string
  readonly version: Version
  /** The path after the version segment, still encoded, without a leading slash; `''` is the root. */
  readonly path: string
  /** The query as sent, without the question mark. */
  readonly search: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The bytes as sent; `undefined` without a body. */
  readonly body: Bytes | undefined
  /** A large body, where it was read before its transaction began. */
  readonly json?: Readonly<Record<string, unknown>> | undefined
  readonly principal: Principal
  /** Once it resolves, what is known of the rights of callers is no older than the request. For the first decision alone. */
  readonly rightsRefresh?: Promise<unknown> | undefined
  readonly correlationId: string
  /** The address the caller used, without a trailing slash; the installation's own when left out. */
  readonly publicUrl?: string
  /** Counts the requests of a batch against the caller's quota; throws the refusal when it is used up. */
  admit?(counts: Readonly<Record<'reads' | 'writes' | 'deletes', number>>): void
  /** For a request that waited: its caller, if they may still act. Rejects with the refusal if not. */
  authorizeAgain?(): Promise<Principal>
  /** The origin of the request, for the audit trail. */
  readonly from?: RequestFrom
  /** Aborted at the request's deadline: nothing is committed afterwards. */
  readonly signal?: AbortSignal
  /** Gives a signal that is aborted at the deadline, and when the client is gone. */
  readonly awaited?: Awaited
}

export interface BusinessAnswer {
  readonly status: number
  /** Header names as they are written; `Content-Type` and `OData-Version` included. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** A file, instead of the body. */
  readonly bytes?: Uint8Array
}

/** Reads inside or outside of a transaction: `Sql`, `SqlReads` and `SqlTx` all satisfy it. */
export interface Reads {
  all(text: string, ...values: readonly SqlValue[]): Promise<readonly SqlRow[]>
  /** Like `Sql.scan`. A writing transaction has none; what it scans is bounded instead. */
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

/** Whether a header of tags (`If-None-Match`) contains this one. */
export function namesTag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.trim() === '*' || header.split(',').some((one) => one.trim() === etag)
}

export function jsonAnswer(
  status: number,
  body: object | string,
  own: Readonly<Record<string, string>> = {},
): BusinessAnswer {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return { status, headers: { ...jsonHeaders, ...own }, body: text }
}
