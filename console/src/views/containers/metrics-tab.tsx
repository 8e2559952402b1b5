/** What the containers of a group use: a chart for each metric of the last hour, a value for each minute. */

import { Text } from '@fluentui/react-components'
import type { AnswerOf } from '../../api/client.ts'
import { type ItemOf, refusalOf, useCall, useList } from '../../api/queries.ts'
import { Card } from '../../components/card.tsx'
import { type Line, Lines } from '../../components/lines.tsx'
import { Loading } from '../../components/page.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { sizeText } from '../../components/sizes.ts'
import { metricTexts } from '../../texts/work.ts'
import type { TabProps } from '../resource/resource.tsx'

/** Values are kept by the minute. */
const minute = 60_000

type Definition = ItemOf<'listMetricDefinitions'>
type Metric = AnswerOf<'listMetrics'>['value'][number]

export function MetricsTab({ id }: TabProps) {
  const path = { scope: id }
  const found = useList('listMetricDefinitions', { path })
  if (found.error !== null && found.rows.length === 0) {
    return <Refusal failure={found.error} onRetry={found.reload} />
  }
  if (found.loading && found.rows.length === 0) return <Loading />
  if (found.rows.length === 0) return <Text>{metricTexts.notMeasured}</Text>
  return <Metrics id={id} definitions={found.rows} />
}

function Metrics({
  id,
  definitions,
}: {
  readonly id: string
  readonly definitions: readonly Definition[]
}) {
  const dimension = definitions.flatMap(({ dimensions = [] }) => dimensions)[0]?.value
  const query = {
    metricnames: definitions.map(({ name }) => name.value).join(','),
    timespan: 'PT1H',
    // Without a dimension, the filter would be refused.
    ...(dimension === undefined ? {} : { $filter: `${dimension} eq '*'` }),
  }
  const found = useCall('listMetrics', { path: { scope: id }, query }, { every: minute })
  const refused = refusalOf(found)
  if (refused !== null) return <Refusal failure={refused} onRetry={() => void found.refetch()} />
  if (found.data === undefined) return <Loading />
  const [from = 0, until = 0] = found.data.timespan.split('/').map((one) => Date.parse(one))
  return (
    <>
      <Text>{metricTexts.lead}</Text>
      {found.data.value.map((metric) => (
        <Card key={metric.id} title={metric.name.localizedValue}>
          <Chart metric={metric} time={[from - minute, until]} />
        </Card>
      ))}
    </>
  )
}

function Chart({
  metric,
  time,
}: {
  readonly metric: Metric
  readonly time: readonly [from: number, until: number]
}) {
  const lines: readonly Line[] = metric.timeseries.map(({ metadatavalues, data }) => ({
    name: metadatavalues[0]?.value ?? metricTexts.group,
    points: data.map(({ timeStamp, average = 0 }) => [Date.parse(timeStamp), average] as const),
  }))
  if (lines.every(({ points }) => points.length === 0)) return <Text>{metricTexts.noValues}</Text>
  return (
    <Lines
      lines={lines}
      label={metric.displayDescription}
      time={time}
      gapMin={minute * 1.5}
      textOf={metric.unit === 'Bytes' ? sizeText : metricTexts.count}
    />
  )
}
