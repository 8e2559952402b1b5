/** `subscription list`: lists the subscriptions that the caller can see. */

import { type Command, defineCommand } from '../../command.ts'
import { member } from '../../directory.ts'
import { connectionOptions } from '../../options.ts'
import { printRows } from '../../output/print.ts'
import { apiVersions } from '../../resource-path.ts'

export const command: Command = defineCommand({
  name: 'subscription list',
  summary: 'List the subscriptions you can see',
  arguments: [],
  options: connectionOptions,
  examples: ['subscription list', 'subscription list --json'],
  async run(context, values) {
    const { client } = context.connect(values)
    const query = { 'api-version': apiVersions.subscriptions }
    const rows = await client.list('/subscriptions', { query })
    printRows(context.terminal, rows, [
      { title: 'ID', of: member('subscriptionId') },
      { title: 'STATE', of: member('state') },
      { title: 'NAME', of: member('displayName') },
    ])
    return 0
  },
})
