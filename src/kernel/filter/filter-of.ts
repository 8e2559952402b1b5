/** Turns a filter as a client writes it into a function of rows in memory. */

import { type ApiError, refuse } from '../error.ts'
import { compileFilter } from './evaluate.ts'
import type { FieldMap } from './field-map.ts'
import { parseFilter } from './parse.ts'
import { lenientProfile } from './profile.ts'

/** Without a filter every row matches. Throws a refusal for a filter that is wrong. */
export function filterOf<T>(
  text: string | null,
  fields: FieldMap<T>,
  refusal: (given: { readonly reason: string }) => ApiError = refuse.InvalidFilterInQueryString,
): (row: T) => boolean {
  if (text === null || text.trim() === '') return () => true
  const parsed = parseFilter(text, lenientProfile)
  if (!parsed.ok) throw refusal({ reason: parsed.message })
  const compiled = compileFilter(parsed.node, fields)
  if (!compiled.ok) throw refusal({ reason: compiled.message })
  return compiled.matches
}
