/** `container-group restart`: replaces the containers of a group by new ones. */

import { type Command, defineCommand } from '../../command.ts'
import { actOn, groupPath } from '../../container-groups.ts'
import { groupOptions } from '../../group-place.ts'
import { connectionOptions, noWaitOption } from '../../options.ts'

export const command: Command = defineCommand({
  name: 'container-group restart',
  summary: 'Make all containers of a group anew',
  arguments: [{ name: 'name', summary: 'The name of the group' }],
  options: { ...groupOptions, ...noWaitOption, ...connectionOptions },
  examples: ['container-group restart web -g demo'],
  async run(context, values) {
    const connection = context.connect(values)
    const path = await groupPath(connection, values, values.name)
    await actOn(connection, path, 'restart', !values['no-wait'])
    context.terminal.error(`Restarted ${values.name}.\n`)
    return 0
  },
})
