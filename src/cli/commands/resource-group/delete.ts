/** `resource-group delete`: deletes a resource group and everything in it. */

import { noWaitOption, subscriptionOption } from '../../options.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { deleteResource } from '../../resource-commands.ts'
import { apiVersions, resourceGroupPath, subscriptionOf } from '../../resource-path.ts'

export const command = defineRemoteCommand({
  name: 'resource-group delete',
  summary: 'Delete a resource group with everything in it',
  arguments: [{ name: 'name', summary: 'The name of the group' }],
  options: { ...subscriptionOption, ...noWaitOption },
  examples: ['resource-group delete demo', 'resource-group delete demo --no-wait'],
  confirm: async (_, { name }) => ({
    text: `Delete the resource group ${name} and everything in it?`,
  }),
  async run(connection, values, context) {
    const subscription = await subscriptionOf(connection, values.subscription)
    const path = resourceGroupPath(subscription, values.name)
    const query = { 'api-version': apiVersions.resourceGroups }
    await deleteResource(connection, context, path, { ...values, query })
  },
})
