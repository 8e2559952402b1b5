/** The total order of a list, ties included. */

import type { Entry } from './entry.ts'
import type { LedgerQuery } from './query.ts'

/**
 * Entries that are equal in all terms are ordered like the index that would be read, so that pages continue in the
 * same way when a small result has grown.
 */
export function totalOrder(query: LedgerQuery): (a: Entry, b: Entry) => number {
  const [first] = query.order
  const date = query.order.find(({ field }) => field.path === 'properties/date')
  const isGrouped = first?.field.place.kind !== 'column'
  const descending = isGrouped ? (date?.descending ?? true) : first?.descending === true
  const sign = descending ? -1 : 1
  return (a, b) =>
    query.compare(a, b) ||
    (isGrouped ? sign * (a.row.date - b.row.date) : 0) ||
    sign * (a.row.id - b.row.id)
}
