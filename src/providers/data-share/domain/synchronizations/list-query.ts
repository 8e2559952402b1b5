/** What a list of synchronizations is asked: its page, `$filter` and `$orderby`. Throws `InvalidFilter`. */

import type { FieldMap } from '#kernel/filter/field-map.ts'
import { type OrderTerm, parseOrderBy } from '#kernel/filter/order-by.ts'
import { lenientProfile } from '#kernel/filter/profile.ts'
import type { Cursor } from '#query/keyset-page.ts'
import { type FilterColumns, type Predicate, parsePredicate } from '#query/predicate.ts'
import { refuseShare } from '../../errors.ts'

export interface ListQuery {
  readonly query: URLSearchParams
  readonly cursor: string | undefined
  readonly pageSize: number
  readonly now: number
}

export interface ListPage<T> {
  readonly items: readonly T[]
  readonly next?: string
}

/** What these lists take in their query. */
export const listWords = ['$filter', '$orderby', '$top', '$skipToken']

export function predicateOf<T>(
  query: URLSearchParams,
  fields: FieldMap<T>,
  columns: FilterColumns = {},
): Predicate<T> | undefined {
  const text = parameter(query, '$filter')
  if (text === undefined) return undefined
  const predicate = parsePredicate(text, fields, columns)
  if (!predicate.ok) throw refused('$filter', predicate.message)
  return predicate
}

export function orderTerms(query: URLSearchParams): readonly OrderTerm[] {
  const text = parameter(query, '$orderby')
  if (text === undefined) return []
  const parsed = parseOrderBy(text, lenientProfile)
  if (!parsed.ok) throw refused('$orderby', parsed.message)
  return parsed.terms
}

/** The plane signs cursors and checks them, so this one was made here; an earlier release made others. */
export function parseCursor(text: string | undefined): Cursor | undefined {
  if (text === undefined) return undefined
  if (!text.startsWith('[')) throw refused('$skipToken', 'it is of an earlier release')
  return JSON.parse(text) as Cursor
}

export function pageOf<T>(items: readonly T[], next: Cursor | undefined): ListPage<T> {
  return next === undefined ? { items } : { items, next: JSON.stringify(next) }
}

function parameter(query: URLSearchParams, name: string): string | undefined {
  for (const [key, value] of query) {
    if (key.toLowerCase() === name && value.trim() !== '') return value
  }
  return undefined
}

export function refused(parameter: string, reason: string): Error {
  return refuseShare.InvalidFilter({ parameter, reason })
}
