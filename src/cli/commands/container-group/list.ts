/** `container-group list`: lists the container groups of a resource group or a subscription. */

import { propertyOf } from '#client/resource.ts'
import { containerVersion } from '../../container-groups.ts'
import { member } from '../../directory.ts'
import { groupOptions } from '../../group-place.ts'
import { printRows } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { extensionPath, resourceGroupPath, subscriptionOf } from '../../resource-path.ts'

export const command = defineRemoteCommand({
  name: 'container-group list',
  summary: 'List container groups',
  arguments: [],
  options: {
    'resource-group': {
      ...groupOptions['resource-group'],
      required: false,
      summary: 'Only those in this resource group',
    },
    subscription: groupOptions.subscription,
  },
  examples: ['container-group list', 'container-group list -g demo --json'],
  async run(connection, values, context) {
    const subscription = await subscriptionOf(connection, values.subscription)
    const group = values['resource-group']
    const scope =
      group === undefined
        ? `/subscriptions/${encodeURIComponent(subscription)}`
        : resourceGroupPath(subscription, group)
    const path = extensionPath(connection.words, scope, 'ContainerInstance/containerGroups')
    const query = { 'api-version': containerVersion }
    const rows = await connection.client.list(path, { query })
    printRows(context.terminal, rows, [
      { title: 'NAME', of: member('name') },
      { title: 'LOCATION', of: member('location') },
      { title: 'PROVISIONING', of: (row) => propertyOf(row, 'provisioningState') },
      { title: 'RESTART', of: (row) => propertyOf(row, 'restartPolicy') },
    ])
  },
})
