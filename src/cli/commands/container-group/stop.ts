/** `container-group stop`: stops all containers of a group, which can be started again. */

import { type Command, defineCommand } from '../../command.ts'
import { actOn, groupPath } from '../../container-groups.ts'
import { groupOptions } from '../../group-place.ts'
import { connectionOptions, noWaitOption } from '../../options.ts'

export const command: Command = defineCommand({
  name: 'container-group stop',
  summary: 'Stop all containers of a group',
  arguments: [{ name: 'name', summary: 'The name of the group' }],
  options: { ...groupOptions, ...noWaitOption, ...connectionOptions },
  examples: ['container-group stop web -g demo'],
  async run(context, values) {
    const connection = context.connect(values)
    const path = await groupPath(connection, values, values.name)
    await actOn(connection, path, 'stop', !values['no-wait'])
    context.terminal.error(`Stopped ${values.name}.\n`)
    return 0
  },
})
