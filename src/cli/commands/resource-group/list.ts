/** `resource-group list`: lists the resource groups of a subscription. */

import { propertyOf } from '#client/resource.ts'
import { type Command, defineCommand } from '../../command.ts'
import { member } from '../../directory.ts'
import { connectionOptions, subscriptionOption } from '../../options.ts'
import { printRows } from '../../output/print.ts'
import { apiVersions, resourceGroupsPath, subscriptionOf } from '../../resource-path.ts'

export const command: Command = defineCommand({
  name: 'resource-group list',
  summary: 'List the resource groups of a subscription',
  arguments: [],
  options: { ...subscriptionOption, ...connectionOptions },
  examples: ['resource-group list', 'resource-group list --json'],
  async run(context, values) {
    const connection = context.connect(values)
    const subscription = await subscriptionOf(connection, values.subscription)
    const query = { 'api-version': apiVersions.resourceGroups }
    const rows = await connection.client.list(resourceGroupsPath(subscription), { query })
    printRows(context.terminal, rows, [
      { title: 'NAME', of: member('name') },
      { title: 'LOCATION', of: member('location') },
      { title: 'STATE', of: (row) => propertyOf(row, 'provisioningState') },
    ])
    return 0
  },
})
