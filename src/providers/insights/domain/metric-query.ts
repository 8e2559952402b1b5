/** Reads what is asked of metrics: which, of when, in which steps, and how they are summed up. */

import { refuse } from '#kernel/error.ts'
import { parseAnyMoment, parseDuration } from '#kernel/filter/moments.ts'
import type { Metric } from '#kernel/metrics.ts'

/** The published steps, in milliseconds. */
export const grains: Readonly<Record<string, number>> = {
  PT1M: 60_000,
  PT5M: 300_000,
  PT15M: 900_000,
  PT30M: 1_800_000,
  PT1H: 3_600_000,
}

export const aggregations = ['average', 'minimum', 'maximum', 'total', 'count'] as const
export type Aggregation = (typeof aggregations)[number]

export interface MetricQuery {
  readonly metrics: readonly Metric[]
  readonly from: number
  readonly until: number
  /** `PT1M` */
  readonly interval: string
  readonly aggregations: readonly Aggregation[]
  /** Asks for the series of one value of the dimension, or with `*` for each by itself; all in one if left out. */
  readonly of?: string
}

/** Throws `InvalidQueryParameter`. */
export function parseMetricQuery(
  query: URLSearchParams,
  known: readonly Metric[],
  now: number,
): MetricQuery {
  const metrics = namedMetrics(query.get('metricnames'), known)
  const of = readFilter(query.get('$filter'), metrics)
  return {
    metrics,
    ...timespan(query.get('timespan'), now),
    interval: interval(query.get('interval')),
    aggregations: readAggregations(query.get('aggregation')),
    ...(of === undefined ? {} : { of }),
  }
}

/** The first one where none is named. Each once, in however many spellings. */
function namedMetrics(text: string | null, known: readonly Metric[]): readonly Metric[] {
  if (text === null || text.trim() === '') return known.slice(0, 1)
  const found = listOf(text).map((word) => {
    const found = known.find(({ name }) => name.toLowerCase() === word.toLowerCase())
    if (found !== undefined) return found
    const names = known.map(({ name }) => name).join(', ')
    throw invalid(
      'metricnames',
      `there is no metric '${word}' of this resource; ${names === '' ? 'nothing is measured of it' : `there are: ${names}`}`,
    )
  })
  return [...new Set(found)]
}

const hour = 3_600_000

/** `{start}/{end}`, or a length of time up to now; the last hour when left out. */
function timespan(
  text: string | null,
  now: number,
): { readonly from: number; readonly until: number } {
  if (text === null || text === '') return { from: now - hour, until: now }
  const [first = '', second] = text.split('/')
  if (second === undefined) {
    const length = parseDuration(first)
    if (length !== undefined && length > 0) return { from: now - length, until: now }
  } else {
    const [from, until] = [parseAnyMoment(first), parseAnyMoment(second)]
    if (from !== undefined && until !== undefined && from < until) return { from, until }
  }
  throw invalid('timespan', 'it is a start and a later end, `{start}/{end}`, or a length like PT1H')
}

function interval(text: string | null): string {
  const found = (text ?? '') === '' ? 'PT1M' : (text ?? '').toUpperCase()
  if (Object.hasOwn(grains, found)) return found
  throw invalid('interval', `it is one of ${Object.keys(grains).join(', ')}`)
}

function readAggregations(text: string | null): readonly Aggregation[] {
  if (text === null || text.trim() === '') return ['average']
  const named = listOf(text).map((word) => {
    const found = aggregations.find((one) => one === word.toLowerCase())
    if (found !== undefined) return found
    throw invalid('aggregation', `it is one or more of ${aggregations.join(', ')}`)
  })
  return [...new Set(named)]
}

const filterPattern = /^\s*(\w+)\s+eq\s+'((?:[^']|'')*)'\s*$/

function readFilter(text: string | null, metrics: readonly Metric[]): string | undefined {
  if (text === null || text.trim() === '') return undefined
  const [, name, value] = filterPattern.exec(text) ?? []
  const dimensions = metrics.flatMap(({ dimension }) => dimension ?? [])
  if (name !== undefined && dimensions.some((one) => one.toLowerCase() === name.toLowerCase())) {
    return value?.replaceAll("''", "'")
  }
  const example = dimensions[0]
  throw invalid(
    '$filter',
    example === undefined
      ? 'what is asked for has no dimension'
      : `it is \`${example} eq '*'\` or \`${example} eq '{name}'\``,
  )
}

function listOf(text: string): readonly string[] {
  return [
    ...new Set(
      text
        .split(',')
        .map((one) => one.trim())
        .filter((one) => one !== ''),
    ),
  ]
}

function invalid(name: string, reason: string): Error {
  return refuse.InvalidQueryParameter({ name, reason })
}
