/** `tag list`: lists the tag names in use in a subscription. */

import { listOf } from '#client/resource.ts'
import { member } from '../../directory.ts'
import { subscriptionOption } from '../../options.ts'
import { printRows } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { subscriptionOf } from '../../resource-path.ts'

export const command = defineRemoteCommand({
  name: 'tag list',
  summary: 'List the names and values of tags in use in a subscription',
  arguments: [],
  options: subscriptionOption,
  examples: ['tag list'],
  async run(connection, values, context) {
    const subscription = await subscriptionOf(connection, values.subscription)
    const path = `/subscriptions/${encodeURIComponent(subscription)}/tagNames`
    const query = { 'api-version': '2021-04-01' }
    printRows(context.terminal, await connection.client.list(path, { query }), [
      { title: 'NAME', of: member('tagName') },
      { title: 'VALUES', of: (row) => listOf(row, 'values').map(member('tagValue')).join(', ') },
    ])
  },
})
