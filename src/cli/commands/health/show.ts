/** `health show`: shows an event, with everything the caller may read. */

import { eventsPath, healthOptions, healthVersion, summaryOf } from '../../health.ts'
import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'health show',
  summary: 'Show one event',
  arguments: [{ name: 'id', summary: 'The tracking id' }],
  options: {
    ...healthOptions,
    details: { type: 'boolean', summary: 'Also what a sensitive event keeps back' },
  },
  examples: ['health show AB12CD34', 'health show AB12CD34 --details --json'],
  async run(connection, values, context) {
    const at = (...below: readonly string[]) => eventsPath(connection, values, values.id, ...below)
    const { body } = values.details
      ? await connection.client.request('POST', at('fetchEventDetails'), { query: healthVersion })
      : await connection.client.request('GET', at(), { query: healthVersion })
    printRecord(context.terminal, body, summaryOf(body))
  },
})
