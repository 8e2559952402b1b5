/** Values of metrics of one resource (published: `Metrics - List`). */

import Type from 'typebox'
import { type ActionContext, defineActions } from '#plane/declare/action.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { ProviderContext } from '#plane/provider-context.ts'
import { parseMetricQuery } from '../../domain/metric-query.ts'
import { seriesOf } from '../../domain/metric-series.ts'
import { type MetricSources, measuredAt, metricsVersion } from '../../domain/metric-sources.ts'

const localized = Type.Object({ value: Type.String(), localizedValue: Type.String() })
const measure = Type.Object({
  timeStamp: Type.String(),
  average: Type.Optional(Type.Number()),
  minimum: Type.Optional(Type.Number()),
  maximum: Type.Optional(Type.Number()),
  total: Type.Optional(Type.Number()),
  count: Type.Optional(Type.Number()),
})
const answer = Type.Object({
  cost: Type.Number(),
  timespan: Type.String(),
  interval: Type.String(),
  namespace: Type.String(),
  resourceregion: Type.Optional(Type.String()),
  value: Type.Array(
    Type.Object({
      id: Type.String(),
      type: Type.String(),
      name: localized,
      displayDescription: Type.String(),
      unit: Type.Enum(['Count', 'Bytes']),
      errorCode: Type.String(),
      timeseries: Type.Array(
        Type.Object({
          metadatavalues: Type.Array(Type.Object({ name: localized, value: Type.String() })),
          data: Type.Array(measure),
        }),
      ),
    }),
  ),
})

interface Dependencies extends Pick<ProviderContext, 'words'> {
  readonly metricSources: MetricSources
}

export function metrics(deps: Dependencies): ResourceType {
  return defineActions({
    type: 'Insights/metrics',
    description: 'What is measured of a resource, over time.',
    scope: 'any',
    apiVersions: [metricsVersion],
    collectionActions: {
      GET: {
        method: 'GET',
        description: 'Values of metrics of a resource, over time',
        query: ['metricnames', 'timespan', 'interval', 'aggregation', '$filter'],
        answer,
        run: async (context) => ({ status: 200, body: await answerOf(deps, context) }),
      },
    },
  })
}

async function answerOf(
  { words, metricSources }: Dependencies,
  { id, query, now, reader }: ActionContext<unknown>,
): Promise<object> {
  const { resource, type, source, metrics: known } = await measuredAt(metricSources, reader, id)
  const wanted = parseMetricQuery(query, known, now)
  const measured = source?.read(resource) ?? []
  const { from, until, interval } = wanted
  return {
    cost: 0,
    timespan: `${new Date(from).toISOString()}/${new Date(until).toISOString()}`,
    interval,
    namespace: type,
    ...(resource.location === undefined ? {} : { resourceregion: resource.location }),
    value: wanted.metrics.map((metric) => ({
      id: `${resource.id.text}/providers/${words.namespace}.Insights/metrics/${metric.name}`,
      type: `${words.namespace}.Insights/metrics`,
      name: { value: metric.name, localizedValue: metric.title },
      displayDescription: metric.description,
      unit: metric.unit,
      errorCode: 'Success',
      timeseries: seriesOf(metric, measured, wanted).map(({ of, data }) => ({
        metadatavalues:
          of === undefined || metric.dimension === undefined
            ? []
            : [
                {
                  name: { value: metric.dimension, localizedValue: metric.dimension },
                  value: of,
                },
              ],
        data,
      })),
    })),
  }
}
