/** `container-group delete`: deletes a container group and everything the engine made for it. */

import { containerVersion, groupPath } from '../../container-groups.ts'
import { groupOptions } from '../../group-place.ts'
import { noWaitOption } from '../../options.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { deleteResource } from '../../resource-commands.ts'

export const command = defineRemoteCommand({
  name: 'container-group delete',
  summary: 'Delete a container group with its containers and volumes',
  arguments: [{ name: 'name', summary: 'The name of the group' }],
  options: { ...groupOptions, ...noWaitOption },
  examples: ['container-group delete web -g demo'],
  async run(connection, values, context) {
    const path = await groupPath(connection, values, values.name)
    const query = { 'api-version': containerVersion }
    await deleteResource(connection, context, path, { ...values, query })
  },
})
