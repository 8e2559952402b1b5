/**
 * Lists of extensions that are inherited (assignments): those above a scope from the root down, then those at and below
 * it in order of id. Each part is a range of keys, so a page costs the page; with a filter it looks at a bounded number
 * of rows.
 */

import { refuse } from '#kernel/error.ts'
import { scopeKeys, scopeOf } from '#kernel/resource-id.ts'
import { qualify, type VendorWords } from '#kernel/vendor.ts'
import type { Resource } from '#plane/declare/resource.ts'
import type { ListContext, ListPage } from '#plane/declare/wire.ts'
import type { AuthorizationLimits } from './limits.ts'

interface Listed<M> {
  /** `Authorization/roleAssignments`. The type's own `toModel` made its rows. */
  readonly type: string
  /** Leaves out what is below the scope. */
  readonly atScope: boolean
  /** The keys of all scopes that contain the list's scope; without it, those of its path. */
  readonly scopeKeys?: readonly string[]
  isWanted?(resource: Resource<M>): boolean
}

const rowsAtOnce = 500

export async function listAroundScope<M>(
  context: ListContext,
  limits: AuthorizationLimits,
  { type, atScope, isWanted, scopeKeys: above }: Listed<M>,
): Promise<ListPage<Resource<M>>> {
  const ranges = rangesOf(context, type, {
    atScope,
    scopes: above ?? scopeKeys(context.parent),
  })
  const items: Resource<M>[] = []
  let { range, after } = parseCursor(context.cursor, ranges.length)
  let budget = Math.max(limits.scanRowsMax, context.limit + 1)
  while (range < ranges.length) {
    const size = Math.min(budget, isWanted === undefined ? context.limit + 1 : rowsAtOnce)
    if (size <= 0) return { items, next: cursorOf(range, after) }
    const { under, exactly } = ranges[range] ?? { under: '/', exactly: undefined }
    const page = await context.reader.page({
      type,
      under,
      after: after === '' ? undefined : after,
      limit: size,
    })
    budget -= page.items.length
    for (const row of page.items as readonly Resource<M>[]) {
      // An assignment may be an extension of another assignment, whose key is in the same range.
      const inRange = exactly === undefined || scopeOf(row.id).key === exactly
      if (inRange && (isWanted?.(row) ?? true)) {
        // The first item that no longer fits shows that there is a next page.
        if (items.length === context.limit) return { items, next: cursorOf(range, after) }
        items.push(row)
      }
      after = row.id.key
    }
    if (page.next === undefined) {
      range += 1
      after = ''
    } else if (page.isShort === true) {
      // Each may have a hundred kilobytes: the page ends with the bytes that are read for it.
      return { items, next: cursorOf(range, after) }
    }
  }
  return { items }
}

/** The key prefix of all extensions of a type exactly at a scope. */
export function extensionsAt(words: VendorWords, type: string, scopeKey: string): string {
  return `${scopeKey === '/' ? '' : scopeKey}/providers/${qualify(words, type).toLowerCase()}`
}

/** The keys below `under`; with `exactly`, only those of extensions at that very scope. */
interface Range {
  readonly under: string
  readonly exactly: string | undefined
}

/** In the order of the list: each scope above, then the scope itself with or without what is below. */
function rangesOf(
  { words }: Pick<ListContext, 'words'>,
  type: string,
  { atScope, scopes }: { readonly atScope: boolean; readonly scopes: readonly string[] },
): readonly Range[] {
  return scopes.map((scopeKey, at) =>
    at === scopes.length - 1 && !atScope
      ? { under: scopeKey, exactly: undefined }
      : { under: extensionsAt(words, type, scopeKey), exactly: scopeKey },
  )
}

/** `{range}|{last key}`. The plane signs it, so a malformed one was made for another list. */
function cursorOf(range: number, after: string): string {
  return `${range}|${after}`
}

function parseCursor(cursor: string | undefined, ranges: number): { range: number; after: string } {
  if (cursor === undefined) return { range: 0, after: '' }
  const [, number, after] = /^(\d{1,3})\|(.*)$/s.exec(cursor) ?? []
  const range = Number(number)
  if (after === undefined || !(range < ranges)) throw refuse.InvalidContinuationToken()
  return { range, after }
}
