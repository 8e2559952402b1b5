/** `container-group restart`: replaces the containers of a group by new ones. */

import { actOn, groupPath } from '../../container-groups.ts'
import { groupOptions } from '../../group-place.ts'
import { noWaitOption } from '../../options.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'container-group restart',
  summary: 'Make all containers of a group anew',
  arguments: [{ name: 'name', summary: 'The name of the group' }],
  options: { ...groupOptions, ...noWaitOption },
  examples: ['container-group restart web -g demo'],
  async run(connection, values, context) {
    const path = await groupPath(connection, values, values.name)
    await actOn(connection, path, 'restart', !values['no-wait'])
    context.terminal.error(`Restarted ${values.name}.\n`)
  },
})
