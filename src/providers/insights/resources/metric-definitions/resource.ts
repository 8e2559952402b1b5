/** What is measured of one resource (published: `Metric Definitions - List`). */

import Type from 'typebox'
import { defineComputed } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { ProviderContext } from '#plane/provider-context.ts'
import { grains } from '../../domain/metric-query.ts'
import { type MetricSources, measuredAt, metricsVersion } from '../../domain/metric-sources.ts'

const localized = Type.Object({ value: Type.String(), localizedValue: Type.String() })
const answer = Type.Object({
  resourceId: Type.String(),
  namespace: Type.String(),
  name: localized,
  displayDescription: Type.String(),
  unit: Type.Enum(['Count', 'Bytes']),
  primaryAggregationType: Type.Literal('Average'),
  supportedAggregationTypes: Type.Array(Type.String()),
  metricAvailabilities: Type.Array(
    Type.Object({ timeGrain: Type.String(), retention: Type.String() }),
  ),
  isDimensionRequired: Type.Boolean(),
  dimensions: Type.Optional(Type.Array(localized)),
})

interface Dependencies extends Pick<ProviderContext, 'words'> {
  readonly metricSources: MetricSources
}

export function metricDefinitions({ words, metricSources }: Dependencies): ResourceType {
  return defineComputed({
    type: 'Insights/metricDefinitions',
    description: 'What is measured of a resource.',
    scope: 'any',
    apiVersions: [metricsVersion],
    answer,
    source: {
      async list({ parent, reader }) {
        const { resource, type, metrics } = await measuredAt(metricSources, reader, parent)
        return {
          items: metrics.map(({ name, title, description, unit, dimension, keptMinutes }) => ({
            id: `${resource.id.text}/providers/${words.namespace}.Insights/metricDefinitions/${name}`,
            resourceId: resource.id.text,
            namespace: type,
            name: { value: name, localizedValue: title },
            displayDescription: description,
            unit,
            primaryAggregationType: 'Average',
            supportedAggregationTypes: ['Average', 'Minimum', 'Maximum', 'Total', 'Count'],
            metricAvailabilities: Object.keys(grains).map((timeGrain) => ({
              timeGrain,
              retention: `PT${keptMinutes}M`,
            })),
            isDimensionRequired: false,
            ...(dimension === undefined
              ? {}
              : { dimensions: [{ value: dimension, localizedValue: dimension }] }),
          })),
        }
      },
    },
  })
}
