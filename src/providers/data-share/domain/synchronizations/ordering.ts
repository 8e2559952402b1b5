/** What a list of details may be ordered by, and which index has each order. */

import { type FieldMap, findByPath } from '#kernel/filter/field-map.ts'
import type { OrderTerm } from '#kernel/filter/order-by.ts'
import type { OrderKey } from '#query/keyset-page.ts'
import type { Dialect } from '#query/table.ts'
import {
  durationLast,
  type SortKey,
  type SortKeyName,
  sortKeys,
  sortText,
} from '../store/sort-keys.ts'
import type { Detail } from '../store/tables.ts'

const byName = new Map<string, SortKey>(sortKeys.map((one) => [one.name, one]))
const by = (name: SortKeyName): SortKey => {
  const key = byName.get(name)
  if (key === undefined) throw new Error('names are those of the table')
  return key
}

const keys: Readonly<Record<string, SortKey>> = {
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

export const orderedFields: readonly string[] = [...Object.keys(keys), 'vCore'].sort()

/** No index has it: it is sorted by where other fields follow. */
const vCoreText = `(case when started_at is null then 0 when ended_at is null then ${durationLast} else 1 + (ended_at - started_at - 1) / 60000 end)`

export const byPlace: readonly OrderKey[] = [{ type: 'whole', text: 'place', direction: 'asc' }]

/** The keys of an order, ending with the place; or the path that is not known. */
export function orderKeys(
  terms: readonly OrderTerm[],
  fields: FieldMap<Detail>,
  dialect: Dialect,
): readonly OrderKey[] | { readonly unknown: OrderTerm['path'] } {
  const order: OrderKey[] = []
  for (const [at, { path, direction }] of terms.entries()) {
    const isVCore = findByPath({ vCore: true }, path.segments, fields) === true
    const isLast = at === terms.length - 1
    // An order by duration is one by vCore too, and has an index.
    const key = isVCore ? keys['durationMs'] : findByPath(keys, path.segments, fields)
    if (key === undefined) return { unknown: path }
    const text = isVCore && !isLast ? vCoreText : sortText(key, dialect)
    if (!order.some((one) => one.text === text)) order.push({ type: key.type, text, direction })
  }
  // In the direction of the last term, so that one index is read one way.
  order.push({ type: 'whole', text: 'place', direction: order.at(-1)?.direction ?? 'asc' })
  return order
}
