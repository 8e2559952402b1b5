/**
 * Orders of details in the store: what each field is sorted by, and where a page goes on. Keys are never null, so
 * that a page begins at a place in an index, however far into the list it is; ties are told apart by the place.
 */

import { type FieldMap, findByPath } from '#kernel/filter/field-map.ts'
import type { OrderTerm } from '#kernel/filter/order-by.ts'
import type { Sql, SqlRow, SqlValue } from '#stores/store.ts'
import type { Detail } from '../ledger/runs.ts'
import {
  durationLast,
  type SortKey,
  type SortKeyName,
  sortKeys,
  sortText,
} from '../ledger/sort-keys.ts'

const byName = new Map<string, SortKey>(sortKeys.map((one) => [one.name, one]))
const by = (name: SortKeyName): SortKey => {
  const key = byName.get(name)
  if (key === undefined) throw new Error('names are those of the table')
  return key
}

export const keys: Readonly<Record<string, SortKey>> = {
  dataSetId: by('data_set_id'),
  dataSetType: by('data_set_type'),
  name: by('name'),
  status: by('status'),
  message: by('by_message'),
  startTime: by('by_start'),
  endTime: by('by_end'),
  durationMs: by('by_duration'),
  filesRead: by('files_read'),
  filesWritten: by('files_written'),
  rowsRead: by('by_rows_read'),
  rowsCopied: by('by_rows_copied'),
  sizeRead: by('by_size_read'),
  sizeWritten: by('by_size_written'),
}

/** Not sorted by an index, where others follow. */
const vCoreText = `(case when started_at is null then 0 when ended_at is null then ${durationLast} else 1 + (ended_at - started_at - 1) / 60000 end)`

export interface Sorted extends Pick<SortKey, 'type'> {
  readonly text: string
  readonly direction: 'asc' | 'desc'
}

export interface Bound {
  readonly text: string
  readonly values: readonly SqlValue[]
}

export interface Ordering {
  /** The fields in their order, and the place. */
  readonly terms: readonly Sorted[]
  /** What to select besides the row for going on after it. */
  readonly selected: string
  readonly orderBy: string
  /** The condition of rows behind a cursor. */
  after(cursor: readonly SqlValue[]): Bound
  /** The condition of rows up to one and with it. Of orders of one field. */
  upTo(cursor: readonly SqlValue[]): Bound
  cursorOf(row: SqlRow): readonly SqlValue[]
}

/** The path that is not known, or the order. */
export function orderingOf(
  terms: readonly OrderTerm[],
  fields: FieldMap<Detail>,
  dialect: Sql['dialect'],
): Ordering | { readonly unknown: OrderTerm['path'] } {
  const sorted: Sorted[] = []
  for (const [at, { path, direction }] of terms.entries()) {
    const isVCore = findByPath({ vCore: true }, path.segments, fields) === true
    const isLast = at === terms.length - 1
    // Ordered by duration they are ordered by vCore too, and for that there is an index.
    const key = isVCore ? keys['durationMs'] : findByPath(keys, path.segments, fields)
    if (key === undefined) return { unknown: path }
    const text = isVCore && !isLast ? vCoreText : sortText(key, dialect)
    if (!sorted.some((one) => one.text === text)) sorted.push({ type: key.type, text, direction })
  }
  // In the direction of the last term, so that one index is walked one way.
  sorted.push({ type: 'whole', text: 'place', direction: sorted.at(-1)?.direction ?? 'asc' })
  return {
    terms: sorted,
    selected: sorted.map(({ text }, at) => `${text} as key_${at}`).join(', '),
    orderBy: sorted.map(({ text, direction }) => `${text} ${direction}`).join(', '),
    after: (cursor) => behind(sorted, cursor),
    upTo: (cursor) => {
      const bound = asRow(sorted, cursor, { asc: '<=', desc: '>=' })
      if (bound === undefined) throw new Error('a field and its place have one direction')
      return bound
    },
    cursorOf: (row) =>
      sorted.map(({ type }, at) => {
        const value = row[`key_${at}`]
        return type === 'whole' ? Number(value) : String(value)
      }),
  }
}

/** One comparison of rows, which is where an index is entered; undefined where directions are mixed. */
function asRow(
  sorted: readonly Sorted[],
  cursor: readonly SqlValue[],
  signs: Readonly<Record<Sorted['direction'], string>>,
): Bound | undefined {
  const [first] = sorted
  if (first === undefined || sorted.some((one) => one.direction !== first.direction)) {
    return undefined
  }
  const row = sorted.map(({ text }) => text).join(', ')
  const places = sorted.map(() => '?').join(', ')
  return { text: `(${row}) ${signs[first.direction]} (${places})`, values: cursor }
}

/** The condition of rows behind a cursor. */
export function behind(sorted: readonly Sorted[], cursor: readonly SqlValue[]): Bound {
  const whole = asRow(sorted, cursor, { asc: '>', desc: '<' })
  if (whole !== undefined) return whole
  const [first] = sorted
  const sign = (one: Sorted): string => (one.direction === 'asc' ? '>' : '<')
  const parts: string[] = []
  const values: SqlValue[] = []
  for (const [at, one] of sorted.entries()) {
    const same = sorted.slice(0, at).map(({ text }) => `${text} = ?`)
    parts.push([...same, `${one.text} ${sign(one)} ?`].join(' and '))
    values.push(...cursor.slice(0, at + 1))
  }
  const bound = first === undefined ? '1 = 1' : `${first.text} ${sign(first)}= ?`
  return {
    text: `${bound} and (${parts.map((one) => `(${one})`).join(' or ')})`,
    values: [cursor[0] ?? null, ...values],
  }
}
