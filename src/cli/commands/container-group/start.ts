/** `container-group start`: starts the containers of a stopped group. */

import { actOn, groupPath } from '../../container-groups.ts'
import { groupOptions } from '../../group-place.ts'
import { noWaitOption } from '../../options.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'container-group start',
  summary: 'Start the containers of a stopped group, from new',
  arguments: [{ name: 'name', summary: 'The name of the group' }],
  options: { ...groupOptions, ...noWaitOption },
  examples: ['container-group start web -g demo'],
  async run(connection, values, context) {
    const path = await groupPath(connection, values, values.name)
    await actOn(connection, path, 'start', !values['no-wait'])
    context.terminal.error(`Started ${values.name}.\n`)
  },
})
