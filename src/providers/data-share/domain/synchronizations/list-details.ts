/**
 * A page of details: wherever it begins, it costs the page. With a filter a bounded number of rows is looked at, by
 * the store as far as it can, and the page may come back short.
 */

import type { FieldMap } from '#kernel/filter/field-map.ts'
import { pathsOf } from '#kernel/filter/rows.ts'
import { freeTurn } from '#plane/next-turn.ts'
import { boundedPage } from '#query/bounded-page.ts'
import {
  type Cursor,
  cursorOf,
  type KeysetRange,
  readRange,
  readWindow,
} from '#query/keyset-page.ts'
import { preferIndexes, readPartialOrder } from '#query/partial-order-page.ts'
import type { FilterColumns } from '#query/predicate.ts'
import { composer, type Reader } from '#query/statement.ts'
import type { Sql } from '#stores/store.ts'
import { type Detail, details, toDetail } from '../store/tables.ts'
import {
  type ListPage,
  type ListQuery,
  orderTerms,
  pageOf,
  parseCursor,
  predicateOf,
  refused,
} from './list-query.ts'
import { byPlace, orderedFields, orderKeys } from './ordering.ts'
import { detailFields } from './records.ts'

/** Rows looked at for one page, by the store itself: in the order of places, and in another one. */
const windowRows = 5000
const windowRowsOrdered = 500
/** A filter that reads more fields than this looks at fewer rows, as each takes as much longer. */
const usualFields = 8
/** Rows read for one page where they are looked at here, and how many at once. */
const rowsReadMax = 2000
const rowsAtOnce = 500

const columns: FilterColumns = {
  dataSetId: { kind: 'word', text: 'data_set_id' },
  dataSetType: { kind: 'word', text: 'data_set_type' },
  name: { kind: 'word', text: 'name' },
  status: { kind: 'word', text: 'status' },
  message: { kind: 'presence', text: 'message' },
  startTime: { kind: 'moment', text: 'started_at' },
  endTime: { kind: 'moment', text: 'ended_at' },
  filesRead: { kind: 'whole', text: 'files_read' },
  filesWritten: { kind: 'whole', text: 'files_written' },
  rowsRead: { kind: 'whole', text: '(rows_read + live_rows_read)' },
  rowsCopied: { kind: 'whole', text: '(rows_copied + live_rows_copied)' },
  sizeRead: { kind: 'whole', text: '(size_read + live_size_read)' },
  sizeWritten: { kind: 'whole', text: '(size_written + live_size_written)' },
}

export async function listDetails(
  sql: Sql,
  runId: string,
  query: ListQuery,
): Promise<ListPage<Detail>> {
  const fields = detailFields(query.now)
  const predicate = predicateOf(query.query, fields, columns)
  const order = orderOf(sql, query.query, fields)
  const composing = await composer()
  const range: KeysetRange = {
    table: details.name,
    where: [composing.sql`run_id = ${runId}`],
    order: order ?? byPlace,
    isDense: order === undefined,
  }
  // The rows of an order of several fields are found group by group, and looked at here.
  const isPartial = range.order.length > 2
  const condition = isPartial ? undefined : predicate?.condition(composing.sql)

  async function page(reader: Reader): Promise<ListPage<Detail>> {
    const { items, next } = await boundedPage({
      after: parseCursor(query.cursor),
      pageSize: query.pageSize,
      ...budget(),
      read: (after, limit) => read(reader, after, limit),
      cursorOf: (row) => cursorOf(range.order, row),
      async show(rows) {
        const shown: (Detail | undefined)[] = []
        for (const row of rows) {
          await freeTurn()
          const detail = toDetail(row)
          const isShown = predicate === undefined || predicate.matches(detail)
          shown.push(isShown ? detail : undefined)
        }
        return shown
      },
    })
    return pageOf(items, next)
  }

  function budget() {
    const shown = query.pageSize + 1
    if (predicate === undefined || condition !== undefined) {
      return { rowsMax: shown, readsMax: 1, rowsAtOnce: () => shown }
    }
    return { rowsMax: order === undefined ? rowsReadMax : rowsAtOnce, rowsAtOnce: () => rowsAtOnce }
  }

  function read(reader: Reader, after: Cursor | undefined, limit: number) {
    if (isPartial) return readPartialOrder(composing, reader, range, { after, limit })
    if (condition === undefined) return readRange(composing, reader, range, { after, limit })
    const most = order === undefined ? windowRows : windowRowsOrdered
    const fields = predicate === undefined ? 0 : pathsOf(predicate.node).length
    const window = Math.ceil((most * usualFields) / Math.max(usualFields, fields))
    return readWindow(composing, reader, range, { after, condition, window, limit })
  }

  return order === undefined && predicate === undefined ? page(sql) : preferIndexes(sql, page)
}

function orderOf(sql: Sql, query: URLSearchParams, fields: FieldMap<Detail>) {
  const terms = orderTerms(query)
  if (terms.length === 0) return undefined
  const order = orderKeys(terms, fields, sql.dialect)
  if (!('unknown' in order)) return order
  const known = orderedFields.join(', ')
  throw refused('$orderby', `at position ${order.unknown.position}: expected a field of ${known}`)
}
