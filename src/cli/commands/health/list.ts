/** `health list`: lists events of the installation or a subscription, or those that affect a resource now. */

import { type Command, defineCommand } from '../../command.ts'
import { eventColumns, eventsPath, healthOptions, healthVersion } from '../../health.ts'
import { connectionOptions } from '../../options.ts'
import { printRows } from '../../output/print.ts'
import { extensionPath } from '../../resource-path.ts'

export const command: Command = defineCommand({
  name: 'health list',
  summary: 'List service health events, the newest update first',
  arguments: [],
  options: {
    ...healthOptions,
    resource: { type: 'string', value: 'id', summary: 'Those that touch this resource now' },
    filter: {
      type: 'string',
      value: 'expression',
      summary: "Like `service eq 'Secrets' and status eq 'Active'`",
    },
    since: {
      type: 'string',
      value: 'date',
      summary: 'Updated since, as 7/24/2026 or 2026-07-24; three days back when left out',
    },
    ...connectionOptions,
  },
  examples: ['health list', 'health list --filter "status eq \'Active\'" --since 1/1/2026'],
  async run(context, values) {
    const connection = context.connect(values)
    const path =
      values.resource === undefined
        ? eventsPath(connection, values)
        : extensionPath(connection.words, values.resource, 'ResourceHealth/events')
    const query = {
      ...healthVersion,
      ...(values.filter === undefined ? {} : { $filter: values.filter }),
      ...(values.since === undefined ? {} : { queryStartTime: values.since }),
    }
    const rows = await connection.client.list(path, { query })
    printRows(context.terminal, rows, eventColumns)
    return 0
  },
})
