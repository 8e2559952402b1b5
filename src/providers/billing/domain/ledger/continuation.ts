/** The position from which a page continues: after an entry. Entries never change, so naming the entry suffices. */

import { refuse } from '#kernel/error.ts'
import { entriesOf } from './entries.ts'
import type { Entry, Row } from './entry.ts'
import type { EntryPage, LedgerDependencies, PageRequest } from './page.ts'
import type { LedgerQuery } from './query.ts'
import { entryColumns, type Position, rowOf } from './scan.ts'

/** A position after an entry, in a group of dimensions, with a number of entries still to be skipped. */
export interface Continuation {
  /** The row of the entry. Its shared part is the group's, which may differ from the row's. */
  readonly last: Entry
  readonly skip: number
  /** All entries that equal this one in so many terms are still to come, this one included. */
  readonly ties: number | undefined
}

export function continuation(row: Row | Position, group?: Entry, skip = 0): string {
  const place = group === undefined ? [] : [group.statement.id, group.row.dimensionId]
  return [row.id, skip, ...place].join('|')
}

/** Like `continuation`, before all entries that equal one in so many terms. */
export function continuationBefore(
  ties: number,
  position: Position,
  group: Entry | undefined,
  skip: number,
): string {
  return `${ties}t${continuation(position, group, skip)}`
}

/** Whether an entry is on the remaining pages. */
export function isAhead(
  { last, ties }: Continuation,
  query: LedgerQuery,
  compare: (a: Entry, b: Entry) => number,
): (entry: Entry) => boolean {
  if (ties === undefined) return (entry) => compare(entry, last) > 0
  return (entry) => query.compareFirst(ties, entry, last) >= 0
}

/** The plane signed the cursor, so one that names nothing here belongs to another list. */
export async function continued(
  deps: LedgerDependencies,
  { cursor, statements }: PageRequest,
): Promise<Continuation | undefined> {
  if (cursor === undefined) return undefined
  const mark = cursor.indexOf('t')
  const ties = mark < 0 ? undefined : Number(cursor.slice(0, mark))
  const place = cursor.slice(mark + 1)
  const [id = 0, skip = 0, statementId, dimensionId] = place.split('|').map(Number)
  const [found] = await deps.sql.all(`select ${entryColumns} from billing_entries where id = ?`, id)
  if (found === undefined) throw refuse.InvalidContinuationToken()
  const row = rowOf(found)
  const group = {
    statementId: statementId ?? row.statementId,
    dimensionId: dimensionId ?? row.dimensionId,
  }
  const statement = statements.find((one) => one.id === group.statementId)
  if (statement === undefined) throw refuse.InvalidContinuationToken()
  const known = new Map([[statement.id, statement]])
  const [last] = await entriesOf(deps, [{ ...row, ...group }], known)
  return last && { last, skip, ties }
}

export function ended(found: readonly Entry[], limit: number): EntryPage {
  const entries = found.slice(0, limit)
  const next = entries.at(-1)
  return { entries, ...(next === undefined ? {} : { next: continuation(next.row) }) }
}
