/** `container-group delete`: deletes a container group and everything the engine made for it. */

import { containerVersion, groupPath } from '../../container-groups.ts'
import { groupOptions } from '../../group-place.ts'
import { noWaitOption } from '../../options.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'container-group delete',
  summary: 'Delete a container group with its containers and volumes',
  arguments: [{ name: 'name', summary: 'The name of the group' }],
  options: { ...groupOptions, ...noWaitOption },
  examples: ['container-group delete web -g demo'],
  async run(connection, values, context) {
    const path = await groupPath(connection, values, values.name)
    const query = { 'api-version': containerVersion }
    const accepted = await connection.client.request('DELETE', path, { query })
    if (accepted.status === 204) {
      context.terminal.error('There was none.\n')
      return 0
    }
    if (values['no-wait']) {
      context.terminal.error(`${values.name} is being deleted.\n`)
      return 0
    }
    await connection.client.waitForOperation(accepted)
    context.terminal.error(`Deleted ${values.name}.\n`)
  },
})
