/** The condition that a column has one of many values. All values are one parameter. */

import { type Dialect, type Fragment, joined } from './fragment.ts'
import type { SqlWriter } from './sql.ts'

export function inList(
  dialect: Dialect,
  writer: SqlWriter,
  column: string,
  values: readonly string[],
): Fragment {
  const list = writer.parameter('text', JSON.stringify(values))
  return dialect === 'postgres'
    ? joined(`t0.${column} in (select json_array_elements_text(`, list, '::json))')
    : joined(`t0.${column} in (select value from json_each(`, list, '))')
}
