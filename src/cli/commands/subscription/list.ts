/** `subscription list`: lists the subscriptions that the caller can see. */

import { member } from '../../directory.ts'
import { printRows } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { apiVersions } from '../../resource-path.ts'

export const command = defineRemoteCommand({
  name: 'subscription list',
  summary: 'List the subscriptions you can see',
  arguments: [],
  options: {},
  examples: ['subscription list', 'subscription list --json'],
  async run({ client }, _values, context) {
    const query = { 'api-version': apiVersions.subscriptions }
    const rows = await client.list('/subscriptions', { query })
    printRows(context.terminal, rows, [
      { title: 'ID', of: member('subscriptionId') },
      { title: 'STATE', of: member('state') },
      { title: 'NAME', of: member('displayName') },
    ])
  },
})
