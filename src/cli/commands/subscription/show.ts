/** `subscription show`: shows a subscription. */

import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { apiVersions, subscriptionOf } from '../../resource-path.ts'

export const command = defineRemoteCommand({
  name: 'subscription show',
  summary: 'Show one subscription',
  arguments: [
    {
      name: 'id',
      required: false,
      summary: 'The subscription; the installation’s first one when left out',
    },
  ],
  options: {},
  examples: ['subscription show'],
  async run(connection, values, context) {
    const id = await subscriptionOf(connection, values.id)
    const query = { 'api-version': apiVersions.subscriptions }
    const path = `/subscriptions/${encodeURIComponent(id)}`
    const { body } = await connection.client.request('GET', path, { query })
    printRecord(context.terminal, body)
  },
})
