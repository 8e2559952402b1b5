/**
 * `$filter` of the activity log. Its terms that name a time, a resource, a group, a provider, a correlation id or a
 * caller decide which part of the trail is looked at; all of it is asked of each record as well.
 */

import { type Terms, termsOf as termsOfActivity } from '#activity/blocks.ts'
import type { ActivityQuery, StoredActivity } from '#activity/stored-activity.ts'
import { refuse } from '#kernel/error.ts'
import { compileFilter } from '#kernel/filter/evaluate.ts'
import { type Field, type FieldMap, fieldsOfRows } from '#kernel/filter/field-map.ts'
import { parseAnyMoment } from '#kernel/filter/moments.ts'
import type { BinaryNode, FilterNode } from '#kernel/filter/nodes.ts'
import { parseFilter } from '#kernel/filter/parse.ts'
import { lenientProfile } from '#kernel/filter/profile.ts'
import { termsOf } from '#kernel/filter/rows.ts'
import { categoryOf, levelOf, resourceTypeOf } from './activity-event.ts'

const text = (read: (item: StoredActivity) => unknown): Field<StoredActivity> => ({
  type: 'string',
  ignoreCase: true,
  read,
})

const fields: FieldMap<StoredActivity> = {
  lenient: true,
  fields: {
    eventTimestamp: { type: 'dateTime', read: ({ at }) => new Date(at) },
    resourceGroupName: text((item) => termsOfActivity(item).group?.split('/').at(-1)),
    resourceProvider: text((item) => termsOfActivity(item).provider),
    resourceProviderName: text((item) => termsOfActivity(item).provider),
    resourceType: text(resourceTypeOf),
    resourceUri: text(({ key }) => key),
    resourceId: text(({ key }) => key),
    subscriptionId: text(({ subscription }) => subscription),
    correlationId: text(({ correlationId }) => correlationId),
    operationId: text(({ operationId }) => operationId),
    operationName: text(({ action }) => action),
    status: text(({ status }) => status),
    level: text(levelOf),
    levels: text(levelOf),
    category: text(categoryOf),
    ...fieldsOfRows<StoredActivity, string>(
      { of: ({ principalId, caller }) => [principalId, caller], together: false },
      { caller: { type: 'string', ignoreCase: true, read: (one) => one } },
    ),
  },
}

/** Throws `InvalidQueryParameter` with the position of what is wrong. */
export function parseActivityFilter(
  filter: string | null,
  subscription: string | undefined,
): ActivityQuery {
  const scope = subscription === undefined ? {} : { subscription }
  if (filter === null || filter.trim() === '') return { equal: scope }
  const parsed = parseFilter(withQuotes(filter), lenientProfile)
  if (!parsed.ok) throw invalid(parsed.message)
  const terms = termsOf(parsed.node).filter((term) => !isChannels(term))
  const [first, ...others] = terms
  if (first === undefined) return { equal: scope }
  const node = others.reduce(joined, first)
  const compiled = compileFilter(node, fields)
  if (!compiled.ok) throw invalid(compiled.message)
  return {
    equal: Object.assign(
      {},
      ...terms.map((term) => equalityOf(term, subscription)),
      scope,
    ) as Terms,
    ...bounds(terms),
    matches: compiled.matches,
  }
}

/** A published command line writes the namespace of a provider without quotes: `resourceProvider eq A.B`. */
function withQuotes(filter: string): string {
  return filter.replace(
    /'(?:[^']|'')*'|(\bresourceProvider\s+eq\s+)([A-Za-z][\w.]*)/gi,
    (found, before?: string, name?: string) => (name === undefined ? found : `${before}'${name}'`),
  )
}

function invalid(reason: string): Error {
  return refuse.InvalidQueryParameter({ name: '$filter', reason })
}

function joined(left: FilterNode, right: FilterNode): FilterNode {
  return { kind: 'binary', operator: 'and', left, right, position: right.position }
}

interface Comparison {
  readonly operator: BinaryNode['operator']
  readonly name: string
  readonly value: string
}

/** `name operator 'value'`, as all published patterns are. */
function comparisonOf(node: FilterNode): Comparison | undefined {
  if (node.kind !== 'binary' || node.left.kind !== 'path' || node.right.kind !== 'literal') {
    return undefined
  }
  const { literal } = node.right
  const value = 'text' in literal ? literal.text : 'value' in literal ? String(literal.value) : ''
  return { operator: node.operator, name: node.left.segments.join('/').toLowerCase(), value }
}

/** Every record is of the channels there are: the term is published, and says nothing here. */
function isChannels(node: FilterNode): boolean {
  return comparisonOf(node)?.name === 'eventchannels'
}

function equalityOf(node: FilterNode, subscription: string | undefined): Terms {
  const found = comparisonOf(node)
  if (found?.operator !== 'eq') return {}
  const value = found.value.toLowerCase()
  switch (found.name) {
    case 'resourceuri':
    case 'resourceid':
      return { key: value }
    case 'resourceprovider':
    case 'resourceprovidername':
      return { provider: value }
    case 'resourcegroupname':
      return subscription === undefined
        ? {}
        : { group: `/subscriptions/${subscription}/resourcegroups/${value}` }
    case 'caller':
      return { caller: value }
    case 'correlationid':
      // Stored as the client sent it.
      return found.value === value ? { correlation: value } : {}
    default:
      return {}
  }
}

function bounds(terms: readonly FilterNode[]): Pick<ActivityQuery, 'from' | 'until'> {
  let from: number | undefined
  let until: number | undefined
  for (const term of terms) {
    const found = comparisonOf(term)
    const moment = found?.name === 'eventtimestamp' ? parseAnyMoment(found.value) : undefined
    if (found === undefined || moment === undefined) continue
    if (found.operator === 'ge' || found.operator === 'gt') from = Math.max(from ?? 0, moment)
    if (found.operator === 'le' || found.operator === 'lt') {
      until = Math.min(until ?? Number.MAX_SAFE_INTEGER, moment)
    }
  }
  return {
    ...(from === undefined ? {} : { from }),
    ...(until === undefined ? {} : { until }),
  }
}
