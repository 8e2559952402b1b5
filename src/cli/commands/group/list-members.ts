/** `group list-members`: lists the direct members of a group. */

import { printRows } from '../../output/print.ts'
import { principalColumns } from '../../principal-columns.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'group list-members',
  summary: 'List the direct members of a group',
  arguments: [{ name: 'group', summary: 'The group’s object id' }],
  options: {},
  examples: ['group list-members 7d444840-9dc0-41d1-b245-5ffdce74fad2'],
  async run({ client }, values, context) {
    const path = `/directory/groups/${encodeURIComponent(values.group)}/members`
    const rows = await client.list(path)
    printRows(context.terminal, rows, principalColumns)
  },
})
