/** `container-group stop`: stops all containers of a group, which can be started again. */

import { actOn, groupPath } from '../../container-groups.ts'
import { groupOptions } from '../../group-place.ts'
import { noWaitOption } from '../../options.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'container-group stop',
  summary: 'Stop all containers of a group',
  arguments: [{ name: 'name', summary: 'The name of the group' }],
  options: { ...groupOptions, ...noWaitOption },
  examples: ['container-group stop web -g demo'],
  async run(connection, values, context) {
    const path = await groupPath(connection, values, values.name)
    await actOn(connection, path, 'stop', !values['no-wait'])
    context.terminal.error(`Stopped ${values.name}.\n`)
  },
})
