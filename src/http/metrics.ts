/**
 * Counts requests in plain arrays, so that a request pays only a few additions; prom-client is loaded at the first
 * scrape and only prints. Labels are bounded: methods are few, types come from the plane's table.
 */

import type { Metric } from 'prom-client'

export interface Metrics {
  count(method: string, type: string, status: number, seconds: number): void
  /** Anonymous, so only one scrape runs at a time; concurrent requests share it. */
  scrape(): Promise<Scraped>
}

/** The exposition text and its media type. */
interface Scraped {
  readonly type: string
  readonly text: string
}

const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const classes = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const
const tooManyRequests = 429
const methods = new Set(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'POST', 'OPTIONS'])

/** Far above what all providers declare together. Beyond it everything is counted as `other`. */
const typesMax = 2000

interface Series {
  readonly method: string
  readonly type: string
  /** Indexed by status class. */
  readonly requests: number[]
  /** Not cumulative; one more than `bounds`. */
  readonly buckets: number[]
  sum: number
}

/** A metric of another part of the server, read at each scrape. */
export interface MetricSource {
  readonly name: `armature_${string}`
  readonly type: 'counter' | 'gauge'
  readonly help: string
  /** A source that fails is left out of this scrape. */
  values(): readonly Sample[] | Promise<readonly Sample[]>
}

/** Prints `sources` and the counts of requests. */
export function createMetrics(sources: readonly MetricSource[]): Metrics {
  let throttled = 0
  const series = new Map<string, Map<string, Series>>()
  let print: (() => Promise<Scraped>) | undefined
  let running: Promise<Scraped> | undefined

  function seriesOf(method: string, type: string): Series {
    const name = methods.has(method) ? method : 'other'
    const label = series.has(type) || series.size < typesMax ? type : 'other'
    let byMethod = series.get(label)
    if (byMethod === undefined) {
      byMethod = new Map()
      series.set(label, byMethod)
    }
    let one = byMethod.get(name)
    if (one === undefined) {
      one = {
        method: name,
        type: label,
        requests: classes.map(() => 0),
        buckets: [...bounds, 0].map(() => 0),
        sum: 0,
      }
      byMethod.set(name, one)
    }
    return one
  }

  const all = (): Series[] => [...series.values()].flatMap((byMethod) => [...byMethod.values()])

  return {
    count(method, type, status, seconds) {
      const one = seriesOf(method, type)
      if (status === tooManyRequests) throttled += 1
      const at = Math.floor(status / 100) - 1
      one.requests[at] = (one.requests[at] ?? 0) + 1
      let bucket = 0
      while (bucket < bounds.length && seconds > (bounds[bucket] ?? 0)) bucket += 1
      one.buckets[bucket] = (one.buckets[bucket] ?? 0) + 1
      one.sum += seconds
    },
    scrape() {
      running ??= scrape().finally(() => {
        running = undefined
      })
      return running
    },
  }

  async function scrape(): Promise<Scraped> {
    print ??= await printer(all, [
      ...sources,
      {
        name: 'armature_http_requests_throttled_total',
        type: 'counter',
        help: 'Requests refused with 429',
        values: () => [{ value: throttled }],
      },
    ])
    return print()
  }
}

async function printer(
  all: () => Series[],
  sources: readonly MetricSource[],
): Promise<() => Promise<Scraped>> {
  const { Registry, collectDefaultMetrics } = await import('prom-client')
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const { name, type, help, values } of sources) {
    register(name, type, help, async () => {
      try {
        return await values()
      } catch {
        // The store may be away; other metrics report that.
        return []
      }
    })
  }
  register('armature_http_requests_total', 'counter', 'Requests answered', () =>
    all().flatMap(({ method, type, requests }) =>
      requests.flatMap((value, index) =>
        value === 0 ? [] : [{ value, labels: { method, type, status: classes[index] ?? 'other' } }],
      ),
    ),
  )
  const duration = 'armature_http_request_duration_seconds'
  register(duration, 'histogram', 'Seconds from the head of the request to its answer', () =>
    all().flatMap((one) => histogram(duration, one)),
  )
  return async () => ({ type: registry.contentType, text: await registry.metrics() })

  function register(
    name: string,
    type: string,
    help: string,
    values: () => readonly Sample[] | Promise<readonly Sample[]>,
  ): void {
    const metric = {
      name,
      get: async () => ({ name, help, type, aggregator: 'sum', values: await values() }),
    }
    // A registry reads a metric's `name` and calls its `get`; the counts stay in our arrays.
    registry.registerMetric(metric as unknown as Metric)
  }
}

interface Sample {
  readonly metricName?: string
  readonly value: number
  readonly labels?: Readonly<Record<string, string>>
}

function histogram(name: string, { method, type, buckets, sum }: Series): Sample[] {
  const labels = { method, type }
  let count = 0
  const samples: Sample[] = buckets.map((value, index) => {
    count += value
    const bound = bounds[index]
    const le = bound === undefined ? '+Inf' : String(bound)
    return { metricName: `${name}_bucket`, value: count, labels: { ...labels, le } }
  })
  samples.push({ metricName: `${name}_sum`, value: sum, labels })
  samples.push({ metricName: `${name}_count`, value: count, labels })
  return samples
}
