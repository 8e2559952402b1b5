/** A page of runs, newest first; filtered ones may come back short. Ordered ones are those of one bounded reading. */

import { compileOrderBy } from '#kernel/filter/order-by.ts'
import { refuseShare } from '../errors.ts'
import type { Run, Runs } from '../ledger/runs.ts'
import { filterOf, orderTerms, type Page, type Question } from './list-details.ts'
import { runFields } from './records.ts'

const scannedMax = 5000

export async function listRuns(
  runs: Runs,
  by: 'subscription' | 'share',
  key: string,
  question: Question,
): Promise<Page<Run>> {
  const fields = runFields(question.now)
  const matches = filterOf(question.query, fields) ?? (() => true)
  const terms = orderTerms(question.query)
  if (terms.length > 0) {
    const compiled = compileOrderBy(terms, fields)
    if (!compiled.ok) {
      throw refuseShare.InvalidFilter({ parameter: '$orderby', reason: compiled.message })
    }
    const all = (await runs.list(by, key, undefined, scannedMax)).filter(matches)
    all.sort(compiled.compare)
    const from = Number(question.cursor ?? 0)
    const to = from + question.pageSize
    return { items: all.slice(from, to), ...(to < all.length ? { next: String(to) } : {}) }
  }
  const after = cursorOf(question.cursor)
  const rows = await runs.list(by, key, after, scannedMax)
  const items: Run[] = []
  for (const run of rows) {
    if (items.length === question.pageSize) {
      const last = items.at(-1)
      return { items, ...(last === undefined ? {} : { next: `${last.startedAt} ${last.id}` }) }
    }
    if (matches(run)) items.push(run)
  }
  const last = rows.at(-1)
  const more = rows.length === scannedMax && last !== undefined
  return { items, ...(more ? { next: `${last.startedAt} ${last.id}` } : {}) }
}

function cursorOf(cursor: string | undefined): Pick<Run, 'startedAt' | 'id'> | undefined {
  if (cursor === undefined) return undefined
  const [startedAt = '0', id = ''] = cursor.split(' ')
  return { startedAt: Number(startedAt), id }
}
