/** A page of a short list that is computed as a whole. The cursor is the number of items shown before. */

import { refuse } from '#kernel/error.ts'
import type { ListContext, ListPage } from '#plane/declare/wire.ts'

export function pageOfArray<T>(
  all: readonly T[],
  { cursor, limit }: Pick<ListContext, 'cursor' | 'limit'>,
): ListPage<T> {
  const from = cursor === undefined ? 0 : Number(cursor)
  if (!Number.isSafeInteger(from) || from < 0) throw refuse.InvalidContinuationToken()
  const to = from + limit
  return {
    items: all.slice(from, to),
    ...(to < all.length ? { next: String(to) } : {}),
  }
}
