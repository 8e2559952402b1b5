/** `group list-members`: lists the direct members of a group. */

import { type Command, defineCommand } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printRows } from '../../output/print.ts'
import { principalColumns } from '../../principal-columns.ts'

export const command: Command = defineCommand({
  name: 'group list-members',
  summary: 'List the direct members of a group',
  arguments: [{ name: 'group', summary: 'The group’s object id' }],
  options: connectionOptions,
  examples: ['group list-members 7d444840-9dc0-41d1-b245-5ffdce74fad2'],
  async run(context, values) {
    const { client } = context.connect(values)
    const path = `/directory/groups/${encodeURIComponent(values.group)}/members`
    const rows = await client.list(path)
    printRows(context.terminal, rows, principalColumns)
    return 0
  },
})
