/** `resource-group show`: shows a resource group. */

import { subscriptionOption } from '../../options.ts'
import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { apiVersions, resourceGroupPath, subscriptionOf } from '../../resource-path.ts'

export const command = defineRemoteCommand({
  name: 'resource-group show',
  summary: 'Show one resource group',
  arguments: [{ name: 'name', summary: 'The name of the group' }],
  options: subscriptionOption,
  examples: ['resource-group show demo'],
  async run(connection, values, context) {
    const subscription = await subscriptionOf(connection, values.subscription)
    const path = resourceGroupPath(subscription, values.name)
    const query = { 'api-version': apiVersions.resourceGroups }
    const { body } = await connection.client.request('GET', path, { query })
    printRecord(context.terminal, body)
  },
})
