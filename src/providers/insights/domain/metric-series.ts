/** Sums up the minutes of metrics as they were asked for. Pure. */

import type { MetricSeries, Minute } from '#kernel/metrics.ts'
import { type Aggregation, grains, type MetricQuery } from './metric-query.ts'

interface ShownSeries {
  /** The value of the dimension, where series are shown by it. */
  readonly of?: string
  readonly data: readonly object[]
}

/** The series of one metric. Steps without a measure are left out. */
export function seriesOf(
  metric: { readonly name: string; readonly dimension?: string },
  all: readonly MetricSeries[],
  wanted: MetricQuery,
): readonly ShownSeries[] {
  const own = all.filter((one) => one.metric === metric.name)
  const { of } = wanted
  if (of === undefined || metric.dimension === undefined) {
    const data = stepsOf(
      own.flatMap(({ minutes }) => minutes),
      wanted,
    )
    return [{ data }]
  }
  return own
    .filter((one) => of === '*' || one.of?.toLowerCase() === of.toLowerCase())
    .map((one) => ({ of: one.of ?? '', data: stepsOf(one.minutes, wanted) }))
}

function stepsOf(
  minutes: readonly Minute[],
  { from, until, interval, aggregations }: MetricQuery,
): readonly object[] {
  const grain = grains[interval] ?? 60_000
  const first = from - (from % grain)
  const steps = new Map<number, Minute>()
  for (const minute of minutes) {
    if (minute.at < first || minute.at >= until) continue
    const at = minute.at - (minute.at % grain)
    const before = steps.get(at)
    steps.set(at, before === undefined ? { ...minute, at } : joined(before, minute))
  }
  return [...steps.values()]
    .sort((a, b) => a.at - b.at)
    .map((step) => ({
      timeStamp: new Date(step.at).toISOString(),
      ...Object.fromEntries(aggregations.map((one) => [one, valueIn(step, one)])),
    }))
}

function joined(one: Minute, other: Minute): Minute {
  return {
    at: one.at,
    count: one.count + other.count,
    sum: one.sum + other.sum,
    least: Math.min(one.least, other.least),
    most: Math.max(one.most, other.most),
  }
}

function valueIn({ count, sum, least, most }: Minute, aggregation: Aggregation): number {
  switch (aggregation) {
    case 'average':
      return sum / count
    case 'minimum':
      return least
    case 'maximum':
      return most
    case 'total':
      return sum
    case 'count':
      return count
  }
}
