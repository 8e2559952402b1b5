/**
 * The list of a scope (facts 2.2): assignments above it from the root down, then those at and below it in
 * order of id. Each part is a range of keys, so a page costs the page; a filter on principals looks at a
 * bounded number of rows and may give a short page with a next link.
 */

import { refuse } from '#kernel/error.ts'
import type { Directory } from '#kernel/principal.ts'
import { scopeKeys, scopeOf } from '#kernel/resource-id.ts'
import type { Resource } from '#plane/declare/resource.ts'
import type { ListContext, ListPage } from '#plane/declare/wire.ts'
import { type AssignmentFilter, parseAssignmentFilter } from '../../domain/filters.ts'
import type { AuthorizationLimits } from '../../domain/limits.ts'
import { refuseAuthorization } from '../../errors.ts'
import { assignmentsAt, type RoleAssignment } from './model.ts'

const rowsAtOnce = 500

export async function listAssignments(
  context: ListContext,
  directory: Directory,
  limits: AuthorizationLimits,
): Promise<ListPage<Resource<RoleAssignment>>> {
  const filter = parseAssignmentFilter(context.query.get('$filter') ?? '')
  const principals = await principalsOf(filter, directory)
  const ranges = rangesOf(context, filter)
  const items: Resource<RoleAssignment>[] = []
  let { range, after } = parseCursor(context.cursor, ranges.length)
  let budget = Math.max(limits.scanRowsMax, context.limit + 1)
  while (range < ranges.length) {
    const size = Math.min(budget, principals === undefined ? context.limit + 1 : rowsAtOnce)
    if (size <= 0) return { items, next: cursorOf(range, after) }
    const { under, exactly } = ranges[range] ?? { under: '/', exactly: undefined }
    const rows = await context.reader.list({
      type: 'Authorization/roleAssignments',
      under,
      ...(after === '' ? {} : { after }),
      limit: size,
    })
    budget -= rows.length
    for (const row of rows) {
      // Rows of this type were made by its `toModel`.
      const assignment = row as Resource<RoleAssignment>
      // An assignment may hang on another assignment, whose key then lies in the same range.
      const inRange = exactly === undefined || scopeOf(row.id).key === exactly
      if (inRange && (principals?.has(assignment.model.principalId) ?? true)) {
        // The first one that no longer fits proves that there is a next page.
        if (items.length === context.limit) return { items, next: cursorOf(range, after) }
        items.push(assignment)
      }
      after = row.id.key
    }
    if (rows.length < size) {
      range += 1
      after = ''
    }
  }
  return { items }
}

/** The keys below `under`; with `exactly`, only assignments made at that very scope. */
interface Range {
  readonly under: string
  readonly exactly: string | undefined
}

/** In the order of the list: each scope above, then the scope itself with or without what is below. */
function rangesOf(context: ListContext, filter: AssignmentFilter): readonly Range[] {
  const scopes = scopeKeys(context.parent)
  return scopes.map((scopeKey, at) =>
    at === scopes.length - 1 && !filter.atScope
      ? { under: scopeKey, exactly: undefined }
      : { under: assignmentsAt(context.words, scopeKey), exactly: scopeKey },
  )
}

async function principalsOf(
  filter: AssignmentFilter,
  directory: Directory,
): Promise<ReadonlySet<string> | undefined> {
  const { principal } = filter
  if (principal === undefined) return undefined
  if (!principal.inherited) return new Set([principal.id])
  const found = await directory.find(principal.id)
  if (found?.type === 'Group') {
    const reason = 'assignedTo() takes a user or a service principal, not a group'
    throw refuseAuthorization.InvalidFilter({ reason })
  }
  return new Set([principal.id, ...(await directory.groupsOf(principal.id))])
}

/** `{range}|{last key}`: signed by the plane, so a malformed one was made for another list. */
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
