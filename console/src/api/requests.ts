/** The requests of this console, the newest first, for the drawer that shows them. Tokens are never kept here. */

import { useSyncExternalStore } from 'react'

export interface RequestRecord {
  readonly id: number
  readonly at: Date
  readonly method: string
  /** With the query, without the host. */
  readonly path: string
  readonly body: unknown
  readonly status: number | undefined
  readonly milliseconds: number | undefined
  readonly correlationId: string | undefined
  readonly code: string | undefined
}

const keptMax = 100

let records: readonly RequestRecord[] = []
let next = 1
const listeners = new Set<() => void>()

function publish(changed: readonly RequestRecord[]): void {
  records = changed
  for (const listener of listeners) listener()
}

export function noteRequest(method: string, path: string, body: unknown): number {
  const record = {
    id: next++,
    at: new Date(),
    method,
    path,
    body,
    status: undefined,
    milliseconds: undefined,
    correlationId: undefined,
    code: undefined,
  }
  publish([record, ...records].slice(0, keptMax))
  return record.id
}

export function noteAnswer(
  id: number,
  answer: Pick<RequestRecord, 'status' | 'milliseconds' | 'correlationId' | 'code'>,
): void {
  publish(records.map((one) => (one.id === id ? { ...one, ...answer } : one)))
}

export function useRequests(): readonly RequestRecord[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => records,
  )
}
