/** `group remove-member`: removes a member from a group. */

import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'group remove-member',
  summary: 'Take a principal out of a group',
  arguments: [
    { name: 'group', summary: 'The group’s object id' },
    { name: 'member', summary: 'The member’s object id' },
  ],
  options: {},
  examples: [
    'group remove-member 7d444840-9dc0-41d1-b245-5ffdce74fad2 1b4e28ba-2fa1-41d2-883f-0016d3cca427',
  ],
  async run({ client }, values, context) {
    const group = encodeURIComponent(values.group)
    const member = encodeURIComponent(values.member)
    await client.request('DELETE', `/directory/groups/${group}/members/${member}`)
    context.terminal.error(`${values.member} is not in the group any more.\n`)
  },
})
