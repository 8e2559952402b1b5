/** `container-group start`: starts the containers of a stopped group. */

import { type Command, defineCommand } from '../../command.ts'
import { actOn, groupPath } from '../../container-groups.ts'
import { groupOptions } from '../../group-place.ts'
import { connectionOptions, noWaitOption } from '../../options.ts'

export const command: Command = defineCommand({
  name: 'container-group start',
  summary: 'Start the containers of a stopped group, from new',
  arguments: [{ name: 'name', summary: 'The name of the group' }],
  options: { ...groupOptions, ...noWaitOption, ...connectionOptions },
  examples: ['container-group start web -g demo'],
  async run(context, values) {
    const connection = context.connect(values)
    const path = await groupPath(connection, values, values.name)
    await actOn(connection, path, 'start', !values['no-wait'])
    context.terminal.error(`Started ${values.name}.\n`)
    return 0
  },
})
