/** Finds what is measured of a resource: each provider brings a source for a type of its own. */

import { refuse } from '#kernel/error.ts'
import type { Metric, MetricSource } from '#kernel/metrics.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { Reader, Resource } from '#plane/declare/resource.ts'

export const metricsVersion = '2018-01-01'

/** By the type, in lower case and without the vendor word. */
export type MetricSources = Readonly<Record<string, MetricSource>>

interface Measured {
  readonly resource: Resource
  /** The type as its id has it. */
  readonly type: string
  readonly source: MetricSource | undefined
  /** Empty where nothing is measured. */
  readonly metrics: readonly Metric[]
}

export async function measuredAt(
  sources: MetricSources,
  reader: Pick<Reader, 'get'>,
  id: ResourceId,
): Promise<Measured> {
  const resource = await reader.get(id)
  if (resource === undefined) throw refuse.ResourceNotFound({ id: id.text })
  const last = resource.id.segments.at(-1)
  const type = [last?.namespace ?? '', ...(last?.types ?? [])].join('/')
  const source = sources[type.slice(type.indexOf('.') + 1).toLowerCase()]
  return { resource, type, source, metrics: source === undefined ? [] : await source.metrics() }
}
