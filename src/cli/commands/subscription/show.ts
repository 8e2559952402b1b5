/** `subscription show`: shows a subscription. */

import { type Command, defineCommand } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'
import { apiVersions, subscriptionOf } from '../../resource-path.ts'

export const command: Command = defineCommand({
  name: 'subscription show',
  summary: 'Show one subscription',
  arguments: [
    {
      name: 'id',
      required: false,
      summary: 'The subscription; the installation’s first one when left out',
    },
  ],
  options: connectionOptions,
  examples: ['subscription show'],
  async run(context, values) {
    const connection = context.connect(values)
    const id = await subscriptionOf(connection, values.id)
    const query = { 'api-version': apiVersions.subscriptions }
    const path = `/subscriptions/${encodeURIComponent(id)}`
    const { body } = await connection.client.request('GET', path, { query })
    printRecord(context.terminal, body)
    return 0
  },
})
