/** `health list`: lists events of the installation or a subscription, or those that affect a resource now. */

import { eventColumns, eventsPath, healthOptions, healthVersion } from '../../health.ts'
import { printRows } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { extensionPath } from '../../resource-path.ts'

export const command = defineRemoteCommand({
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
  },
  examples: ['health list', 'health list --filter "status eq \'Active\'" --since 1/1/2026'],
  async run(connection, values, context) {
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
  },
})
