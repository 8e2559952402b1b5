/** `group add-member`: adds a member to a group. */

import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'group add-member',
  summary: 'Put a principal into a group; groups may hold groups',
  arguments: [
    { name: 'group', summary: 'The group’s object id' },
    { name: 'member', summary: 'The member’s object id' },
  ],
  options: {},
  examples: [
    'group add-member 7d444840-9dc0-41d1-b245-5ffdce74fad2 1b4e28ba-2fa1-41d2-883f-0016d3cca427',
  ],
  async run({ client }, values, context) {
    const group = encodeURIComponent(values.group)
    const member = encodeURIComponent(values.member)
    await client.request('PUT', `/directory/groups/${group}/members/${member}`)
    context.terminal.error(`${values.member} is in the group.\n`)
  },
})
