/** A page of runs, newest first; filtered ones may come back short. Ordered ones are those of one bounded reading. */

import { compileOrderBy } from '#kernel/filter/order-by.ts'
import { acceptedOf } from '#plane/next-turn.ts'
import { boundedPage } from '#query/bounded-page.ts'
import { cursorOf, type KeysetRange, readRange } from '#query/keyset-page.ts'
import { composer } from '#query/statement.ts'
import type { Sql } from '#stores/store.ts'
import { type Run, runs } from '../store/tables.ts'
import {
  type ListPage,
  type ListQuery,
  orderTerms,
  pageOf,
  parseCursor,
  predicateOf,
  refused,
} from './list-query.ts'
import { runFields } from './records.ts'

const rowsReadMax = 5000
const rowsAtOnce = 500

export async function listRuns(
  sql: Sql,
  by: 'subscription' | 'share',
  key: string,
  { query, cursor, pageSize, now }: ListQuery,
): Promise<ListPage<Run>> {
  const fields = runFields(now)
  const predicate = predicateOf(query, fields)
  const terms = orderTerms(query)
  const composing = await composer()
  const range: KeysetRange = {
    table: runs.name,
    where: [composing.sql`${composing.sql.ref(`${by}_key`)} = ${key}`],
    order: [
      { type: 'whole', text: 'started_at', direction: 'desc' },
      { type: 'text', text: 'id', direction: 'desc' },
    ],
  }
  const matches = predicate === undefined ? () => true : predicate.matches
  if (terms.length > 0) {
    const compiled = compileOrderBy(terms, fields)
    if (!compiled.ok) throw refused('$orderby', compiled.message)
    const { rows } = await readRange(composing, sql, range, { limit: rowsReadMax })
    const all = await acceptedOf(rows.map(runs.row), matches)
    all.sort(compiled.compare)
    const from = Number(parseCursor(cursor)?.[0] ?? 0)
    const to = from + pageSize
    return pageOf(all.slice(from, to), to < all.length ? [to] : undefined)
  }
  const { items, next } = await boundedPage({
    after: parseCursor(cursor),
    pageSize,
    rowsMax: predicate === undefined ? pageSize + 1 : rowsReadMax,
    rowsAtOnce: (missing) => (predicate === undefined ? missing : rowsAtOnce),
    read: (after, limit) => readRange(composing, sql, range, { after, limit }),
    cursorOf: (row) => cursorOf(range.order, row),
    async show(rows) {
      const all = rows.map(runs.row)
      const shown = new Set(await acceptedOf(all, matches))
      return all.map((run) => (shown.has(run) ? run : undefined))
    },
  })
  return pageOf(items, next)
}
