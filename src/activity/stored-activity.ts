/** A row of the audit trail as it is read, and the query for such rows. */

import { parseExactJson } from '#kernel/exact-json.ts'
import type { SqlRow } from '#stores/store.ts'
import { type TermName, type Terms, termsOf } from './blocks.ts'
import type { EventDetail } from './record.ts'

export interface StoredActivity {
  readonly number: number
  readonly at: number
  readonly key: string
  readonly action: string
  readonly status: string
  readonly principalId: string
  readonly caller: string
  readonly correlationId: string
  readonly operationId: string | undefined
  readonly subscription: string
  readonly detail: EventDetail
}

export interface ActivityQuery {
  /** All of these must match. They decide which part of the trail is read. */
  readonly equal: Terms
  /** Milliseconds since 1970; both bounds are included. */
  readonly from?: number
  readonly until?: number
  /** Filters the records that are read. Every record matches when it is left out. */
  matches?(activity: StoredActivity): boolean
}

export const columns = `number, at, key, action, status, principal_id, caller, correlation_id, operation_id,
  subscription, detail`

export function toActivity(row: SqlRow): StoredActivity {
  return {
    number: Number(row['number']),
    at: Number(row['at']),
    key: String(row['key']),
    action: String(row['action']),
    status: String(row['status']),
    principalId: String(row['principal_id']),
    caller: String(row['caller']),
    correlationId: String(row['correlation_id']),
    operationId: row['operation_id'] === null ? undefined : String(row['operation_id']),
    subscription: String(row['subscription']),
    // `toEvent` writes this; earlier versions wrote an object with other names.
    detail: parseExactJson(String(row['detail'])) as EventDetail,
  }
}

export function matchesQuery(query: ActivityQuery, activity: StoredActivity): boolean {
  const { from, until, equal, matches } = query
  if (from !== undefined && activity.at < from) return false
  if (until !== undefined && activity.at > until) return false
  const { caller: asked, ...terms } = equal
  const { principalId, caller } = activity
  if (asked !== undefined && asked !== principalId && asked !== caller.toLowerCase()) return false
  const own = termsOf(activity)
  // `Terms` has exactly these names.
  const isEqual = (Object.entries(terms) as [TermName, string][]).every(
    ([name, value]) => own[name] === value,
  )
  return isEqual && (matches === undefined || matches(activity))
}
