/** `resource-group list`: lists the resource groups of a subscription. */

import { propertyOf } from '#client/resource.ts'
import { member } from '../../directory.ts'
import { subscriptionOption } from '../../options.ts'
import { printRows } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { apiVersions, resourceGroupsPath, subscriptionOf } from '../../resource-path.ts'

export const command = defineRemoteCommand({
  name: 'resource-group list',
  summary: 'List the resource groups of a subscription',
  arguments: [],
  options: subscriptionOption,
  examples: ['resource-group list', 'resource-group list --json'],
  async run(connection, values, context) {
    const subscription = await subscriptionOf(connection, values.subscription)
    const query = { 'api-version': apiVersions.resourceGroups }
    const rows = await connection.client.list(resourceGroupsPath(subscription), { query })
    printRows(context.terminal, rows, [
      { title: 'NAME', of: member('name') },
      { title: 'LOCATION', of: member('location') },
      { title: 'STATE', of: (row) => propertyOf(row, 'provisioningState') },
    ])
  },
})
