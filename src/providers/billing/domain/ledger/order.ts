/** The order of a list to the last entry, ties included. */

import type { Entry } from './entry.ts'
import type { Question } from './question.ts'

/**
 * What ties by all terms has an order too, the one of the index that would be walked, so that pages go on alike
 * when what was few has become much.
 */
export function totalOrder(question: Question): (a: Entry, b: Entry) => number {
  const [first] = question.order
  const date = question.order.find(({ field }) => field.path === 'properties/date')
  const isGrouped = first?.field.place.kind !== 'column'
  const descending = isGrouped ? (date?.descending ?? true) : first?.descending === true
  const sign = descending ? -1 : 1
  return (a, b) =>
    question.compare(a, b) ||
    (isGrouped ? sign * (a.row.date - b.row.date) : 0) ||
    sign * (a.row.id - b.row.id)
}
