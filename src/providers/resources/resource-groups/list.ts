/** The groups of a subscription, also filtered by one tag (facts 9.8). */

import { refuse } from '#kernel/error.ts'
import { compileFilter } from '#kernel/filter/evaluate.ts'
import { type FieldMap, fieldsOfRows } from '#kernel/filter/field-map.ts'
import { parseFilter } from '#kernel/filter/parse.ts'
import { lenientProfile } from '#kernel/filter/profile.ts'
import type { ListContext, ListPage, Resource } from '#plane/define.ts'
import { scanPage } from '../scan-page.ts'
import type { ResourceGroup } from './model.ts'

type Group = Resource<ResourceGroup>

const fields: FieldMap<Group> = {
  fields: fieldsOfRows(
    { of: (group: Group) => Object.entries(group.tags ?? {}), together: true },
    {
      tagName: { type: 'string', read: ([name]: [string, string]) => name, ignoreCase: true },
      tagValue: { type: 'string', read: ([, value]: [string, string]) => value },
    },
  ),
  lenient: true,
}

export function listGroups(context: ListContext, scanRowsMax: number): Promise<ListPage<Group>> {
  const matches = predicateOf(context.query.get('$filter') ?? '')
  return scanPage<Group>({
    async read(after, limit) {
      const rows = await context.reader.list({
        type: 'Resources/subscriptions/resourceGroups',
        under: context.parent,
        ...(after === undefined ? {} : { after }),
        limit,
      })
      const last = rows.at(-1)
      return {
        // Rows of this type were made by its `toModel`.
        rows: rows as readonly Group[],
        ...(rows.length === limit && last !== undefined ? { next: last.id.key } : {}),
      }
    },
    keyOf: (group) => group.id.key,
    accepts: matches,
    limit: context.limit,
    cursor: context.cursor,
    scanRowsMax,
  })
}

function predicateOf(text: string): (group: Group) => boolean {
  if (text.trim() === '') return () => true
  const parsed = parseFilter(text, lenientProfile)
  if (!parsed.ok) throw refuse.InvalidFilterInQueryString({ reason: parsed.message })
  const compiled = compileFilter(parsed.node, fields)
  if (!compiled.ok) throw refuse.InvalidFilterInQueryString({ reason: compiled.message })
  return compiled.matches
}
