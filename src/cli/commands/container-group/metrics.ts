/** `container-group metrics`: what the containers of a group use, over time. */

import { textOf } from '#client/answer.ts'
import { listOf } from '#client/resource.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { groupPath } from '../../container-groups.ts'
import { groupOptions } from '../../group-place.ts'
import { printData, printRows } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { extensionPath } from '../../resource-path.ts'

const version = { 'api-version': '2018-01-01' }

export const command = defineRemoteCommand({
  name: 'container-group metrics',
  summary: 'Show what the containers of a group use, minute by minute',
  arguments: [{ name: 'name', summary: 'The name of the group' }],
  options: {
    ...groupOptions,
    metric: {
      type: 'string',
      value: 'names',
      summary: 'Which, with commas: `CpuUsage,MemoryUsage`; all when left out',
    },
    timespan: {
      type: 'string',
      value: 'time',
      summary: 'A length up to now like PT3H, or `start/end`; the last hour when left out',
    },
    interval: { type: 'string', value: 'length', summary: 'PT1M (default), PT5M, PT15M, … PT1H' },
  },
  examples: [
    'container-group metrics web -g demo',
    'container-group metrics web -g demo --metric CpuUsage --timespan PT3H --interval PT15M',
  ],
  async run(connection, values, context) {
    const { client, words } = connection
    const scope = await groupPath(connection, values, values.name)
    const known = await client.list(extensionPath(words, scope, 'Insights/metricDefinitions'), {
      query: version,
    })
    const all = known.map((one) => ({
      name: textOf(memberOf(one, 'name'), 'value') ?? '',
      hasDimension: listOf(one, 'dimensions').length > 0,
    }))
    const names = values.metric ?? all.map(({ name }) => name).join(',')
    const wanted = names.toLowerCase().split(',')
    const hasDimension = all.some(
      (one) => one.hasDimension && wanted.includes(one.name.toLowerCase()),
    )
    const { body } = await client.request('GET', extensionPath(words, scope, 'Insights/metrics'), {
      query: {
        ...version,
        metricnames: names,
        timespan: values.timespan,
        interval: values.interval,
        aggregation: 'average,maximum',
        $filter: hasDimension ? "containerName eq '*'" : undefined,
      },
    })
    if (context.terminal.output.isData) printData(context.terminal, body)
    else printRows(context.terminal, rowsOf(body), columns)
  },
})

interface Row {
  readonly metric: string
  readonly container: string
  readonly measure: unknown
}

const columns = [
  { title: 'TIME', of: ({ measure }: Row) => textOf(measure, 'timeStamp') ?? '' },
  { title: 'METRIC', of: ({ metric }: Row) => metric },
  { title: 'CONTAINER', of: ({ container }: Row) => container },
  { title: 'AVERAGE', of: ({ measure }: Row) => rounded(memberOf(measure, 'average')) },
  { title: 'MAXIMUM', of: ({ measure }: Row) => rounded(memberOf(measure, 'maximum')) },
]

function rowsOf(body: unknown): readonly Row[] {
  return listOf(body, 'value').flatMap((metric) =>
    listOf(metric, 'timeseries').flatMap((series) =>
      listOf(series, 'data').map((measure) => ({
        metric: textOf(memberOf(metric, 'name'), 'value') ?? '',
        container: textOf(listOf(series, 'metadatavalues')[0], 'value') ?? '',
        measure,
      })),
    ),
  )
}

function rounded(value: unknown): string {
  return typeof value === 'number' ? String(Math.round(value)) : ''
}

function memberOf(value: unknown, name: string): unknown {
  return isJsonObject(value) ? value[name] : undefined
}
