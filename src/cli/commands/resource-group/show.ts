/** `resource-group show`: shows a resource group. */

import { type Command, defineCommand } from '../../command.ts'
import { connectionOptions, subscriptionOption } from '../../options.ts'
import { printRecord } from '../../output/print.ts'
import { apiVersions, resourceGroupPath, subscriptionOf } from '../../resource-path.ts'

export const command: Command = defineCommand({
  name: 'resource-group show',
  summary: 'Show one resource group',
  arguments: [{ name: 'name', summary: 'The name of the group' }],
  options: { ...subscriptionOption, ...connectionOptions },
  examples: ['resource-group show demo'],
  async run(context, values) {
    const connection = context.connect(values)
    const subscription = await subscriptionOf(connection, values.subscription)
    const path = resourceGroupPath(subscription, values.name)
    const query = { 'api-version': apiVersions.resourceGroups }
    const { body } = await connection.client.request('GET', path, { query })
    printRecord(context.terminal, body)
    return 0
  },
})
